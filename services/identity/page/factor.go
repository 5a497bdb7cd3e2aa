package page

import (
	"context"
	"encoding/base64"
	"html/template"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// enrolPage is the data of the page that shows a new TOTP secret.
type enrolPage struct {
	Form   form
	Secret string       // in groups of four, as people type it; "" after a wrong code: it is shown once
	URI    template.URL // otpauth, for who reads this on the phone itself
	QR     template.URL
}

func (s *Server) beginTOTP(ctx context.Context, v *visit) (reply, error) {
	if r, ok := s.proven(v); !ok {
		return r, nil
	}
	e, err := s.o.People.BeginTOTP(ctx, v.user.ID)
	if err != nil {
		return reply{}, err
	}
	return show("totp", "Set up an authenticator app", enrolPage{
		Secret: grouped(e.Secret),
		URI:    template.URL(e.URI),                                                              //nolint:gosec // our own otpauth address
		QR:     template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(e.QR)), //nolint:gosec // our own picture
	}), nil
}

func grouped(text string) string {
	var out strings.Builder
	for i, r := range text {
		if i > 0 && i%4 == 0 {
			out.WriteByte(' ')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// codesPage is the data of the page that shows recovery codes.
type codesPage struct {
	Codes []string
	New   bool // the app was enrolled just now
}

// confirmTOTP shows the recovery codes in its answer, as they are shown once.
func (s *Server) confirmTOTP(ctx context.Context, v *visit) (reply, error) {
	if r, ok := s.proven(v); !ok {
		return r, nil
	}
	f := form{}
	code := v.text("code")
	if code == "" {
		f.fault("code", "is required")
	} else {
		codes, err := s.o.People.ConfirmTOTP(ctx, v.user.ID, code)
		switch {
		case err == nil:
			return show("recovery-codes", "Save your recovery codes", codesPage{Codes: codes, New: true}), nil
		case fault.Is(err, fault.Invalid), fault.Is(err, fault.Unauthenticated):
			f.fault("code", "is not right. Wait for the next one and try again")
		case fault.Is(err, fault.NotFound), fault.Is(err, fault.Conflict):
			return goTo(accountPath + "#security"), nil // nothing is waiting to be confirmed
		default:
			return reply{}, err
		}
	}
	return wrong(show("totp", "Set up an authenticator app", enrolPage{Form: f})), nil
}

func (s *Server) removeTOTP(ctx context.Context, v *visit) (reply, error) {
	if r, ok := s.proven(v); !ok {
		return r, nil
	}
	if err := s.o.People.RemoveTOTP(ctx, v.user.ID); err != nil {
		return reply{}, err
	}
	return goTo(accountPath + "?done=totp#security"), nil
}

func (s *Server) newRecoveryCodes(ctx context.Context, v *visit) (reply, error) {
	if r, ok := s.proven(v); !ok {
		return r, nil
	}
	codes, err := s.o.People.NewRecoveryCodes(ctx, v.user.ID)
	if err != nil {
		return reply{}, err
	}
	return show("recovery-codes", "Save your recovery codes", codesPage{Codes: codes}), nil
}
