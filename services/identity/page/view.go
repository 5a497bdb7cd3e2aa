package page

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

//go:embed template
var templateFiles embed.FS

// view is what every template gets.
type view struct {
	Title       string
	Environment string
	Token       string
	User        *identity.User // nil when nobody is signed in
	Done        string         // what was just done, in a sentence
	DoneAt      string         // the section of the account page that says so; "" for the head of the page
	Alias       string         // where the pages are reached by a name; see Server.alias
	Data        any
}

func (s *Server) view(v *visit, r reply) view {
	title := r.title
	if r.page != "error" && r.status >= http.StatusBadRequest && r.status != http.StatusForbidden {
		title = "Error: " + title // heard first by who cannot see the summary
	}
	out := view{Title: title, Environment: s.o.Environment, Token: v.token, User: v.user, Done: done(v.query("done")), Alias: s.alias, Data: r.data}
	if r.page == "account" {
		out.DoneAt = section(v.query("done"))
	}
	return out
}

// section is where on the account page something was done: people are led back there, and would not see the page's head.
func section(code string) string {
	switch code {
	case "profile":
		return "profile"
	case "password", "totp", "passkey", "passkey-removed":
		return "security"
	case "session":
		return "sessions"
	case "key":
		return "keys"
	}
	return ""
}

// done says what a page before this one did. The address carries a code and never a text, so that nobody can put words
// into our mouth.
func done(code string) string {
	switch code {
	case "signed-out":
		return "You are signed out."
	case "verified":
		return "Your e-mail address is confirmed. You can sign in now."
	case "reset":
		return "Your password is changed, and you are signed out everywhere. Sign in with the new one."
	case "profile":
		return "Your profile is saved."
	case "password":
		return "Your password is changed."
	case "organization":
		return "You are working in another organization now."
	case "session":
		return "The session is ended."
	case "key":
		return "The key is revoked. It stops working at once."
	case "totp":
		return "The authenticator app is removed."
	case "passkey":
		return "Your passkey is ready to use."
	case "passkey-removed":
		return "The passkey is removed."
	case "agreement":
		return "The agreement is accepted."
	case "joined":
		return "Welcome! You are a member of the organization now."
	case "sent":
		return "A new code is on its way to your inbox."
	}
	return ""
}

// readTemplates makes a template of each page: the layout, the parts, and what the page says for itself.
func (s *Server) readTemplates() (map[string]*template.Template, error) {
	shared, err := template.New("").Funcs(template.FuncMap{
		"asset": s.assets.path, "day": day, "instant": instant, "meaning": meaning, "initials": initials, "first": first, "list": list,
	}).ParseFS(templateFiles, "template/layout.html", "template/part.html")
	if err != nil {
		return nil, err
	}
	files, err := fs.Glob(templateFiles, "template/*.html")
	if err != nil {
		return nil, err
	}
	all := map[string]*template.Template{}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if name == "layout" || name == "part" {
			continue
		}
		own, err := shared.Clone()
		if err != nil {
			return nil, err
		}
		if all[name], err = own.ParseFS(templateFiles, file); err != nil {
			return nil, fmt.Errorf("template %s: %w", name, err)
		}
	}
	return all, nil
}

func day(t time.Time) string     { return t.UTC().Format("2 January 2006") }
func instant(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04") + " UTC" }

func list(names []string) string { return strings.Join(names, ", ") }

// initials stand for a picture.
func initials(u *identity.User) string { return first(u.FirstName) + first(u.LastName) }

// first is the letter that a name begins with.
func first(name string) string {
	for _, r := range name {
		return strings.ToUpper(string(r))
	}
	return ""
}

// meaning says a scope in plain words.
func meaning(scope string) string {
	if scope == identity.OfflineAccess {
		return "Stay connected while you are away, until you end it"
	}
	p, _ := principal.ParsePermission(scope)
	switch p {
	case principal.PatientRead:
		return "See patients’ records"
	case principal.PatientWrite:
		return "Add and change patients’ records"
	case principal.PatientDelete:
		return "Delete patients’ records"
	case principal.PatientRestore:
		return "Restore deleted patients’ records"
	case principal.DocumentRead:
		return "Read patients’ documents"
	case principal.DocumentWrite:
		return "Add documents to patients’ records"
	case principal.MatchRead:
		return "Search for patients"
	case principal.TenantRead:
		return "See your organization’s details"
	case principal.TenantAdmin:
		return "Change your organization’s settings"
	case principal.KeyManage:
		return "Make and revoke API keys"
	case principal.UserManage:
		return "Manage your organization’s members"
	case principal.AuditRead:
		return "Read your organization’s audit trail"
	case principal.ClientManage:
		return "Manage connected applications"
	default:
		return scope
	}
}
