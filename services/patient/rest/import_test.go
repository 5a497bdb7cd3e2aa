package rest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/rest"
)

// crowd is a patient.ImportStore in memory, whose ids are the numbers of the lines and a thousand.
type crowd struct {
	patient.Store

	mu     sync.Mutex
	seen   []patient.Newcomer
	sizes  []int
	begun  int
	ended  int
	busy   int // batches at a time
	most   int
	before func(newcomers []patient.Newcomer) error // of each batch
	begin  error
	kept   []audit.Entry
}

func (c *crowd) BeginImport(context.Context, patient.Run) error {
	c.begun++
	return c.begin
}

func (c *crowd) HoldImport(context.Context, patient.Run) (bool, error) { return true, nil }

func (c *crowd) EndImport(context.Context, patient.Run) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended++
	return nil
}

func (c *crowd) Keep(_ context.Context, e audit.Entry) error {
	c.kept = append(c.kept, e)
	return nil
}

func (c *crowd) Import(
	_ context.Context, _ principal.Principal, limit int, _ idempotency.Key, newcomers []patient.Newcomer,
) ([]patient.Imported, error) {
	c.mu.Lock()
	c.sizes = append(c.sizes, len(newcomers))
	c.busy++
	c.most = max(c.most, c.busy)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.busy--
	}()
	if c.before != nil {
		if err := c.before(newcomers); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]patient.Imported, len(newcomers))
	for n, one := range newcomers {
		if limit > 0 && len(c.seen) == limit {
			out[n].Err = fault.New(fault.PlanLimit, "plan_limit_reached", "It is.")
			continue
		}
		c.seen = append(c.seen, one)
		out[n].ID = one.Line + 1000
	}
	return out, nil
}

// imports is imports into a crowd.
func imports(c *crowd) *rest.Imports {
	verbs := &patient.Service{Store: c, Now: morning, NewID: uuid.NewV7}
	identifiers := &patient.Identifiers{Service: verbs, Complete: patient.OwnAuthority(func(context.Context, string) (string, error) { return "Harbour Clinic", nil })}
	return &rest.Imports{
		Server: &rest.Server{Identifiers: identifiers}, Logger: slog.New(slog.DiscardHandler),
		Verbs: &patient.Imports{Service: verbs, Store: c, Identifiers: identifiers, Lease: 6 * time.Second},
	}
}

func writer() principal.Principal {
	return principal.Principal{Kind: principal.APIKey, TenantID: "00000000-0000-7000-8000-000000000001", CredentialID: "key", Permissions: principal.PatientWrite}
}

// told is one line of an answer.
type told struct {
	Line    int64
	Ref     string
	ID      int64
	Created *int
	Failed  *int
	Problem *struct {
		Type, Title, Code, Detail, Instance string
		Status                              int
		Errors                              []fault.Field
	}
}

func (l told) String() string {
	switch {
	case l.Created != nil:
		return fmt.Sprintf("%d created, %d failed", *l.Created, *l.Failed)
	case l.Problem == nil:
		return fmt.Sprintf("%d %s is %d", l.Line, l.Ref, l.ID)
	}
	text := fmt.Sprintf("%d %s %d %s", l.Line, l.Ref, l.Problem.Status, l.Problem.Code)
	for _, f := range l.Problem.Errors {
		text += " " + f.Field + ":" + f.Code
	}
	return text
}

func lines(t *testing.T, raw []byte) (list []string) {
	t.Helper()
	for line := range bytes.Lines(raw) {
		var l told
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		list = append(list, l.String())
	}
	return list
}

// take imports a body and gives the answer's lines.
func take(t *testing.T, i *rest.Imports, by principal.Principal, body io.Reader) []string {
	t.Helper()
	return takeUnder(t, nil, i, by, body)
}

// takeUnder is take under a key.
func takeUnder(t *testing.T, key *string, i *rest.Imports, by principal.Principal, body io.Reader) []string {
	t.Helper()
	answer, err := i.Answer(principal.With(t.Context(), by), rest.LinesType, key, body)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Close()
	raw, err := io.ReadAll(answer)
	if err != nil {
		t.Fatal(err)
	}
	return lines(t, raw)
}

const one = `{"firstName":"Ana","lastName":"Lima","dob":"1980-02-29"`

