package page_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"image"
	"image/color"
	"image/png"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	listing "github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/oauth"
	"github.com/patient-mesh/patient-mesh/services/identity/page"
)

const (
	email    = "mara@clinic.example"
	password = "correct horse battery staple"
	north    = "0190a0a0-0000-7000-8000-00000000000a"
	south    = "0190a0a0-0000-7000-8000-00000000000b"
	userID   = "0190a0a0-0000-7000-8000-000000000001"
	clientID = "prs-public"
)

// world is everything that the pages ask, in memory.
type world struct {
	now         time.Time
	environment string
	user        identity.User
	memberships []identity.Membership
	factors     identity.Factors
	challenges  map[string]identity.Challenge
	carried     map[string]*identity.SignIn // step-up challenges
	signIns     map[string]*identity.SignIn // by cookie
	sessions    []identity.Session
	consented   []string
	client      identity.Client
	keys        []identity.APIKey
	minted      map[string]bool
	did         []string
	err         error // of the next verb
	callers     []identity.Caller
	status      identity.AgreementStatus
	acted       principal.Principal
	decided     oauth.Decision
}

func role(name string, may principal.Permission) identity.Role {
	return identity.Role{ID: "0190a0a0-0000-7000-8000-0000000000" + map[string]string{"Owner": "f1", "Clinician": "f2", "Records Reader": "f3", "System": "f4"}[name], Name: name, Permissions: may}
}

func newWorld() *world {
	now := time.Date(2030, 5, 4, 9, 30, 0, 0, time.UTC)
	owner := role("Owner", principal.All&^principal.ClientManage)
	reader := role("Clinician", principal.PatientRead|principal.PatientWrite)
	last := now.Add(-50 * time.Hour)
	return &world{
		now: now, environment: "demo",
		user: identity.User{ID: userID, Email: email, FirstName: "Mara", LastName: "Lindqvist", EmailVerifiedAt: &now},
		memberships: []identity.Membership{
			{TenantID: north, Name: "Northside Clinic", Roles: []identity.Role{owner}, Permissions: owner.Permissions, AgreementAccepted: true, Environment: "demo"},
		},
		challenges: map[string]identity.Challenge{}, carried: map[string]*identity.SignIn{}, signIns: map[string]*identity.SignIn{}, minted: map[string]bool{},
		sessions: []identity.Session{
			{ID: "s1", Agent: "Firefox on Linux", CreatedAt: now.Add(-time.Hour), SeenAt: now, Current: true},
			{ID: "s2", Agent: "Safari on iPhone", CreatedAt: now.AddDate(0, 0, -9), SeenAt: last},
			{ID: "s3", Application: "Ward Round", Agent: "Firefox on Linux", TenantID: north, CreatedAt: now.AddDate(0, -1, 0), SeenAt: now.Add(-3 * time.Hour)},
		},
		client: identity.Client{ID: clientID, Name: "Ward Round"},
		keys: []identity.APIKey{
			{ID: "0190a0a0-0000-7000-8000-0000000000e1", TenantID: north, Name: "Nightly import", RoleIDs: []string{owner.ID}, Environment: "demo", CreatedAt: now.AddDate(0, -3, 0), LastUsedAt: &last},
			{ID: "0190a0a0-0000-7000-8000-0000000000e2", TenantID: north, Name: "Reporting", RoleIDs: []string{reader.ID}, Environment: "demo", CreatedAt: now.AddDate(0, -1, 0), ExpiresAt: ptr(now.AddDate(0, 2, 0))},
		},
	}
}

func ptr[T any](v T) *T { return &v }

func (w *world) second() {
	reader := role("Clinician", principal.PatientRead|principal.PatientWrite)
	w.memberships = append(w.memberships, identity.Membership{TenantID: south, Name: "Harbour Street Practice", Roles: []identity.Role{reader}, Permissions: reader.Permissions, AgreementAccepted: true})
}

