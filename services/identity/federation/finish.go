package federation

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// Finished is what came of a sign-in at a provider: either Entered or Link holds.
type Finished struct {
	Entered  identity.Entered
	Continue string // a path of ours
	Link     *LinkNeeded
}

// Finish takes what a provider sent a browser back with. Whatever is wrong, the state is spent by then, unless another
// browser presents it: that one cannot.
func (s *Service) Finish(ctx context.Context, c identity.Caller, browser, tenantID string, query url.Values) (Finished, error) {
	state, ok := only(query, "state")
	if !ok || browser == "" || !identity.ValidID(tenantID) {
		return Finished{}, errGone()
	}
	spent, err := s.Store.SpendState(ctx, hash(state), hash(browser), tenantID, s.now())
	if err != nil {
		return Finished{}, err
	}
	if spent == nil {
		return Finished{}, errGone()
	}
	raw, err := s.Sealer.Open(spent.Sealed, journeyPurpose+tenantID)
	if err != nil {
		return Finished{}, err
	}
	var j journey
	if err := json.Unmarshal(raw, &j); err != nil {
		return Finished{}, err
	}
	p, err := s.Store.FindProvider(ctx, tenantID)
	if err != nil {
		return Finished{}, err
	}
	if p == nil || p.Issuer != spent.Issuer {
		return Finished{}, errGone() // the tenant changed its mind meanwhile
	}
	who, err := s.ask(ctx, *p, j, query)
	if err != nil {
		return Finished{}, err
	}
	done, err := s.enter(ctx, c, *p, who, browser, j.Continue)
	done.Continue = j.Continue
	return done, err
}

// only gives a parameter that is there once.
func only(query url.Values, name string) (string, bool) {
	values := query[name]
	return query.Get(name), len(values) == 1 && values[0] != ""
}

// enter decides who somebody that a provider vouched for is here.
func (s *Service) enter(ctx context.Context, c identity.Caller, p identity.IdentityProvider, who person, browser, onward string) (Finished, error) {
	user, err := s.Store.LinkedUser(ctx, p.Issuer, who.subject)
	if err != nil {
		return Finished{}, err
	}
	if user != "" {
		if _, err := s.member(ctx, user, p.TenantID); err != nil {
			return Finished{}, err
		}
		entered, err := s.People.SignInFederated(ctx, c, user, p.TenantID)
		return Finished{Entered: entered}, err
	}
	email, err := who.address(ctx)
	if err != nil {
		return Finished{}, err
	}
	invited, err := s.expected(ctx, p.TenantID, email)
	if err != nil {
		return Finished{}, err
	}
	needed := LinkNeeded{Provider: p.Name, Email: email, Invited: invited, Continue: onward}
	needed.Token, err = s.keepLink(ctx, p, who.subject, needed, browser)
	return Finished{Link: &needed}, err
}

// expected refuses an address that neither a member nor somebody invited has. An account that is no member's is told
// from none by nothing: whoever runs a provider could otherwise ask it about any address.
func (s *Service) expected(ctx context.Context, tenantID, email string) (invited bool, err error) {
	user, err := s.Store.VerifiedUser(ctx, s.Environment, email)
	if err != nil {
		return false, err
	}
	if user != "" {
		if _, err = s.member(ctx, user, tenantID); err == nil || !fault.Is(err, fault.Denied) {
			return false, err
		}
	}
	if s.Invited != nil {
		if invited, err = s.Invited(ctx, tenantID, email); err != nil || invited {
			return invited, err
		}
	}
	return false, errStranger()
}

// member gives a user's membership of a tenant now.
func (s *Service) member(ctx context.Context, user, tenantID string) (identity.Membership, error) {
	list, err := s.People.Memberships(ctx, user)
	if err != nil {
		return identity.Membership{}, err
	}
	n := slices.IndexFunc(list, func(m identity.Membership) bool { return m.TenantID == tenantID })
	if n < 0 {
		return identity.Membership{}, errStranger()
	}
	return list[n], nil
}

func errGone() error {
	return fault.New(fault.Invalid, "sign_in_expired", "This sign-in has expired, is used already or was begun in another browser. Please begin again.")
}

func errStranger() error {
	return fault.New(fault.Denied, "not_invited", "There is no place for you in this organization yet. Ask your administrator for an invitation.")
}
