package identity

import (
	"context"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/secret"
	"github.com/patient-mesh/patient-mesh/services/identity/seal"
)

// ApplicationStore keeps external applications.
type ApplicationStore interface {
	// CreateApplication stores an application, as CreateKey does a key.
	CreateApplication(ctx context.Context, a Application, key idempotency.Key, entries ...audit.Entry) (repeat *idempotency.Record, err error)
	// FindApplication gives an application whatever its tenant; nil when there is none.
	FindApplication(ctx context.Context, id string) (*Application, error)
	// ListApplications gives a page of the applications of all tenants.
	ListApplications(ctx context.Context, environment string, part page.Request) (list []Application, total int64, err error)
	// ApplicationsFor gives those that users of a tenant may launch, by name, at most MostApplications.
	ApplicationsFor(ctx context.Context, environment, tenant string) ([]Application, error)
	// DeleteApplication removes an application.
	DeleteApplication(ctx context.Context, environment, id string, e audit.Entry) (done bool, err error)
}

// MostApplications is how many applications a user is shown.
const MostApplications = 100

// Launcher is the verbs of external applications: those of administrators in this file, those of users in launch.go.
// It is safe for concurrent use.
type Launcher struct {
	Applications ApplicationStore
	Codes        LaunchStore
	Tenants      Tenants
	Families     FamilyStarter
	Sealer       *seal.Sealer
	Environment  string
	PublicClient string // whose tokens a launch is exchanged for
	Now          func() time.Time
	Random       io.Reader
	NewID        func() (uuid.UUID, error)
}

func (l *Launcher) now() time.Time { return l.Now().UTC().Truncate(time.Millisecond) }

// entry tells of what is done, in a tenant's trail.
func (l *Launcher) entry(ctx context.Context, tenant, action string) audit.Entry {
	return audit.Of(ctx, l.Now(), l.NewID, action).In(tenant)
}

// SharedApplication is a new application with its secret, which is shown once.
type SharedApplication struct {
	Application

	Secret string
}

// Register makes an application. Further are faults of the request that were found before.
func (l *Launcher) Register(ctx context.Context, d ApplicationDraft, key idempotency.Key, further func(...fault.Field) error) (SharedApplication, error) {
	by, err := principal.Require(ctx, principal.ClientManage)
	if err != nil {
		return SharedApplication{}, err
	}
	trail := by.TenantID // an application of all tenants stands in the trail of who made it
	if d.TenantID != nil {
		trail = *d.TenantID
	}
	return l.create(ctx, d, key, further, l.entry(ctx, trail, auditApplicationCreate))
}

// Provide makes an application for a program of the mesh.
func (l *Launcher) Provide(ctx context.Context, d ApplicationDraft, further func(...fault.Field) error) (SharedApplication, error) {
	if _, err := principal.RequireService(ctx); err != nil {
		return SharedApplication{}, err
	}
	return l.create(ctx, d, idempotency.Key{}, further)
}

func (l *Launcher) create(ctx context.Context, d ApplicationDraft, key idempotency.Key, further func(...fault.Field) error, entries ...audit.Entry) (SharedApplication, error) {
	a, faults := d.application()
	if a.TenantID != nil && ValidID(*a.TenantID) {
		if _, err := l.Tenants.Standing(ctx, *a.TenantID, nil); fault.Is(err, fault.NotFound) {
			faults = append(faults, wrong("tenantId", "unknown_tenant", "is no tenant"))
		} else if err != nil {
			return SharedApplication{}, err
		}
	}
	if err := further(faults...); err != nil {
		return SharedApplication{}, err
	}
	id, err := l.NewID()
	if err != nil {
		return SharedApplication{}, err
	}
	a.ID, a.Environment, a.CreatedAt = id.String(), l.Environment, l.now()
	text, err := secret.Random(l.Random)
	if err != nil {
		return SharedApplication{}, err
	}
	if a.SecretSealed, err = l.Sealer.Seal([]byte(text), a.purpose()); err != nil {
		return SharedApplication{}, err
	}
	repeat, err := l.Applications.CreateApplication(ctx, a, key, entries...)
	if err != nil {
		return SharedApplication{}, err
	}
	return SharedApplication{Application: a, Secret: text}, created(repeat)
}

// purpose is what the application's secret is sealed for.
func (a Application) purpose() string { return "external_application/" + a.ID }

// List gives a page of the applications of all tenants.
func (l *Launcher) List(ctx context.Context, part page.Request) ([]Application, int64, error) {
	if _, err := principal.Require(ctx, principal.ClientManage); err != nil {
		return nil, 0, err
	}
	return l.Applications.ListApplications(ctx, l.Environment, part)
}

func noApplication() error {
	return fault.New(fault.NotFound, "application_not_found", "There is no such application.")
}

// Delete removes an application of any tenant. It cannot be launched any more, and codes that it was given are worth
// nothing; sessions that it has begun are the users', who can end them.
func (l *Launcher) Delete(ctx context.Context, id string) error {
	by, err := principal.Require(ctx, principal.ClientManage)
	if err != nil {
		return err
	}
	if !ValidID(id) {
		return noApplication()
	}
	done, err := l.Applications.DeleteApplication(ctx, l.Environment, id, l.entry(ctx, by.TenantID, auditApplicationDelete))
	if err == nil && !done {
		return noApplication()
	}
	return err
}