func (w *world) note(verb string) error {
	w.did = append(w.did, verb)
	err := w.err
	w.err = nil
	return err
}

func (w *world) session(methods ...string) identity.Entered {
	in := identity.SignIn{ID: "sign-in-" + time.Duration(len(w.signIns)).String(), UserID: userID, Methods: methods, Agent: "Firefox on Linux", CreatedAt: w.now, SeenAt: w.now, ExpiresAt: w.now.Add(12 * time.Hour)}
	cookie := "cookie-" + in.ID
	w.signIns[cookie] = &in
	return identity.Entered{SignIn: in, Cookie: cookie, Device: "device-1"}
}

func (w *world) Register(_ context.Context, d identity.RegisterDraft, further func(...fault.Field) error) (identity.Registration, error) {
	var faults []fault.Field
	if d.Email == nil {
		faults = append(faults, fault.Field{Field: "email", Code: "required", Message: "is required"})
	}
	if len(*d.Password) < 12 {
		faults = append(faults, fault.Field{Field: "password", Code: "invalid_length", Message: "must have 12 to 128 characters"})
	}
	if err := further(faults...); err != nil {
		return identity.Registration{}, err
	}
	return identity.Registration{}, w.note("register")
}

func (w *world) VerifyEmail(_ context.Context, _, identifier string) error {
	if identifier != "good" {
		return fault.New(fault.Invalid, "invalid_link", "The link is not valid.")
	}
	return w.note("verify")
}
func (w *world) RequestReset(context.Context, string) error { return w.note("request-reset") }
func (w *world) NewDevice(userID string) (string, error)    { return "device-of-" + userID, nil }

func (w *world) ResetPassword(_ context.Context, _, identifier, next string, further func(...fault.Field) error) error {
	if identifier != "good" {
		return fault.New(fault.Invalid, "invalid_link", "The link is not valid.")
	}
	if len(next) < 12 {
		return further(fault.Field{Field: "newPassword", Code: "invalid_length", Message: "must have 12 to 128 characters"})
	}
	return w.note("reset")
}

func (w *world) SignIn(_ context.Context, c identity.Caller, address, secret string) (identity.Entered, error) {
	w.callers = append(w.callers, c)
	if w.err != nil {
		return identity.Entered{}, w.note("sign-in")
	}
	if address != email || secret != password {
		return identity.Entered{}, fault.New(fault.Unauthenticated, "wrong_credentials", "Wrong.")
	}
	if w.factors.TOTP {
		ch := identity.Challenge{ID: "challenge-1", UserID: userID, Methods: []string{identity.AnswerTOTP, identity.AnswerRecovery}}
		w.challenges[ch.ID] = ch
		return identity.Entered{Challenge: &ch}, nil
	}
	return w.session(identity.ByPassword), nil
}

func (w *world) Challenge(_ context.Context, id string) (identity.Challenge, error) {
	ch, ok := w.challenges[id]
	if !ok {
		return ch, fault.New(fault.NotFound, "challenge_not_found", "Gone.")
	}
	return ch, nil
}
func (w *world) SendCode(context.Context, string) error { return w.note("send-code") }
func (w *world) AnswerChallenge(_ context.Context, _ identity.Caller, id, code string) (identity.Entered, error) {
	if _, ok := w.challenges[id]; !ok {
		return identity.Entered{}, fault.New(fault.NotFound, "challenge_not_found", "Gone.")
	}
	if w.err != nil {
		return identity.Entered{}, w.note("answer")
	}
	if code != "123456" {
		return identity.Entered{}, fault.New(fault.Unauthenticated, "wrong_code", "Wrong.")
	}
	delete(w.challenges, id)
	e := w.session(identity.ByPassword, identity.ByOneTime)
	if before := w.carried[id]; before != nil {
		w.signIns[e.Cookie].TenantID = before.TenantID
	}
	return e, nil
}

