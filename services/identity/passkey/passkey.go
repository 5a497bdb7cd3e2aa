// Package passkey runs the ceremonies of WebAuthn: making a passkey, and proving that one has it. Every passkey can be
// found without a name (discoverable) and is used with a verified user, so it is two factors by itself. The package
// keeps nothing: what a ceremony has to remember it hands out, and it does not know whose passkeys there are.
package passkey

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// longestResponse bounds what a browser sends; attestations that we do not ask for would be the largest part.
const longestResponse = 64 << 10

// Credential is what has to be kept of a passkey.
type Credential struct {
	CredentialID   []byte
	PublicKey      []byte // COSE
	AAGUID         []byte // the make of the authenticator
	Transports     []string
	BackupEligible bool // it may be copied to other devices; never changes
	BackedUp       bool
	SignCount      int64 // 0 for ever where the authenticator does not count
}

// User is whose ceremony it is. ID is what authenticators keep as the user handle.
type User struct {
	ID          []byte
	Name        string // the e-mail address
	DisplayName string
	Credentials []Credential
}

// Errors of the ceremonies. What exactly was wrong with an answer is nobody's business but the log's.
var (
	// ErrNoDomain says that browsers do not make passkeys for an address like ours (WebAuthn §5.1.2: a domain).
	ErrNoDomain = errors.New("passkeys need a public address with a domain name, not an IP address")
	ErrRefused  = errors.New("the passkey's answer does not hold")
	// ErrCloned says that the signature counter went back: somebody else has a copy of the key (WebAuthn §6.1.1).
	ErrCloned = errors.New("the passkey's counter went back")
)

// Party is us, the relying party. It is safe for concurrent use.
type Party struct{ web *webauthn.WebAuthn }

// New makes the relying party of a public address. Where that names a loopback IP, as a mesh on one's own machine does,
// passkeys belong to localhost, and work for whoever opens the pages under that name. Any other IP is ErrNoDomain.
func New(publicURL, name string) (*Party, error) {
	u, err := url.Parse(publicURL)
	if err != nil || u.Hostname() == "" {
		return nil, fmt.Errorf("public address: %w", ErrNoDomain)
	}
	host, origins := u.Hostname(), []string{u.Scheme + "://" + u.Host}
	if ip := net.ParseIP(host); ip != nil {
		if !ip.IsLoopback() {
			return nil, ErrNoDomain
		}
		host = "localhost"
		local := url.URL{Scheme: u.Scheme, Host: host}
		if port := u.Port(); port != "" {
			local.Host = net.JoinHostPort(host, port)
		}
		origins = append(origins, local.String())
	}
	web, err := webauthn.New(&webauthn.Config{
		RPID: host, RPDisplayName: name, RPOrigins: origins,
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationRequired,
		},
		// Password managers add outputs that nobody asked for; they are not read (WebAuthn §7.1 step 17).
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return nil, fmt.Errorf("relying party: %w", err)
	}
	return &Party{web: web}, nil
}

// BeginRegistration gives the options for the browser, and the state to keep until it answers.
func (p *Party) BeginRegistration(u User) (options, state []byte, err error) {
	var have []protocol.CredentialDescriptor
	for _, c := range u.Credentials {
		known := c.known()
		have = append(have, known.Descriptor())
	}
	creation, session, err := p.web.BeginRegistration(person{u}, webauthn.WithExclusions(have))
	if err != nil {
		return nil, nil, fmt.Errorf("begin registration: %w", err)
	}
	return both(creation, session)
}