func TestImportedLines(t *testing.T) {
	t.Parallel()
	long := one + `,"genderIdentity":"` + strings.Repeat("x", 1<<20) + `"}`
	just := one + `,"none":"` + strings.Repeat("x", 1<<20-len(one)-len(`,"none":""}`)) + `"}`
	body := strings.Join([]string{
		one + `,"ref":"first"}`,
		"", " \t\r",
		one + `,"ref":" \u00e9 "}` + "\r",
		`{"ref":"bad","firstName":" ","lastName":"n/a","dob":"2999-01-01","last4Ssn":"123456789","gender":"x","deceased":true}`,
		`no JSON`, `[]`, `{"ref":"lost"`, one + `} {}`,
		one + `,"lastName":"B","ref":"twice"}`,
		`{"firstName":7,"ref":7}`,
		one + `,"ref":null,"addresses":null,"contacts":[]}`,
		long, just,
		one + `,"addresses":{},"contacts":[1,{"system":5,"value":"1"},{"system":"email","value":"no"}],"aliases":[{}],` +
			`"identifiers":[{"value":"123-45-6789","type":"SSN"},{"value":"1","value":"2","activeFrom":"x"}]}`,
		one + `,"identifiers":[{"value":"1","type":"MR"},{"value":"1","type":"MR","activeUntil":"2030-01-01"}]}`,
		one + `,"addresses":[` + strings.Repeat(`{},`, 100) + `{}]}`,
		`{"ref":"` + strings.Repeat("é", 501) + `"}`,
		one + `,"ref":"last"}`,
	}, "\n")
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"at once": func(r io.Reader) io.Reader { return r }, "in pieces": iotest.HalfReader, "with its end": iotest.DataErrReader,
	} {
		c := &crowd{}
		got := take(t, imports(c), writer(), wrap(strings.NewReader(body)))
		want := []string{
			"1 first is 1001", "4  é  is 1004",
			"5 bad 400 invalid_request firstName:blank lastName:blank dob:in_future gender:invalid_value last4Ssn:invalid_last4 deceased:read_only",
			"6  400 malformed_json body:malformed_json", "7  400 not_an_object body:not_an_object", "8  400 malformed_json body:malformed_json", "9  400 malformed_json body:malformed_json",
			"10 twice 400 invalid_request lastName:duplicate_member",
			"11  400 invalid_request ref:invalid_type firstName:invalid_type lastName:required dob:required",
			"12  is 1012", "13  413 body_too_large", "14  is 1014",
			"15  400 invalid_request addresses:invalid_type contacts[0]:invalid_type contacts[1].system:invalid_type contacts[2].value:invalid_email " +
				"aliases[0].alias:required identifiers[0].value:ssn_not_kept identifiers[1].value:duplicate_member identifiers[1].activeFrom:invalid_date",
			"16  409 identifier_exists", "17  400 invalid_request addresses:too_many",
			"18  400 invalid_request ref:too_long firstName:required lastName:required dob:required", "19 last is 1019", "5 created, 12 failed",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A line's problem is what a single create would answer, and tells nothing of the line.
func TestALinesProblemIsThatOfASingleCreate(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, line := range []string{
		`{"firstName":"Qxz","lastName":"Qxz","dob":"Qxz","gender":"Qxz","last4Ssn":"Qxz"}`, `{"firstName":"Qxz"`, `["Qxz"]`,
		one + `,"middleName":"` + strings.Repeat("Qxz", 100) + `"}`, one + `,"deceased":true}`,
	} {
		single := s.post("/v3/patient", line).body
		answer, err := imports(&crowd{}).Answer(principal.With(t.Context(), writer()), rest.LinesType, nil, strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		first, err := bufio.NewReader(answer).ReadBytes('\n')
		answer.Close()
		var got struct{ Problem map[string]any }
		var want map[string]any
		if err := errors.Join(err, json.Unmarshal(first, &got), json.Unmarshal([]byte(single), &want)); err != nil {
			t.Fatal(err)
		}
		for _, trace := range []string{"instance", "traceId"} {
			delete(want, trace)
			delete(got.Problem, trace)
		}
		if diff := cmp.Diff(want, got.Problem); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
		if bytes.Contains(first, []byte("Qxz")) {
			t.Errorf("%s tells of the line", first)
		}
	}
}

func TestWhatIsStored(t *testing.T) {
	t.Parallel()
	c := &crowd{}
	take(t, imports(c), writer(), strings.NewReader(one+`,"last4Ssn":"6789","prefix":"Dr",`+
		`"addresses":[{"line1":" 1 Main ","city":"X","state":"NY","postalCode":"1"}],"contacts":[{"value":"(602) 955-5987"},{"system":"email","value":"a@b.example"}],`+
		`"aliases":[{"fullName":"Ana L"}],"identifiers":[{"value":"7"},{"value":"7","authorityOrganizationName":"Elsewhere"}]}`))
	if len(c.seen) != 1 {
		t.Fatalf("%+v", c.seen)
	}
	p := c.seen[0]
	if p.FirstName != "Ana" || p.SSNLast4 != "6789" || p.Prefix != "" || p.Version != 1 || p.Addresses[0].Line1 != "1 Main" || p.Addresses[0].Country != "US" ||
		p.Contacts[0].E164 != "+16029555987" || p.Contacts[1].System != "email" || p.Aliases[0].FullName != "Ana L" || p.Aliases[0].Type != "alias" {
		t.Errorf("%+v", p)
	}
	if i := p.Identifiers; i[0].OrganizationName != "Harbour Clinic" || i[0].OrganizationID != writer().TenantID || i[1].OrganizationName != "Elsewhere" || i[1].OrganizationID != "" {
		t.Errorf("%+v", i)
	}
	ids := map[string]bool{p.Addresses[0].ID: true, p.Contacts[0].ID: true, p.Contacts[1].ID: true, p.Aliases[0].ID: true, p.Identifiers[0].ID: true, p.Identifiers[1].ID: true}
	if len(ids) != 6 || ids[""] {
		t.Errorf("%v", ids)
	}
	if e := p.Entry; e.Action != "patient.create" || e.Outcome != audit.Success || e.TenantID != writer().TenantID || e.ID == "" {
		t.Errorf("%+v", e)
	}
}

// many is so many good lines.
func many(n int) string { return strings.Repeat(one+"}\n", n) }

// Under a key batches are of one block of lines, some at a time, and answered in their order however they end.
func TestBatches(t *testing.T) {
	t.Parallel()
	first, later := make(chan struct{}), make(chan struct{})
	var once sync.Once
	c := &crowd{before: func(newcomers []patient.Newcomer) error {
		switch at := newcomers[0].Line; { // the first batch waits for one of the next block, and that one for it
		case at == 1:
			close(first)
			<-later
		case at > 1000:
			<-first
			once.Do(func() { close(later) })
		}
		if last := newcomers[len(newcomers)-1].Line; (last-1)/1000 != (newcomers[0].Line-1)/1000 {
			t.Errorf("lines %d to %d in one batch", newcomers[0].Line, last)
		}
		return nil
	}}
	got := takeUnder(t, some("k"), imports(c), writer(), strings.NewReader(many(3500)))
	if len(got) != 3501 || got[3500] != "3500 created, 0 failed" || c.most != 2 || c.begun != 1 || c.ended != 1 {
		t.Errorf("%d lines, at last %s, %d batches at a time", len(got), got[len(got)-1], c.most)
	}
	for n, line := range got[:3500] {
		if line != fmt.Sprintf("%d  is %d", n+1, n+1001) {
			t.Fatalf("line %d is %s", n+1, line)
		}
	}
}

// On a limited plan the first lines are the ones that find room, and the refusal is told to the trail.
func TestALimitedPlan(t *testing.T) {
	t.Parallel()
	c := &crowd{}
	by := writer()
	by.Plan = principal.PlanFree
	got := take(t, imports(c), by, strings.NewReader(many(2500)))
	if got[999] != "1000  is 2000" || got[1000] != "1001  402 plan_limit_reached" || got[2500] != "1000 created, 1500 failed" || c.most != 1 {
		t.Errorf("%v, %d at a time", got[999:1002], c.most)
	}
	if len(c.kept) == 0 || c.kept[0].Outcome != audit.Failure || c.kept[0].Action != "patient.create" {
		t.Errorf("%+v", c.kept)
	}
}

// The first lines are answered while the rest is still to come.
func TestAnswersComeWhileTheBodyDoes(t *testing.T) {
	t.Parallel()
	c := &crowd{}
	r, w := io.Pipe()
	answer, err := imports(c).Answer(principal.With(t.Context(), writer()), rest.LinesType, nil, r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Close()
	heard := bufio.NewReader(answer)
	for n := 1; n <= 3; n++ {
		if _, err := io.WriteString(w, one+"}\n"+one[:9]); err != nil {
			t.Fatal(err)
		}
		if line, err := heard.ReadString('\n'); err != nil || line != fmt.Sprintf(`{"line":%d,"id":%d}`+"\n", n, n+1000) {
			t.Fatalf("%s, %v", line, err)
		}
		if _, err := io.WriteString(w, one[9:]+"}\n"); err != nil {
			t.Fatal(err)
		}
		n++
		if _, err := heard.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	if line, err := heard.ReadString('\n'); err != nil || line != `{"created":4,"failed":0}`+"\n" {
		t.Errorf("%s, %v", line, err)
	}
}

// An answer that is not whole says so, and has no totals; the line that broke off is none.
func TestAnswersThatAreNotWhole(t *testing.T) {
	t.Parallel()
	cut := fault.New(fault.Invalid, "malformed_body", "The body broke off.")
	for name, test := range map[string]struct {
		body   io.Reader
		before func([]patient.Newcomer) error
		last   string
		stored int
	}{
		"the body breaks off": {io.MultiReader(strings.NewReader(one+"}\n"+one+"}"), iotest.ErrReader(cut)), nil, "0  400 malformed_body request:malformed_body", 1},
		"the database is away": {strings.NewReader(many(5)), func([]patient.Newcomer) error {
			return fault.Away(errors.New("Qxz"), "The database cannot be reached just now.")
		}, "0  503 unavailable", 0},
		"a defect":            {strings.NewReader(many(5)), func([]patient.Newcomer) error { return errors.New("Qxz") }, "0  500 internal", 0},
		"a panic":             {strings.NewReader(many(5)), func([]patient.Newcomer) error { panic("Qxz") }, "0  500 internal", 0},
		"a panic of the body": {panicking{}, nil, "0  500 internal", 0},
	} {
		c := &crowd{before: test.before}
		got := take(t, imports(c), writer(), test.body)
		if last := got[len(got)-1]; last != test.last || len(c.seen) != test.stored || strings.Contains(strings.Join(got, ""), "Qxz") {
			t.Errorf("%s: %v, %d stored", name, got, len(c.seen))
		}
	}
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("Qxz") }

// After one batch fails nothing further is told, nor stored.
func TestAFailureInTheMiddle(t *testing.T) {
	t.Parallel()
	c := &crowd{before: func(newcomers []patient.Newcomer) error {
		if newcomers[0].Line > 1000 {
			return fault.Away(nil, "Away.")
		}
		return nil
	}}
	got := take(t, imports(c), writer(), strings.NewReader(many(100_000)))
	if len(got) < 2 || len(got) > 1001 || got[len(got)-1] != "0  503 unavailable" || len(c.seen) != len(got)-1 {
		t.Errorf("%d lines, %s, %d stored", len(got), got[len(got)-1], len(c.seen))
	}
	if len(c.sizes) > 20 {
		t.Errorf("%d batches", len(c.sizes))
	}
}

// What was under way with a batch that fails, and is stored, is told.
func TestWhatIsStoredBesideAFailureIsTold(t *testing.T) {
	t.Parallel()
	first, second := make(chan struct{}), make(chan struct{})
	c := &crowd{}
	c.before = func(newcomers []patient.Newcomer) error { // the first fails once the second has been stored, which another one follows
		switch newcomers[0].Line {
		case 1:
			close(first)
			<-second
			return fault.Away(nil, "Away.")
		case 1001:
			<-first
		case 2001:
			close(second)
		}
		return nil
	}
	got := takeUnder(t, some("k"), imports(c), writer(), strings.NewReader(many(100_000)))
	if len(c.seen) < 1000 || len(got) != len(c.seen)+1 || got[len(got)-1] != "0  503 unavailable" {
		t.Fatalf("%d lines, at last %s, %d stored", len(got), got[len(got)-1], len(c.seen))
	}
	for n, line := range got[:len(got)-1] {
		if line != fmt.Sprintf("%d  is %d", n+1001, n+2001) {
			t.Fatalf("line %d is %s", n+1, line)
		}
	}
}

// When the program is about to end, what has come is stored, and the rest is told to come again.
func TestLeaving(t *testing.T) {
	t.Parallel()
	c, leaving := &crowd{}, make(chan struct{})
	i := imports(c)
	i.Leaving = leaving
	r, w := io.Pipe()
	answer, err := i.Answer(principal.With(t.Context(), writer()), rest.LinesType, nil, r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Close()
	if _, err := io.WriteString(w, many(2)); err != nil {
		t.Fatal(err)
	}
	close(leaving)
	raw, err := io.ReadAll(answer)
	if got := lines(t, raw); err != nil || len(got) == 0 || got[len(got)-1] != "0  503 unavailable" {
		t.Errorf("%v, %v", got, err)
	}
	w.Close()
}

// Who leaves gets nothing more stored than what was under way.
func TestClosing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{}
		r, w := io.Pipe()
		i := imports(c)
		key := "k"
		answer, err := i.Answer(principal.With(t.Context(), writer()), rest.LinesType, &key, r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, many(3)); err != nil {
			t.Fatal(err)
		}
		heard := bufio.NewReader(answer)
		for range 3 {
			if _, err := heard.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		answer.Close()
		r.Close() // as the server does then
		synctest.Wait()
		if c.ended != 1 || len(c.seen) != 3 {
			t.Errorf("%d stored", len(c.seen))
		}
	})
}

// Who does not read is waited for, and so are the lines.
func TestUnreadAnswersHoldTheLinesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const number = 400_000 // each of them with much wrong with it
		sent := strings.NewReader(strings.Repeat("{}\n", number))
		answer, err := imports(&crowd{}).Answer(principal.With(t.Context(), writer()), rest.LinesType, nil, sent)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Close()
		synctest.Wait() // until nothing goes on any more
		if read := sent.Size() - int64(sent.Len()); read > 200_000 {
			t.Errorf("%d bytes are read while nobody reads the answers", read)
		}
		last := ""
		for scanner := bufio.NewScanner(answer); scanner.Scan(); {
			last = scanner.Text()
		}
		if last != `{"created":0,"failed":400000}` {
			t.Error(last)
		}
	})
}

func TestImportsThatAreRefused(t *testing.T) {
	t.Parallel()
	reader := writer()
	reader.Permissions = principal.PatientRead
	bad, good := "\x00", "k"
	busy := fault.New(fault.Conflict, "idempotency_key_in_use", "It is.")
	for name, test := range map[string]struct {
		by     principal.Principal
		media  string
		key    *string
		begin  error
		status fault.Kind
	}{
		"permission":           {reader, "text/csv", &bad, nil, fault.Denied},
		"media type":           {writer(), "application/json", &bad, nil, fault.UnsupportedMedia},
		"no media type":        {writer(), "", nil, nil, fault.UnsupportedMedia},
		"charset":              {writer(), rest.LinesType + "; charset=latin1", nil, nil, fault.UnsupportedMedia},
		"key":                  {writer(), rest.LinesType + "; charset=UTF-8", &bad, nil, fault.Invalid},
		"another one under it": {writer(), rest.LinesType, &good, busy, fault.Conflict},
	} {
		c := &crowd{begin: test.begin}
		i := imports(c)
		for range 20 { // none of which is counted among those under way
			if _, err := i.Answer(principal.With(t.Context(), test.by), test.media, test.key, iotest.ErrReader(errors.New("read"))); !fault.Is(err, test.status) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Of one organization some may be under way, of all some more; a place is free again once an import has ended.
func TestImportsUnderWayAreFew(t *testing.T) {
	t.Parallel()
	i := imports(&crowd{})
	begin := func(tenant string) (func(), error) {
		by := writer()
		by.TenantID = tenant
		r, w := io.Pipe()
		answer, err := i.Answer(principal.With(t.Context(), by), rest.LinesType, nil, r)
		return func() {
			w.Close()
			_, _ = io.Copy(io.Discard, answer)
			answer.Close()
		}, err
	}
	var ends []func()
	take := func(tenant string) {
		end, err := begin(tenant)
		if err != nil {
			t.Fatal(tenant, err)
		}
		ends = append(ends, end)
	}
	for n := range 12 {
		take(strconv.Itoa(n / 4))
	}
	if _, err := begin("0"); !fault.Is(err, fault.RateLimited) {
		t.Errorf("a fifth of one: %v", err)
	}
	take("3")
	if _, err := begin("3"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a second of one where only first ones have room: %v", err)
	}
	for n := range 3 {
		take(strconv.Itoa(4 + n))
	}
	if _, err := begin("9"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a seventeenth: %v", err)
	}
	for _, end := range ends[8:13] { // the third tenant's, and the fourth's one
		end()
	}
	ends = append(ends[:8:8], ends[13:]...)
	ends[0]()
	ends = ends[1:]
	take("0")
	for _, end := range ends {
		end()
	}
}