func (w *world) StepUp(_ context.Context, s identity.SignIn, _ identity.Caller) (identity.Challenge, error) {
	ch := identity.Challenge{ID: "challenge-up", UserID: userID, Methods: []string{identity.AnswerMail}}
	w.challenges[ch.ID], w.carried[ch.ID] = ch, &s
	return ch, w.note("step-up")
}

func (w *world) Browser(_ context.Context, cookie string) (*identity.SignIn, *identity.User, error) {
	in := w.signIns[cookie]
	if in == nil {
		return nil, nil, nil
	}
	copied, user := *in, w.user
	return &copied, &user, nil
}

func (w *world) SignOut(_ context.Context, s identity.SignIn) error {
	for cookie, in := range w.signIns {
		if in.ID == s.ID {
			delete(w.signIns, cookie)
		}
	}
	return w.note("sign-out")
}

func (w *world) ChooseTenant(_ context.Context, s identity.SignIn, tenantID string) error {
	if !slices.ContainsFunc(w.memberships, func(m identity.Membership) bool { return m.TenantID == tenantID }) {
		return fault.New(fault.Denied, "not_a_member", "You are not a member of that organization.")
	}
	for _, in := range w.signIns {
		if in.ID == s.ID {
			in.TenantID = &tenantID
		}
	}
	return w.note("choose")
}

func (w *world) Memberships(context.Context, string) ([]identity.Membership, error) {
	return w.memberships, nil
}

func (w *world) Sessions(context.Context, identity.SignIn) ([]identity.Session, error) {
	return w.sessions, nil
}

func (w *world) EndSession(_ context.Context, _ identity.SignIn, id string) error {
	return w.note("end " + id)
}

func (w *world) EndAllSessions(context.Context, identity.SignIn) error {
	err := w.note("end-all")
	if err == nil {
		clear(w.signIns)
	}
	return err
}

func (w *world) UpdateProfile(_ context.Context, _, first, last string) error {
	return w.note("profile " + first + " " + last)
}

func (w *world) ChangePassword(_ context.Context, _ identity.SignIn, _ identity.Caller, current, next string, further func(...fault.Field) error) error {
	if current != password {
		return fault.New(fault.Unauthenticated, "wrong_credentials", "Wrong.")
	}
	if len(next) < 12 {
		return further(fault.Field{Field: "newPassword", Code: "invalid_length", Message: "must have 12 to 128 characters"})
	}
	return w.note("password")
}

func (w *world) Offered(_ context.Context, _, identifier string) (identity.Offer, error) {
	if identifier != "good" {
		return identity.Offer{}, fault.New(fault.Invalid, "invalid_link", "The link is not valid.")
	}
	return identity.Offer{Organization: "Harbour <Street> Practice", Email: "guest@clinic.example"}, nil
}

