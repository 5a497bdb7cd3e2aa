package page

import (
	"context"

	"github.com/patient-mesh/patient-mesh/services/identity"
)

// launchPage is the data of the page between us and an application.
type launchPage struct{ Address string }

// launch sends the browser to an application. By a page and no redirect: browsers hold what follows a form to the
// page's form-action, however far the application leads on, and nobody can list where that is.
func (s *Server) launch(ctx context.Context, v *visit) (reply, error) {
	acting, _, err := s.inside(ctx, v)
	if err != nil {
		return reply{}, err
	}
	address, err := s.o.Launcher.Launch(acting, v.form.Get("id"))
	if err != nil {
		return reply{}, err
	}
	return show("launch", "Opening the application", launchPage{Address: address}), nil
}

// shownApplication is an external application as the page shows it.
type shownApplication struct{ ID, Name, Host string }

func (s *Server) listApplications(ctx context.Context, p *accountPage) error {
	found, err := s.o.Launcher.Launchable(ctx)
	if err != nil {
		return err
	}
	for _, a := range found {
		p.Applications = append(p.Applications, shown(a))
	}
	return nil
}

func shown(a identity.Application) shownApplication {
	host, _ := destination(a.LaunchURL)
	return shownApplication{ID: a.ID, Name: a.Name, Host: host}
}
