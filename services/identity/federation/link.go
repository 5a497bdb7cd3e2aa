package federation

import (
	"context"
	"crypto/subtle"
	"encoding/json"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/secret"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// LinkNeeded says that a provider vouched for an address whose owner has still to prove the account here: by signing in
// as they always did, after which Link takes the token.
type LinkNeeded struct {
	Token    string `json:"-"` // a secret, for this browser and once
	Provider string `json:"p"` // its name
	Email    string `json:"e"` // as the provider has it
	Invited  bool   `json:"i"` // there is no account yet, but an invitation to make one
	Continue string `json:"c"` // a path of ours
}

const linkPurpose = "federation_link/"

func (s *Service) keepLink(ctx context.Context, p identity.IdentityProvider, subject string, needed LinkNeeded, browser string) (string, error) {
	token, err := secret.Random(s.Random)
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal(needed)
	if err != nil {
		return "", err
	}
	sealed, err := s.Sealer.Seal(raw, linkPurpose+p.TenantID)
	if err != nil {
		return "", err
	}
	now := s.now()
	return token, s.Store.KeepPendingLink(ctx, Link{
		Hash: hash(token), TenantID: p.TenantID, Issuer: p.Issuer, Subject: subject, EmailHash: s.address(needed.Email),
		BrowserHash: hash(browser), Sealed: sealed, CreatedAt: now, ExpiresAt: now.Add(linkLife),
	})
}

// Waiting gives what a token is for. One that does not hold, in this browser or any more, is a fault of kind Invalid.
func (s *Service) Waiting(ctx context.Context, browser, token string) (LinkNeeded, error) {
	_, needed, err := s.waiting(ctx, browser, token)
	return needed, err
}

func (s *Service) waiting(ctx context.Context, browser, token string) (l *Link, needed LinkNeeded, err error) {
	if browser == "" || token == "" {
		return nil, LinkNeeded{}, errGone()
	}
	l, err = s.Store.FindLink(ctx, hash(token), hash(browser), s.now())
	if err != nil {
		return nil, LinkNeeded{}, err
	}
	if l == nil {
		return nil, LinkNeeded{}, errGone()
	}
	raw, err := s.Sealer.Open(l.Sealed, linkPurpose+l.TenantID)
	if err != nil {
		return nil, LinkNeeded{}, err
	}
	needed.Token = token
	return l, needed, json.Unmarshal(raw, &needed)
}

// Link connects who a provider vouched for with the user who has meanwhile proved, in the same browser and without the
// provider, that the account with that address is theirs. It gives the path where the way goes on.
func (s *Service) Link(ctx context.Context, signIn identity.SignIn, browser, token string) (string, error) {
	l, needed, err := s.waiting(ctx, browser, token)
	if err != nil {
		return "", err
	}
	if signIn.Federated() || signIn.CreatedAt.Before(l.CreatedAt) {
		return "", fault.New(fault.Denied, "proof_required", "Sign in with your own password first.")
	}
	if err := s.provable(ctx, signIn, *l); err != nil {
		return "", err
	}
	e := identity.EntryBy(ctx, s.Now(), s.NewID, signIn.UserID, signIn.ID, identity.AuditIdentityLink).In(l.TenantID)
	made, err := s.Store.MakeLink(ctx, l.Hash, signIn.UserID, s.now(), e)
	if err == nil && !made {
		return "", errGone()
	}
	return needed.Continue, err
}

// provable refuses a link to an account of another address, of no member, or that was proved with less than the tenant
// requires.
func (s *Service) provable(ctx context.Context, signIn identity.SignIn, l Link) error {
	p, err := s.Store.FindProvider(ctx, l.TenantID)
	if err != nil {
		return err
	}
	if p == nil || p.Issuer != l.Issuer {
		return errGone()
	}
	email, err := s.Store.VerifiedAddress(ctx, s.Environment, signIn.UserID)
	if err != nil {
		return err
	}
	if email == "" || subtle.ConstantTimeCompare(s.address(email), l.EmailHash) != 1 {
		return fault.New(fault.Denied, "other_account", "Your organization's sign-in service knows you by another e-mail address than this account's.")
	}
	m, err := s.member(ctx, signIn.UserID, l.TenantID)
	if err != nil {
		return err
	}
	if m.MFARequired && !signIn.Strong() {
		return fault.New(fault.Denied, "mfa_required", "Your organization asks for a second factor.")
	}
	return nil
}