func (w *world) AcceptInvitation(_ context.Context, s *identity.SignIn, _, identifier string, d identity.RegisterDraft, _ func(...fault.Field) error) error {
	if identifier != "good" {
		return fault.New(fault.Invalid, "invalid_link", "The link is not valid.")
	}
	if s == nil && d.Password == nil {
		return errors.New("a newcomer without a password")
	}
	return w.note("join")
}
func (w *world) Factors(context.Context, string) (identity.Factors, error) { return w.factors, nil }
func (w *world) BeginTOTP(context.Context, string) (identity.Enrolment, error) {
	picture := image.NewGray(image.Rect(0, 0, 25, 25))
	for i := range 625 {
		if i*i%7 < 3 {
			picture.Set(i%25, i/25, color.White)
		}
	}
	var out bytes.Buffer
	_ = png.Encode(&out, picture)
	return identity.Enrolment{Secret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", URI: "otpauth://totp/Patient%20Mesh:mara?secret=JBSWY3DP", QR: out.Bytes()}, w.note("begin-totp")
}

func (w *world) ConfirmTOTP(_ context.Context, _, code string) ([]string, error) {
	if code != "123456" {
		return nil, fault.New(fault.Invalid, "wrong_code", "Wrong.")
	}
	return w.NewRecoveryCodes(context.Background(), userID)
}
func (w *world) RemoveTOTP(context.Context, string) error { return w.note("remove-totp") }
func (w *world) NewRecoveryCodes(context.Context, string) ([]string, error) {
	codes := make([]string, 10)
	for i := range codes {
		codes[i] = "k7wq-" + string(rune('a'+i)) + "3fp"
	}
	return codes, w.note("recovery")
}

func (w *world) BeginPasskey(context.Context, string) ([]byte, string, error) {
	return []byte(`{"publicKey":{}}`), "handle", w.note("begin-passkey")
}

func (w *world) FinishPasskey(context.Context, string, string, string, []byte) error {
	return w.note("finish-passkey")
}

func (w *world) RemovePasskey(context.Context, string, string) error { return w.note("remove-passkey") }

func (w *world) BeginPasskeySignIn(context.Context) ([]byte, string, error) {
	return []byte(`{"publicKey":{}}`), "handle", nil
}

func (w *world) FinishPasskeySignIn(_ context.Context, _ identity.Caller, handle string, _ []byte) (identity.Entered, error) {
	if handle != "handle" {
		return identity.Entered{}, fault.New(fault.Unauthenticated, "wrong_credentials", "The passkey is not known here.")
	}
	return w.session(identity.ByPasskey), nil
}

func (w *world) BeginPasskeyAnswer(_ context.Context, challenge string) ([]byte, string, error) {
	if _, err := w.Challenge(context.Background(), challenge); err != nil {
		return nil, "", err
	}
	return []byte(`{"publicKey":{}}`), "handle", nil
}

func (w *world) FinishPasskeyAnswer(_ context.Context, _ identity.Caller, challenge, handle string, _ []byte) (identity.Entered, error) {
	if _, err := w.Challenge(context.Background(), challenge); err != nil || handle != "handle" {
		return identity.Entered{}, fault.New(fault.Unauthenticated, "wrong_passkey", "The passkey is not known here.")
	}
	return w.session(identity.ByPassword, identity.ByPasskey), nil
}

func (w *world) BeginAuthorize(_ context.Context, p url.Values) (*oauth.Authorization, *oauth.Response, error) {
	if p.Get("client_id") != clientID || p.Get("redirect_uri") == "" || strings.Contains(p.Get("redirect_uri"), "evil") {
		return nil, nil, fault.New(fault.Invalid, "invalid_request", "The client or its address is not known.")
	}
	a := &oauth.Authorization{Client: w.client, RedirectURI: p.Get("redirect_uri"), Scopes: strings.Fields(p.Get("scope")), TenantID: p.Get("tenantId"), LoginHint: p.Get("login_hint"), Prompt: p.Get("prompt")}
	if p.Get("max_age") != "" {
		seconds := len(p.Get("max_age")) // "0" is one second, which will do
		a.MaxAge = &seconds
	}
	if p.Get("response_type") != "code" {
		r := w.Deny(context.Background(), a, "unsupported_response_type")
		return nil, &r, nil
	}
	return a, nil, nil
}

func sent(a *oauth.Authorization, query string) oauth.Response {
	return oauth.Response{Status: http.StatusSeeOther, Header: map[string]string{"Location": a.RedirectURI + "?" + query}}
}

func (w *world) Grant(_ context.Context, a *oauth.Authorization, d oauth.Decision) (oauth.Response, error) {
	w.decided = d
	return sent(a, "code=c&tenant="+d.TenantID+"&scope="+url.QueryEscape(strings.Join(d.Scopes, " "))), w.note("grant")
}

func (w *world) Deny(_ context.Context, a *oauth.Authorization, code string) oauth.Response {
	return sent(a, "error="+code)
}

func (w *world) Consented(context.Context, string, string) ([]string, error) { return w.consented, nil }

func (w *world) Consent(_ context.Context, _, _ string, scopes []string) error {
	w.consented = append(w.consented, scopes...)
	return w.note("consent")
}

func (w *world) Roles(context.Context) ([]identity.Role, error) {
	return []identity.Role{
		role("Owner", principal.All&^principal.ClientManage), role("Clinician", principal.PatientRead|principal.PatientWrite),
		role("Records Reader", principal.PatientRead), role("System", principal.ClientManage),
	}, nil
}

func (w *world) MintKey(ctx context.Context, d identity.KeyDraft, key idempotency.Key, further func(...fault.Field) error) (identity.Minted, error) {
	w.acted, _ = principal.From(ctx)
	var faults []fault.Field
	if len(d.RoleIDs) == 0 {
		faults = append(faults, fault.Field{Field: "acRoleIds", Code: "required", Message: "must name at least one role"})
	}
	if err := further(faults...); err != nil {
		return identity.Minted{}, err
	}
	if w.minted[key.Value] {
		return identity.Minted{}, fault.New(fault.Conflict, "already_created", "Before.")
	}
	w.minted[key.Value] = true
	m := identity.Minted{APIKey: identity.APIKey{Name: d.Name}, Token: "prs_demo_0190a0a0000070008000000000000e03_7d2fQmWc0Zk1TtXn4yVb8LrSgH5oJe9PaUiRw3MxKqD_2sPfKa", Roles: []identity.Role{role("Clinician", 0)}}
	if d.ExpiresAt != nil {
		at, _ := time.Parse(time.RFC3339, *d.ExpiresAt)
		m.ExpiresAt = &at
	}
	return m, w.note("mint")
}

func (w *world) ListKeys(ctx context.Context, _ listing.Request) (identity.KeyList, error) {
	w.acted, _ = principal.From(ctx)
	roles, _ := w.Roles(ctx)
	return identity.KeyList{Keys: w.keys, Roles: roles, Total: int64(len(w.keys))}, nil
}

func (w *world) RevokeKey(ctx context.Context, id string) error {
	w.acted, _ = principal.From(ctx)
	return w.note("revoke " + id)
}

// agreements is apart, as its verbs' names are used above.
type agreements struct{ *world }

func (w agreements) Current(context.Context) (identity.Agreement, error) {
	return identity.Agreement{ID: "a1", Version: 3, Title: "Business Associate Agreement", Text: strings.Repeat("The service keeps protected health information on the organization’s behalf, and uses or discloses it only as this agreement permits.\n\n1. Safeguards. The service uses appropriate administrative, physical and technical safeguards, and reports any use or disclosure that this agreement does not provide for.\n\n", 6)}, nil
}

func (w agreements) Status(context.Context) (identity.AgreementStatus, error) { return w.status, nil }

func (w agreements) Accept(ctx context.Context, id string) error {
	w.acted, _ = principal.From(ctx)
	if w.acted.Permissions&principal.TenantAdmin == 0 {
		return fault.New(fault.Denied, "permission_denied", "Only an owner can accept it.")
	}
	if id != "a1" {
		return fault.New(fault.Conflict, "agreement_superseded", "There is a newer one.")
	}
	return w.note("accept " + id)
}

func newServer(t *testing.T, w *world, publicURL string) *page.Server {
	t.Helper()
	s, err := page.New(page.Options{
		PublicURL: publicURL, Environment: w.environment, FormKey: bytes.Repeat([]byte("k"), 32), People: w, OAuth: w, Consents: w, Keys: w,
		Roles: w, Agreements: agreements{w}, Federation: w, Launcher: w, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return w.now }, Random: rand.Reader,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (w *world) Launchable(ctx context.Context) ([]identity.Application, error) {
	w.acted, _ = principal.From(ctx)
	return []identity.Application{{ID: "a1", Name: "Ward Dashboard", LaunchURL: "https://dashboard.example"}}, nil
}

func (w *world) Launch(ctx context.Context, id string) (string, error) {
	w.acted, _ = principal.From(ctx)
	return "https://dashboard.example/auth?lpl=AbC-_123", w.note("launch " + id)
}
