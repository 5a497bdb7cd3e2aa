package main

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	netmail "net/mail"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/patient-mesh/patient-mesh/libs/outbox"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/limit"
	"github.com/patient-mesh/patient-mesh/services/identity/mail"
	"github.com/patient-mesh/patient-mesh/services/identity/password"
	"github.com/patient-mesh/patient-mesh/services/identity/store"
)

// PeopleSettings is the part of the configuration that is about people who sign in.
type PeopleSettings struct {
	SMTPURL  string `env:"SMTP_URL"`  // smtp://user:password@host:587 with STARTTLS, or smtps://…
	MailFrom string `env:"MAIL_FROM"` // whom letters come from
	MailDir  string `env:"MAIL_DIR"`  // in the place of SMTP_URL: a folder that letters are written to

	SignInFor  time.Duration `env:"SIGN_IN_FOR" envDefault:"12h"` // how long a browser stays signed in at most
	SignInIdle time.Duration `env:"SIGN_IN_IDLE" envDefault:"2h"` // and when it is not used

	// What one address may do: fail to sign in to so many accounts in 15 minutes, register and ask for new passwords so
	// often in an hour.
	SignInsPerAddress       int `env:"SIGN_IN_PER_ADDRESS" envDefault:"20"`
	RegistrationsPerAddress int `env:"REGISTER_PER_ADDRESS" envDefault:"10"`
	ResetsPerAddress        int `env:"RESET_PER_ADDRESS" envDefault:"20"`
}

// fromNobody is whom letters in a folder come from when nothing else is said.
const fromNobody = "Patient Mesh <no-reply@patient-mesh.invalid>"

// post makes what brings letters on their way. Without a way the service does not start: people could not get in.
func (c PeopleSettings) post(service *identity.Service, log *slog.Logger) (*mail.Post, error) {
	p := &mail.Post{Sealer: service.Sealer, From: c.MailFrom, Log: log, Now: func() time.Time { return service.Now() }}
	var err error
	switch {
	case c.SMTPURL != "":
		p.Sender, err = mail.NewSMTP(c.SMTPURL, nil)
	case c.MailDir != "":
		p.Sender, err = mail.NewFolder(c.MailDir)
		if p.From == "" {
			p.From = fromNobody
		}
	default:
		err = errors.New("SMTP_URL or MAIL_DIR must be set: people are mailed links and codes")
	}
	if err != nil {
		return nil, err
	}
	if _, err := netmail.ParseAddress(p.From); err != nil {
		return nil, errors.New("MAIL_FROM must be an address")
	}
	p.Writer, err = mail.NewWriter()
	return p, err
}

// organizations is all that we ask of the tenant service.
type organizations interface {
	identity.Tenants
	identity.Organizations
}

// newPeople makes the verbs of people round those of credentials.
func newPeople(c settings, service *identity.Service, kept *store.Store, redis redis.UniversalClient, o organizations, families identity.Families) (*identity.People, error) {
	public, err := c.issuer()
	if err != nil {
		return nil, err
	}
	common, err := password.NewCommon()
	if err != nil {
		return nil, err
	}
	strangers, err := otel.Meter("mesh/identity").Int64Counter("identity.sign_in.strangers", metric.WithUnit("{try}"),
		metric.WithDescription("Passwords that were tried for an address of no account."))
	if err != nil {
		return nil, err
	}
	p := &identity.People{
		Strangers: strangers,
		Users:     kept, Links: kept, SignIns: kept, Invitations: kept, Organizations: o, Families: families,
		Limits: limit.New(redis), Passwords: service.Passwords, Common: common, Hasher: service.Hasher, Sealer: service.Sealer,
		Settings: identity.PeopleSettings{
			Environment: c.Environment, PublicURL: public, SignInFor: c.SignInFor, SignInIdle: c.SignInIdle,
			SignInsPerAddress: c.SignInsPerAddress, RegistrationsPerAddress: c.RegistrationsPerAddress, ResetsPerAddress: c.ResetsPerAddress,
		},
		Now: func() time.Time { return service.Now() }, Random: rand.Reader, NewID: uuid.NewV7, Nudge: func() { service.Nudge() },
	}
	return p, secondFactors(p, c.Environment, kept.Log, kept)
}

// relays are what carries effects out of the service, each at its own pace: a mail server or a tenant service that does
// not answer must not hold a revocation up.
type relays []*outbox.Relay

func (r relays) nudge() {
	for _, one := range r {
		one.Nudge()
	}
}

func (r relays) run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, one := range r {
		all.Go(func() { _ = one.Run(ctx) })
	}
	all.Wait()
	return ctx.Err()
}

// tenantEffects brings about what belongs to the tenant service.
type tenantEffects interface {
	Memberships(ctx context.Context, userID string) ([]identity.Membership, error)
	CreateTenant(ctx context.Context, payload []byte) error
	AddMember(ctx context.Context, payload []byte) error
}

// peopleRelays carry letters, and what belongs to the tenant service.
func peopleRelays(db *pg.DB, log *slog.Logger, kept *store.Store, post *mail.Post, tenants tenantEffects) (relays, error) {
	letters, err := outbox.NewRelay(db, log, outbox.Options{
		Handlers: map[string]outbox.Handler{identity.LetterEffect: post.Handle},
		Lease:    mail.Lease, FirstPause: mail.FirstPause, LongestPause: mail.LongestPause,
	})
	if err != nil {
		return nil, err
	}
	organization, err := outbox.NewRelay(db, log, outbox.Options{
		Handlers: map[string]outbox.Handler{identity.TenantEffect: tenants.CreateTenant, identity.MemberEffect: tenants.AddMember},
	})
	if err != nil {
		return nil, err
	}
	trail, err := outbox.NewRelay(db, log, outbox.Options{Handlers: map[string]outbox.Handler{
		identity.TrailEffect: identity.Trail{Memberships: tenants.Memberships, Keep: kept.KeepEntries, Now: time.Now}.Handle,
	}})
	return relays{letters, organization, trail}, err
}
