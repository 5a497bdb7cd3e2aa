package page

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/secret"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// once is a value that a form carries so that sending it again makes nothing twice.
func (s *Server) once() (string, error) { return secret.Random(s.o.Random) }

// keyPage is the data of the page that shows a new key.
type keyPage struct {
	Token, Name string
	Roles       []string
	ExpiresAt   *time.Time
}

// mintKey answers with the key itself: it is shown this once, so there is nowhere to redirect to. A reload sends the same
// form again, and makes no second key.
func (s *Server) mintKey(ctx context.Context, v *visit) (reply, error) {
	acting, _, err := s.inside(ctx, v)
	if err != nil {
		return reply{}, err
	}
	f := typed(v, "name", "expiresAt")
	draft := identity.KeyDraft{RoleIDs: v.form["acRoleIds"], Name: f.Values["name"]}
	if f.Values["name"] == "" {
		f.fault("name", "is required")
	}
	if text := f.Values["expiresAt"]; text != "" {
		day, err := time.Parse(time.DateOnly, text)
		if err != nil {
			f.fault("expiresAt", "must be a date")
		}
		end := day.AddDate(0, 0, 1).Format(time.RFC3339) // the day itself counts
		draft.ExpiresAt = &end
	}
	own := f.Faults
	by, _ := principal.From(acting)
	value := v.form.Get("once")
	slices.Sort(draft.RoleIDs)
	key, keyFaults := idempotency.Parse(by, &value, []byte("page:mintKey"), []byte(draft.Name), []byte(strings.Join(draft.RoleIDs, " ")), []byte(f.Values["expiresAt"]))
	k, err := s.o.Keys.MintKey(acting, draft, key, func(rules ...fault.Field) error {
		return collect(slices.Concat(own, rules, keyFaults)...)
	})
	switch {
	case err == nil:
		var names []string
		for _, r := range k.Roles {
			names = append(names, r.Name)
		}
		return show("key", "Your new API key", keyPage{Token: k.Token, Name: k.Name, Roles: names, ExpiresAt: k.ExpiresAt}), nil
	case fault.Is(err, fault.Conflict), fault.Is(err, fault.IdempotencyMismatch):
		return reply{}, fault.New(fault.Conflict, "already_created", "The key was made before, and it is shown once only. If you did not copy it, revoke it and make another.")
	}
	f.Faults = nil
	if err := f.refuse(err); err != nil {
		return reply{}, err
	}
	f.Values["acRoleIds"] = strings.Join(draft.RoleIDs, " ")
	return s.accountReply(ctx, v, accountPage{Key: f})
}

// Holds reports whether a box was ticked when the form was sent.
func (f form) Holds(name, value string) bool {
	return slices.Contains(strings.Fields(f.Values[name]), value)
}

func (s *Server) revokeKey(ctx context.Context, v *visit) (reply, error) {
	acting, _, err := s.inside(ctx, v)
	if err != nil {
		return reply{}, err
	}
	if err := s.o.Keys.RevokeKey(acting, v.form.Get("id")); err != nil && !fault.Is(err, fault.NotFound) {
		return reply{}, err
	}
	return goTo(accountPath + "?done=key#keys"), nil
}