// FinishRegistration checks the browser's answer and gives the new passkey.
func (p *Party) FinishRegistration(u User, state, response []byte) (Credential, error) {
	session, err := restore(state)
	if err != nil {
		return Credential{}, err
	}
	if len(response) > longestResponse {
		return Credential{}, ErrRefused
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(response)
	if err != nil {
		return Credential{}, refused(err)
	}
	made, err := p.web.CreateCredential(person{u}, session, parsed)
	if err != nil {
		return Credential{}, refused(err)
	}
	return kept(made), nil
}

// BeginSignIn asks for a passkey of anybody's.
func (p *Party) BeginSignIn() (options, state []byte, err error) {
	assertion, session, err := p.web.BeginDiscoverableLogin()
	if err != nil {
		return nil, nil, fmt.Errorf("begin sign-in: %w", err)
	}
	return both(assertion, session)
}

// BeginAnswer asks for a passkey of the user's.
func (p *Party) BeginAnswer(u User) (options, state []byte, err error) {
	assertion, session, err := p.web.BeginLogin(person{u})
	if err != nil {
		return nil, nil, fmt.Errorf("begin answer: %w", err)
	}
	return both(assertion, session)
}

// Answer is a browser's answer to BeginSignIn or BeginAnswer, of which nothing is proved yet.
type Answer struct {
	parsed *protocol.ParsedCredentialAssertionData
}

// ReadAnswer reads what a browser answered.
func ReadAnswer(response []byte) (Answer, error) {
	if len(response) > longestResponse {
		return Answer{}, ErrRefused
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(response)
	if err != nil {
		return Answer{}, refused(err)
	}
	return Answer{parsed: parsed}, nil
}

// UserHandle is whose passkey it says to be: the ID of the User that it was made for. It may be empty.
func (a Answer) UserHandle() []byte { return a.parsed.Response.UserHandle }

// Finish checks the answer against the user's passkeys and gives the one that was used, as it is to be kept from now on.
func (p *Party) Finish(u User, state []byte, a Answer) (Credential, error) {
	session, err := restore(state)
	if err != nil {
		return Credential{}, err
	}
	var used *webauthn.Credential
	if len(session.UserID) == 0 {
		_, used, err = p.web.ValidatePasskeyLogin(func(_, _ []byte) (webauthn.User, error) { return person{u}, nil }, session, a.parsed)
	} else {
		used, err = p.web.ValidateLogin(person{u}, session, a.parsed)
	}
	switch {
	case err != nil:
		return Credential{}, refused(err)
	case used.Authenticator.CloneWarning:
		return Credential{}, ErrCloned
	}
	return kept(used), nil
}

// refused keeps the kind of the library's error alone: its words may repeat what the browser sent.
func refused(err error) error {
	var known *protocol.Error
	if errors.As(err, &known) {
		return fmt.Errorf("%w: %s", ErrRefused, known.Type)
	}
	return ErrRefused
}

func both(options any, session *webauthn.SessionData) (shown, state []byte, err error) {
	if shown, err = json.Marshal(options); err != nil {
		return nil, nil, fmt.Errorf("write options: %w", err)
	}
	if state, err = json.Marshal(session); err != nil {
		return nil, nil, fmt.Errorf("write state: %w", err)
	}
	return shown, state, nil
}

func restore(state []byte) (session webauthn.SessionData, err error) {
	if err := json.Unmarshal(state, &session); err != nil {
		return session, fmt.Errorf("read the state of a ceremony: %w", err)
	}
	return session, nil
}

// person is a User as the library wants to see it.
type person struct{ u User }

func (p person) WebAuthnID() []byte          { return p.u.ID }
func (p person) WebAuthnName() string        { return p.u.Name }
func (p person) WebAuthnDisplayName() string { return p.u.DisplayName }

func (p person) WebAuthnCredentials() []webauthn.Credential {
	list := make([]webauthn.Credential, len(p.u.Credentials))
	for i, c := range p.u.Credentials {
		list[i] = c.known()
	}
	return list
}

func (c Credential) known() webauthn.Credential {
	transports := make([]protocol.AuthenticatorTransport, len(c.Transports))
	for i, t := range c.Transports {
		transports[i] = protocol.AuthenticatorTransport(t)
	}
	return webauthn.Credential{
		ID: c.CredentialID, PublicKey: c.PublicKey, Transport: transports,
		Flags:         webauthn.CredentialFlags{UserPresent: true, UserVerified: true, BackupEligible: c.BackupEligible, BackupState: c.BackedUp},
		Authenticator: webauthn.Authenticator{AAGUID: c.AAGUID, SignCount: uint32(c.SignCount)}, //nolint:gosec // it was one
	}
}

// mostTransports bounds what a browser may name; there are six of them in WebAuthn.
const mostTransports = 10

func kept(c *webauthn.Credential) Credential {
	transports := []string{}
	for _, t := range c.Transport[:min(len(c.Transport), mostTransports)] {
		transports = append(transports, string(t))
	}
	return Credential{
		CredentialID: c.ID, PublicKey: c.PublicKey, AAGUID: c.Authenticator.AAGUID, Transports: transports,
		BackupEligible: c.Flags.BackupEligible, BackedUp: c.Flags.BackupState, SignCount: int64(c.Authenticator.SignCount),
	}
}
