package page

import (
	"context"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// agreementPage is the data of the agreement's page.
type agreementPage struct {
	Agreement    identity.Agreement
	Paragraphs   []string
	Status       identity.AgreementStatus
	Organization string
	May          bool
}

func (s *Server) agreement(ctx context.Context, v *visit) (reply, error) {
	if s.o.Environment != config.Production {
		return reply{}, fault.New(fault.NotFound, "not_found", "There is no agreement here.")
	}
	acting, m, err := s.inside(ctx, v)
	if err != nil {
		return reply{}, err
	}
	p := agreementPage{Organization: m.Name, May: m.Permissions.Has(principal.TenantAdmin)}
	if p.Agreement, err = s.o.Agreements.Current(acting); err != nil {
		return reply{}, err
	}
	if p.Status, err = s.o.Agreements.Status(acting); err != nil {
		return reply{}, err
	}
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(p.Agreement.Text, "\r\n", "\n"), "\n\n") {
		if paragraph = strings.TrimSpace(paragraph); paragraph != "" {
			p.Paragraphs = append(p.Paragraphs, paragraph)
		}
	}
	return show("agreement", p.Agreement.Title, p), nil
}

func (s *Server) acceptAgreement(ctx context.Context, v *visit) (reply, error) {
	acting, _, err := s.inside(ctx, v)
	if err != nil {
		return reply{}, err
	}
	err = s.o.Agreements.Accept(acting, v.form.Get("id"))
	if fault.Is(err, fault.Conflict) { // there is a newer one, to be read first
		return goTo("/agreement"), nil
	}
	if err != nil {
		return reply{}, err
	}
	return goTo(accountPath + "?done=agreement"), nil
}
