// Package setup prepares a mesh that runs in containers, in steps that are repeated at every start and do what is
// missing: secrets at random, as files for each program alone; databases and roles; and the first content. It is to
// compose what tools/mesh is to one machine, and shares its parts.
package setup

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/tools/mesh/provision"
	"github.com/patient-mesh/patient-mesh/tools/mesh/seed"
	"github.com/patient-mesh/patient-mesh/tools/mesh/state"
)

// Setup is where things are. The zero value of none is useful.
type Setup struct {
	State   string // folder that outlives all containers: what was chosen, and demo.json
	Secrets string // folder with a folder for each program, which it sees alone

	Postgres    string // host:port
	Redis       string // host:port
	Peer        func(service string) string
	Gateway     string // URL as the world has it
	Environment string
	Blobs       string // BLOB_URL of the profile
	Otel        string // OTEL_EXPORTER_OTLP_ENDPOINT of the profile; "" where nobody collects
	SMTP        string // host:port of the profile's mail server; "" where mail goes into a folder
	Say         func(line string)
}

const (
	secretsFile  = "setup.json"
	seedFile     = "seed.json"
	demoFile     = "demo.json"
	publicClient = "prs-public"
)

// chosen is what is made once and kept.
type chosen struct {
	state.Secrets

	ContentKey      string    `json:"contentKey"`
	GrafanaPassword string    `json:"grafanaPassword"`
	MinioPassword   string    `json:"minioPassword"`
	Blobs           string    `json:"blobs"` // where documents are; "" until the first preparation
	Mailpit         authority `json:"mailpit"`
}

// choose reads what was chosen, or chooses.
func (s Setup) choose(dir *state.Dir) (c chosen, err error) {
	if found, err := dir.Read(secretsFile, &c); err != nil || found {
		return c, err
	}
	c = chosen{
		Secrets: state.Secrets{
			MeshKey: "compose:" + key(), CredentialKey: key(), PostgresPassword: state.Password(), RedisPassword: state.Password(),
			RolePasswords: map[string]string{},
		},
		ContentKey: "compose:" + key(), GrafanaPassword: state.Password(), MinioPassword: state.Password(),
	}
	for _, service := range provision.Services() {
		c.RolePasswords["prs_"+service], c.RolePasswords["prs_"+service+"_owner"] = state.Password(), state.Password()
	}
	if c.Mailpit, err = newAuthority("mailpit", time.Now()); err != nil {
		return c, err
	}
	return c, dir.Write(secretsFile, c)
}

func key() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails; the runtime ends the program instead
	return base64.StdEncoding.EncodeToString(b)
}

// Secret makes all secrets and lays them out for those that are started before the databases are there.
func (s Setup) Secret() error {
	return s.with(func(dir *state.Dir) error {
		c, err := s.choose(dir)
		if err != nil {
			return err
		}
		redis := (&url.URL{Scheme: "redis", User: url.UserPassword("", c.RedisPassword), Host: s.Redis, Path: "/"}).String()
		files := map[string]string{
			"postgres/password": c.PostgresPassword,
			"redis/password":    c.RedisPassword,
			"redis/redis.conf":  "requirepass " + c.RedisPassword,
			"grafana/password":  c.GrafanaPassword,
			"minio/user":        minioUser,
			"minio/password":    c.MinioPassword,
			"mailpit/cert.pem":  c.Mailpit.Certificate,
			"mailpit/key.pem":   c.Mailpit.Key,

			"identity/credential_key":          c.CredentialKey,
			"identity/ca/mailpit.pem":          c.Mailpit.Certificate,
			"attachment/content_keys":          c.ContentKey,
			"attachment/aws_access_key_id":     minioUser,
			"attachment/aws_secret_access_key": c.MinioPassword,
		}
		for _, program := range append(provision.Services(), "gateway") {
			files[program+"/mesh_key"] = c.MeshKey
		}
		for _, program := range []string{"gateway", "identity", "tenant"} {
			files[program+"/redis_url"] = redis
		}
		for _, service := range provision.Services() {
			files[service+"/database_url"] = s.database(service, "prs_"+service, c)
			files["owner/"+service] = s.database(service, "prs_"+service+"_owner", c)
		}
		return s.lay(files)
	})
}

const minioUser = "patient-mesh"

func (s Setup) database(service, role string, c chosen) string {
	return (&url.URL{Scheme: "postgres", User: url.UserPassword(role, c.RolePasswords[role]), Host: s.Postgres, Path: "/prs_" + service}).String()
}

var errMoved = errors.New("the documents of this mesh lie elsewhere")

