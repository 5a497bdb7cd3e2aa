package page

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// begun is what the script hands to the browser's authenticator.
type begun struct {
	Options json.RawMessage `json:"options"`
	Handle  string          `json:"handle"`
}

// finished is what the script brings back.
type finished struct {
	Handle    string          `json:"handle"`
	Challenge string          `json:"challenge"`
	Name      string          `json:"name"`
	Continue  string          `json:"continue"`
	Response  json.RawMessage `json:"response"`
}

func (v *visit) finished() (finished, error) {
	var f finished
	if err := json.Unmarshal(v.body, &f); err != nil || f.Handle == "" || len(f.Response) == 0 {
		return f, fault.New(fault.Invalid, "malformed_body", "The answer of the passkey could not be read.")
	}
	return f, nil
}

func asJSON(value any) (reply, error) {
	body, err := json.Marshal(value)
	return raw(http.StatusOK, "application/json", body), err
}

func (s *Server) beginPasskey(ctx context.Context, v *visit) (reply, error) {
	if r, ok := s.proven(v); !ok {
		return r, nil
	}
	options, handle, err := s.o.People.BeginPasskey(ctx, v.user.ID)
	if err != nil {
		return reply{}, err
	}
	return asJSON(begun{options, handle})
}

func (s *Server) finishPasskey(ctx context.Context, v *visit) (reply, error) {
	if r, ok := s.proven(v); !ok {
		return r, nil
	}
	f, err := v.finished()
	if err != nil {
		return reply{}, err
	}
	if err := s.o.People.FinishPasskey(ctx, v.user.ID, f.Handle, strings.TrimSpace(f.Name), f.Response); err != nil {
		return reply{}, err
	}
	return asJSON(map[string]string{"to": accountPath + "?done=passkey#security"})
}

func (s *Server) removePasskey(ctx context.Context, v *visit) (reply, error) {
	if r, ok := s.proven(v); !ok {
		return r, nil
	}
	if err := s.o.People.RemovePasskey(ctx, v.user.ID, v.form.Get("id")); err != nil && !fault.Is(err, fault.NotFound) {
		return reply{}, err
	}
	return goTo(accountPath + "?done=passkey-removed#security"), nil
}

func (s *Server) beginPasskeySignIn(ctx context.Context, _ *visit) (reply, error) {
	options, handle, err := s.o.People.BeginPasskeySignIn(ctx)
	if err != nil {
		return reply{}, err
	}
	return asJSON(begun{options, handle})
}

func (s *Server) finishPasskeySignIn(ctx context.Context, v *visit) (reply, error) {
	f, err := v.finished()
	if err != nil {
		return reply{}, err
	}
	e, err := s.o.People.FinishPasskeySignIn(ctx, v.caller, f.Handle, f.Response)
	return s.enteredByScript(v, f, e, err)
}

func (s *Server) beginPasskeyAnswer(ctx context.Context, v *visit) (reply, error) {
	var asked struct {
		Challenge string `json:"challenge"`
	}
	if err := json.Unmarshal(v.body, &asked); err != nil || asked.Challenge == "" {
		return reply{}, fault.New(fault.Invalid, "malformed_body", "Start signing in again.")
	}
	options, handle, err := s.o.People.BeginPasskeyAnswer(ctx, asked.Challenge)
	if err != nil {
		return reply{}, err
	}
	return asJSON(begun{options, handle})
}

func (s *Server) finishPasskeyAnswer(ctx context.Context, v *visit) (reply, error) {
	f, err := v.finished()
	if err != nil {
		return reply{}, err
	}
	e, err := s.o.People.FinishPasskeyAnswer(ctx, v.caller, f.Challenge, f.Handle, f.Response)
	return s.enteredByScript(v, f, e, err)
}

// enteredByScript goes on as a form would, with the script going where a redirect would lead.
func (s *Server) enteredByScript(v *visit, f finished, e identity.Entered, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	v.form.Set("continue", f.Continue)
	r, err := s.entered(v, e)
	if err != nil {
		return reply{}, err
	}
	return asJSON(map[string]string{"to": r.to})
}
