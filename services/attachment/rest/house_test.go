package rest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2" //nolint:depguard // the app whose routes are tested
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/attachment"
	"github.com/patient-mesh/patient-mesh/services/attachment/blob"
	"github.com/patient-mesh/patient-mesh/services/attachment/blob/blobtest"
	"github.com/patient-mesh/patient-mesh/services/attachment/rest"
	"github.com/patient-mesh/patient-mesh/services/attachment/store"
)

const (
	patientID = 4711
	limit     = 1 << 20
)

// house is the service on a real database and a folder, behind a listening app.
type house struct {
	t         testing.TB
	addr      string
	dir       string // of the blobs
	log       *lines
	admin     *pgx.Conn
	store     *store.Store
	blobs     *blob.Store
	contents  *attachment.Contents
	collector *attachment.Collector
	by        principal.Principal
}

// lines is a log that is read while it is written.
type lines struct {
	lock sync.Mutex
	text []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.text = append(l.text, p...)
	return len(p), nil
}

// take gives what was logged since.
func (l *lines) take() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	text := string(l.text)
	l.text = nil
	return text
}

// build makes a house. Change may put something else in the place of its parts, before anybody comes.
func build(t testing.TB, keys blob.Keys, change func(h *house)) *house {
	t.Helper()
	database := testkit.Postgres(t, store.Migrations())
	db, err := pg.Open(pg.Config{URL: database.URL, MaxConns: 12})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	admin, err := pgx.Connect(t.Context(), database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(context.Background()) })
	h := &house{t: t, dir: t.TempDir(), log: &lines{}, admin: admin, store: store.New(db, slog.New(slog.DiscardHandler))}
	h.by = principal.Principal{TenantID: uuid.NewString(), Kind: principal.APIKey, CredentialID: "key", Permissions: principal.All}
	if h.blobs, err = blob.Open(t.Context(), "file://"+h.dir, keys); err != nil {
		t.Fatal(err)
	}
	service := &attachment.Service{Store: h.store, Now: time.Now, NewID: uuid.NewV7}
	h.contents = &attachment.Contents{Service: service, Store: h.store, Blobs: h.blobs, Limit: limit}
	h.collector = &attachment.Collector{Intents: h.store, Blobs: h.blobs, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(h)
	}
	h.serve()
	return h
}

func (h *house) serve() {
	h.t.Helper()
	app, err := web.New(web.Options{Name: "attachment", Logger: slog.New(slog.NewTextHandler(h.log, nil)), Stream: true})
	if err != nil {
		h.t.Fatal(err)
	}
	server := &rest.Server{Contents: h.contents}
	server.MountContent(app, func(c *fiber.Ctx) error {
		by := h.by
		if c.Get("Test-Reader") != "" {
			by.Permissions = principal.DocumentRead
		}
		ctx := principal.With(c.UserContext(), by)
		c.SetUserContext(attachment.WithPatient(ctx, c.Params("patient") == "4711"))
		return c.Next()
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = app.Listener(listener) }()
	h.addr = listener.Addr().String()
	h.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = app.ShutdownWithContext(ctx)
		<-done
	})
}

// document makes a document without content and gives it.
func (h *house) document(change func(d *attachment.Document)) attachment.Document {
	h.t.Helper()
	at := time.Now().UTC().Truncate(time.Millisecond)
	d := attachment.Document{
		ID: uuid.Must(uuid.NewV7()).String(), PatientID: patientID, Type: "document", ContentType: "application/pdf", Filename: "a.pdf",
		Version: 1, CreatedAt: at, UpdatedAt: at,
	}
	if change != nil {
		change(&d)
	}
	e := audit.Of(principal.With(context.Background(), h.by), at, uuid.NewV7, "document.create")
	if _, err := h.store.Create(h.t.Context(), h.by.TenantID, d, idempotency.Key{}, 200, nil, e); err != nil {
		h.t.Fatal(err)
	}
	h.exec(`DELETE FROM audit_entry`)
	return d
}

func (h *house) exec(sql string, args ...any) {
	h.t.Helper()
	if _, err := h.admin.Exec(context.Background(), sql, args...); err != nil {
		h.t.Fatal(err)
	}
}

// trail takes the entries that have been kept, as action:outcome.
func (h *house) trail() string {
	h.t.Helper()
	var list []string
	rows, err := h.admin.Query(context.Background(), `
		WITH gone AS (DELETE FROM audit_entry RETURNING seq, entries)
		SELECT e->>'action' || ':' || (e->>'outcome') FROM gone, json_array_elements(entries) e ORDER BY seq`)
	if err == nil {
		list, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return strings.Join(list, " ")
}

// intents is how many uploads are under way, or left behind.
func (h *house) intents() (n int) {
	h.t.Helper()
	if err := h.admin.QueryRow(context.Background(), `SELECT count(*) FROM blob_upload`).Scan(&n); err != nil {
		h.t.Fatal(err)
	}
	return n
}

// files is how many files lie in the store, whole or not.
func (h *house) files() (n int) {
	h.t.Helper()
	err := filepath.WalkDir(h.dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

// kept fails unless so many intents and files are there.
func (h *house) kept(what string, intents, files int) {
	h.t.Helper()
	if i, f := h.intents(), h.files(); i != intents || f != files {
		h.t.Errorf("%s: %d intents and %d files, want %d and %d", what, i, f, intents, files)
	}
}

// collect lets an hour pass, and the collector come.
func (h *house) collect() {
	h.t.Helper()
	h.exec(`UPDATE blob_upload SET expires_at = now(), claimed_until = CASE WHEN claimed_until IS NULL THEN NULL ELSE now() END`)
	if _, err := h.collector.Collect(h.t.Context()); err != nil {
		h.t.Error(err)
	}
}

func v2(id string) string { return "/v2/patient/4711/document/" + id + "/content" }
func v3(id string) string { return "/v3/patient/4711/attach/" + id + "/content" }

// answer is what came back.
type answer struct {
	*http.Response
	body []byte
	err  error // of the body
}

func (a answer) code() string {
	var problem struct{ Code string }
	_ = json.Unmarshal(a.body, &problem)
	return problem.Code
}

// ask sends a request; header is name, value, name, value. A body of a type that net/http does not know goes in chunks.
func (h *house) ask(method, path string, body io.Reader, header ...string) answer {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), method, "http://"+h.addr+path, body)
	if err != nil {
		h.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Errorf("%s %s: %v", method, path, err)
		return answer{Response: &http.Response{Header: http.Header{}}}
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	return answer{response, got, err}
}

// put uploads.
func (h *house) put(path string, content []byte, header ...string) answer {
	h.t.Helper()
	return h.ask(http.MethodPut, path, bytes.NewReader(content), header...)
}

// filled makes a document with content.
func (h *house) filled(content []byte) attachment.Document {
	h.t.Helper()
	d := h.document(nil)
	if a := h.put(v3(d.ID), content); a.StatusCode != http.StatusOK {
		h.t.Fatalf("upload: %d %s", a.StatusCode, a.body)
	}
	h.exec(`DELETE FROM audit_entry`)
	return d
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
}

func hexSum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// chunked hides how long a body is.
func chunked(content []byte) io.Reader { return struct{ io.Reader }{bytes.NewReader(content)} }

func noKeys(t testing.TB) blob.Keys { t.Helper(); return blobtest.Keys(t) }
func oneKey(t testing.TB) blob.Keys { t.Helper(); return blobtest.Keys(t, "k1") }