// Prepare makes databases and roles, and tells the programs what is up to the profile. Documents stay where the first
// start put them: those of another place would seem lost.
func (s Setup) Prepare(ctx context.Context) error {
	return s.with(func(dir *state.Dir) error {
		c, err := s.choose(dir)
		if err != nil {
			return err
		}
		admin := url.URL{Scheme: "postgres", User: url.UserPassword("postgres", c.PostgresPassword), Host: s.Postgres, Path: "/postgres"}
		_, err = provision.Run(ctx, provision.Options{
			AdminURL: admin.String(), Services: provision.Services(),
			Password:    func(role string) string { return c.RolePasswords[role] },
			BeforeFirst: func() error { return dir.Remove(seedFile) }, // what was seeded was in other databases
		})
		if err != nil {
			return err
		}
		switch folder := isFolder(c.Blobs); {
		case c.Blobs == "":
			c.Blobs = s.Blobs
			if err := dir.Write(secretsFile, c); err != nil {
				return err
			}
		case !folder && isFolder(s.Blobs):
			return fmt.Errorf("%w: in MinIO, which is started by the profile full only; start that, or remove all data with down --volumes", errMoved)
		case folder && !isFolder(s.Blobs):
			s.Say("documents stay in the volume of the profile core, where this mesh began to keep them")
		}
		smtp := ""
		if s.SMTP != "" {
			smtp = "smtp://" + s.SMTP
		}
		files := map[string]string{"attachment/blob_url": c.Blobs, "identity/smtp_url": smtp}
		for _, program := range append(provision.Services(), "gateway") {
			files[program+"/otel_endpoint"] = s.Otel
		}
		return s.lay(files)
	})
}

func isFolder(blobs string) bool {
	u, err := url.Parse(blobs)
	return err == nil && u.Scheme == "file"
}

// Seed fills the mesh, or goes on where that was broken off, and writes demo.json.
func (s Setup) Seed(ctx context.Context) error {
	return s.with(func(dir *state.Dir) error {
		c, err := s.choose(dir)
		if err != nil {
			return err
		}
		keys, err := principal.ParseKeyring(c.MeshKey)
		if err != nil {
			return err
		}
		progress := &seed.Progress{}
		if found, err := dir.Read(seedFile, progress); err != nil {
			return err
		} else if !found {
			if progress, err = seed.Plan(s.Environment); err != nil {
				return err
			}
			if err := dir.Write(seedFile, progress); err != nil {
				return err
			}
		}
		if progress.Environment != s.Environment {
			return fmt.Errorf("this mesh is one of the environment %s, not of %s: remove all data with down --volumes, or set ENVIRONMENT", progress.Environment, s.Environment) //nolint:err113 // told, not decided upon
		}
		if err := s.await(ctx, "identity", "tenant"); err != nil {
			return err
		}
		caller := func(service string) seed.Caller {
			return seed.Caller{Address: s.Peer(service), Environment: s.Environment, Keys: keys, Client: http.DefaultClient, Now: time.Now}
		}
		seeder := seed.Seeder{
			Identity: caller("identity"), Tenant: caller("tenant"),
			Save: func(p *seed.Progress) error { return dir.Write(seedFile, p) },
		}
		if err := seeder.Run(ctx, progress); err != nil {
			return err
		}
		return dir.Write(demoFile, progress.Demo(s.Gateway, s.Environment, publicClient))
	})
}

// with holds the state folder meanwhile.
func (s Setup) with(do func(*state.Dir) error) error {
	dir, err := state.Open(s.State)
	if err != nil {
		return err
	}
	return errors.Join(do(dir), dir.Close())
}

// lay writes the files below the secrets' folder, each whole or not at all, and readable for whoever sees the folder:
// that is one program.
func (s Setup) lay(files map[string]string) error {
	for name, content := range files {
		path := filepath.Join(s.Secrets, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // see above
			return err
		}
		// One that was left behind, by a start that was ended in between, may be written by nobody, root without capabilities included.
		if err := os.Remove(path + ".new"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.WriteFile(path+".new", []byte(content), 0o444); err != nil { //nolint:gosec // see above
			return err
		}
		if err := os.Rename(path+".new", path); err != nil {
			return err
		}
	}
	return nil
}

// The services that are seeded may just be starting.
const (
	awaitLimit = 2 * time.Minute
	awaitPause = 100 * time.Millisecond
)

// await returns when the services say that they can serve.
func (s Setup) await(ctx context.Context, services ...string) error {
	ctx, cancel := context.WithTimeout(ctx, awaitLimit)
	defer cancel()
	for _, service := range services {
		for {
			err := ready(ctx, s.Peer(service))
			if err == nil {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s does not get ready: %w", service, err)
			case <-time.After(awaitPause):
			}
		}
	}
	return nil
}

func ready(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}
