package rest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/services/attachment"
	"github.com/patient-mesh/patient-mesh/services/attachment/blob"
	"github.com/patient-mesh/patient-mesh/services/attachment/blob/blobtest"
)

// mortal is a process that dies at a step: from then on it does nothing at all, until it is started again.
type mortal struct {
	attachment.ContentStore
	attachment.Intents
	attachment.Blobs
	step  string // at which it dies
	after bool   // with the step done, or not begun
	dead  bool
	ill   bool              // it lives on, and only this step fails
	do    func(name string) // what happens at the step besides, nil: it dies
}

var errDead = errors.New("nobody is there")

// at does a step, unless death is before it.
func (m *mortal) at(step, name string, do func() error) error {
	if m.dead {
		return errDead
	}
	if m.step != step {
		return do()
	}
	var err error
	if m.after {
		err = do()
	}
	if m.do != nil {
		m.do(name)
		if !m.after {
			err = do()
		}
		return err
	}
	m.dead = !m.ill
	return errDead
}

func (m *mortal) Intend(ctx context.Context, name string) error {
	return m.at("intend", name, func() error { return m.ContentStore.Intend(ctx, name) })
}

func (m *mortal) Write(ctx context.Context, name string, content io.Reader) (keyID string, err error) {
	err = m.at("write", name, func() error {
		keyID, err = m.Blobs.Write(ctx, name, content)
		return err
	})
	return keyID, err
}

func (m *mortal) Complete(
	ctx context.Context, tenant string, patientID int64, id string, c attachment.Content, e audit.Entry,
) (d *attachment.Document, err error) {
	err = m.at("complete", *c.BlobKey, func() error {
		d, err = m.ContentStore.Complete(ctx, tenant, patientID, id, c, e)
		return err
	})
	return d, err
}

func (m *mortal) Delete(ctx context.Context, name string) error {
	return m.at("delete", name, func() error { return m.Blobs.Delete(ctx, name) })
}

func (m *mortal) Forget(ctx context.Context, name string) error {
	return m.at("forget", name, func() error { return m.ContentStore.Forget(ctx, name) })
}

func (m *mortal) Claim(ctx context.Context, atMost int, lease time.Duration) (names []string, err error) {
	err = m.at("claim", "", func() error {
		names, err = m.Intents.Claim(ctx, atMost, lease)
		return err
	})
	return names, err
}

// die puts a mortal in the place of the parts.
func (m *mortal) die(h *house) {
	m.ContentStore, m.Intents, m.Blobs = h.store, h.store, h.blobs
	h.contents.Store, h.contents.Blobs = m, m
	h.collector.Intents, h.collector.Blobs = m, m
}

// Wherever a process dies, nothing half-written can be read, nothing stays behind, and the upload can be repeated.
func TestDeathBetweenAnyTwoSteps(t *testing.T) {
	t.Parallel()
	m := &mortal{}
	h := build(t, oneKey(t), m.die)
	content, files := blobtest.Bytes(100_000), 0
	for _, c := range []struct {
		step   string
		digest string // one that is not the content's has the blob discarded
		after  bool
	}{
		{"intend", "", false},
		{"intend", "", true},
		{"write", "", false},
		{"write", "", true},
		{"complete", "", false},
		{"complete", "", true},
		{"delete", digest([]byte("other")), false},
		{"delete", digest([]byte("other")), true},
		{"forget", digest([]byte("other")), false},
		{"forget", digest([]byte("other")), true},
	} {
		name := c.step + " " + map[bool]string{false: "not begun", true: "done"}[c.after]
		d := h.document(nil)
		m.step, m.after = c.step, c.after
		header := []string{"Content-Digest", digest(content)}
		if c.digest != "" {
			header[1] = c.digest
		}
		if a := h.put(v3(d.ID), content, header...); a.StatusCode == http.StatusOK || !m.dead {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.body)
		}
		if c.step == "write" && !c.after { // as far as it came
			left := filepath.Join(h.dir, h.by.TenantID, d.ID, h.blobOf(d.ID)+".18a9f2c4d5e6f708.tmp")
			if err := os.WriteFile(left, content[:1000], 0o600); err != nil {
				t.Fatal(err)
			}
		}
		m.step, m.dead = "", false
		completed := c.step == "complete" && c.after
		a := h.ask(http.MethodGet, v3(d.ID), nil)
		if completed && !bytes.Equal(a.body, content) || !completed && a.code() != "no_content" {
			t.Errorf("%s: read %d, %d bytes", name, a.StatusCode, len(a.body))
		}
		h.collect()
		if completed {
			files++
		}
		h.kept(name, 0, files)
		if a := h.put(v3(d.ID), content); a.StatusCode != http.StatusOK {
			t.Errorf("%s: repeated: %d %s", name, a.StatusCode, a.body)
		}
		if a := h.ask(http.MethodGet, v3(d.ID), nil); !bytes.Equal(a.body, content) {
			t.Errorf("%s: then read %d, %d bytes", name, a.StatusCode, len(a.body))
		}
		if !completed {
			files++
		}
	}
}

// blobOf is the name that an upload under way has given to its blob.
func (h *house) blobOf(id string) string {
	h.t.Helper()
	var name string
	err := h.admin.QueryRow(h.t.Context(), `SELECT split_part(blob_key, '/', 3) FROM blob_upload WHERE split_part(blob_key, '/', 2) = $1`, id).Scan(&name)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(h.dir, h.by.TenantID, id), 0o700); err != nil {
		h.t.Fatal(err)
	}
	return name
}

func TestDeathOfACollector(t *testing.T) {
	t.Parallel()
	m := &mortal{}
	h := build(t, noKeys(t), m.die)
	full := h.filled([]byte("hello"))
	for _, step := range []string{"claim", "delete", "forget"} {
		for _, after := range []bool{false, true} {
			d := h.document(nil)
			m.step, m.after = "complete", false
			h.put(v3(d.ID), []byte("lost")) // the process dies over it
			m.step, m.after, m.dead = step, after, false
			h.kept(step, 1, 2)
			h.exec(`UPDATE blob_upload SET expires_at = now()`)
			if _, err := h.collector.Collect(t.Context()); err == nil {
				t.Errorf("%s: the collector lives", step)
			}
			m.step, m.dead = "", false
			h.collect()
			h.kept(step, 0, 1)
		}
	}
	if a := h.ask(http.MethodGet, v3(full.ID), nil); string(a.body) != "hello" {
		t.Errorf("content was collected: %d %s", a.StatusCode, a.body)
	}
}

// A blob that cannot be deleted keeps its intent, so that it is not forgotten.
func TestWhatCannotBeDeletedIsNotForgotten(t *testing.T) {
	t.Parallel()
	m := &mortal{}
	h := build(t, noKeys(t), m.die)
	m.step, m.ill = "delete", true
	if a := h.put(v3(h.document(nil).ID), []byte("hello"), "Content-Digest", digest([]byte("HELLO"))); a.code() != "digest_mismatch" {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	h.kept("after an upload", 1, 0)
	h.exec(`UPDATE blob_upload SET expires_at = now()`)
	if n, err := h.collector.Collect(t.Context()); n != 1 || !errors.Is(err, errDead) {
		t.Errorf("collected %d, %v", n, err)
	}
	h.kept("after a collector", 1, 0)
	m.step = ""
	h.collect()
	h.kept("in the end", 0, 0)
}

// A client that is too slow for its request's budget is told so, and tidied up after when no time is left.
func TestTooSlow(t *testing.T) {
	t.Parallel()
	h := build(t, noKeys(t), nil)
	stalls, end := io.Pipe()
	go func() { _, _ = end.Write(blobtest.Bytes(20_000)) }() // and no more
	defer end.Close()
	a := h.ask(http.MethodPut, v3(h.document(nil).ID), stalls, "Mesh-Timeout", "300")
	if a.StatusCode != http.StatusBadRequest || a.code() != "request_timeout" || h.trail() != "document.upload:failure" {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	h.kept("afterwards", 0, 0)
}

// An upload that comes so late that its blob was collected, or is being, is told to come again.
func TestCollectedBeforeItWasComplete(t *testing.T) {
	t.Parallel()
	m := &mortal{}
	h := build(t, noKeys(t), m.die)
	for name, late := range map[string]func(string){
		"claimed":   func(string) { h.exec(`UPDATE blob_upload SET claimed_until = now() + interval '1 hour'`) },
		"collected": func(string) { m.step = ""; h.collect() },
	} {
		d := h.document(nil)
		before := h.files()
		m.step, m.after, m.do = "complete", false, late
		if a := h.put(v3(d.ID), []byte("hello")); a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.body)
		}
		m.step, m.do = "", nil
		h.collect()
		h.kept(name, 0, before)
		if a := h.put(v3(d.ID), []byte("hello")); a.StatusCode != http.StatusOK {
			t.Errorf("%s: repeated: %d %s", name, a.StatusCode, a.body)
		}
	}
}

// What changes while the bytes arrive is decided when they have.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	m := &mortal{}
	h := build(t, noKeys(t), m.die)
	for _, c := range []struct {
		name, sql string
		status    int
		code      string
	}{
		{"deactivated", `UPDATE document SET deactivated_at = now() WHERE id = $1`, 404, "document_not_found"},
		{"another size was declared", `UPDATE document SET declared_size = 7 WHERE id = $1`, 400, "size_mismatch"},
		{"its own size was declared", `UPDATE document SET declared_size = 5 WHERE id = $1`, 200, ""},
	} {
		d := h.document(nil)
		m.step, m.after, m.do = "complete", false, func(string) { h.exec(c.sql, d.ID) }
		if a := h.put(v3(d.ID), []byte("hello")); a.StatusCode != c.status || a.code() != c.code {
			t.Errorf("%s: %d %s", c.name, a.StatusCode, a.body)
		}
		if n := len(strings.Fields(h.trail())); n != 1 {
			t.Errorf("%s: %d entries", c.name, n)
		}
		m.step, m.do = "", nil
	}
	h.kept("afterwards", 0, 1)
}

func TestAKeyThatIsGone(t *testing.T) {
	t.Parallel()
	h := build(t, oneKey(t), nil)
	d := h.filled([]byte("hello"))
	after, err := blob.Open(t.Context(), "file://"+h.dir, blobtest.Keys(t, "k2"))
	if err != nil {
		t.Fatal(err)
	}
	h.contents.Blobs = after
	h.log.take()
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		a := h.ask(method, v3(d.ID), nil)
		log := h.log.take()
		if a.StatusCode != http.StatusInternalServerError || bytes.Contains(a.body, []byte("k1")) || bytes.Contains(a.body, []byte("key")) {
			t.Errorf("%s: %d %s", method, a.StatusCode, a.body)
		}
		if !strings.Contains(log, `k1`) || strings.Contains(log, d.Filename) {
			t.Errorf("%s: the log says %s", method, log)
		}
	}
	if a := h.put(v3(d.ID), []byte("hello")); a.StatusCode != http.StatusOK { // nothing needs to be decrypted
		t.Errorf("the same again: %d %s", a.StatusCode, a.body)
	}
	other := h.filled([]byte("under the new key"))
	h.contents.Blobs, err = blob.Open(t.Context(), "file://"+h.dir, blobtest.Keys(t, "k2", "k1"))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{d.ID: "hello", other.ID: "under the new key"} {
		if a := h.ask(http.MethodGet, v3(id), nil); string(a.body) != want {
			t.Errorf("with both keys: %d %s", a.StatusCode, a.body)
		}
	}
}

// Nothing that is damaged is answered as if it were whole.
func TestDamage(t *testing.T) {
	t.Parallel()
	h := build(t, oneKey(t), nil)
	content := blobtest.Bytes(200_000)
	d := h.filled(content)
	path := h.blobPath()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damage := func(at int) {
		t.Helper()
		changed := bytes.Clone(whole)
		changed[at] ^= 1
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damage(1000)
	if a := h.ask(http.MethodGet, v3(d.ID), nil); a.StatusCode != http.StatusInternalServerError || a.code() != "internal" || a.Header.Get("Repr-Digest") != "" {
		t.Errorf("first package: %d %s %v", a.StatusCode, a.body, a.Header)
	}
	if log := h.log.take(); !strings.Contains(log, "not what was written") {
		t.Errorf("the log says %s", log)
	}
	damage(len(whole) - 1)
	if a := h.ask(http.MethodGet, v3(d.ID), nil); a.err == nil || !bytes.HasPrefix(content, a.body) {
		t.Errorf("last package: %d, %d bytes, %v", a.StatusCode, len(a.body), a.err)
	}
	if a := h.ask(http.MethodGet, v3(d.ID), nil, "Range", "bytes=70000-70009"); a.StatusCode != http.StatusPartialContent || !bytes.Equal(a.body, content[70000:70010]) {
		t.Errorf("before the damage: %d %x", a.StatusCode, a.body)
	}
	if a := h.ask(http.MethodGet, v3(d.ID), nil, "Range", "bytes=-5"); a.StatusCode != http.StatusInternalServerError {
		t.Errorf("the damaged package: %d %x", a.StatusCode, a.body)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if a := h.ask(http.MethodGet, v3(d.ID), nil); a.StatusCode != http.StatusInternalServerError {
		t.Errorf("without its file: %d", a.StatusCode)
	}
}

// blobPath is the one file in the store.
func (h *house) blobPath() string {
	h.t.Helper()
	list, err := filepath.Glob(filepath.Join(h.dir, "*", "*", "*"))
	if err != nil || len(list) != 1 {
		h.t.Fatal(list, err)
	}
	return list[0]
}

func TestTheStoreIsAway(t *testing.T) {
	t.Parallel()
	h := build(t, noKeys(t), nil)
	full, empty := h.filled([]byte("hello")), h.document(nil)
	if err := os.RemoveAll(h.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := h.blobs.Ready(t.Context()); err == nil {
		t.Error("ready without a store")
	}
	for name, a := range map[string]answer{
		"download": h.ask(http.MethodGet, v3(full.ID), nil), "upload": h.put(v3(empty.ID), []byte("hello")),
	} {
		if a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" || bytes.Contains(a.body, []byte(h.dir)) {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.body)
		}
	}
	if err := os.Remove(h.dir); err != nil {
		t.Fatal(err)
	}
	h.collect()
	if n := h.intents(); n != 0 {
		t.Errorf("%d intents", n)
	}
}

// A hundred MiB go through in little memory, client and server together.
func TestMemory(t *testing.T) {
	h := build(t, oneKey(t), func(h *house) { h.contents.Limit = 100 << 20 })
	d := h.document(nil)
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	w := &watched{left: 100 << 20}
	if a := h.ask(http.MethodPut, v3(d.ID), w); a.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", a.StatusCode, a.body)
	}
	response, err := http.Get("http://" + h.addr + v3(d.ID))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	n, err := io.CopyBuffer(w, struct{ io.Reader }{response.Body}, make([]byte, 64<<10))
	if n != 100<<20 || err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	peak, all := int64(w.peak)-int64(before.HeapAlloc), after.TotalAlloc-before.TotalAlloc
	t.Logf("%d KiB more at most, %d KiB in all", peak>>10, all>>10)
	if peak > 12<<20 || all > 24<<20 {
		t.Errorf("%d KiB more at most, %d KiB in all", peak>>10, all>>10)
	}
}

// watched gives zeros, takes anything, and looks at the heap now and then.
type watched struct {
	left, since int
	peak        uint64
}

func (w *watched) Read(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.left -= n
	w.look(n)
	clear(p[:n])
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (w *watched) Write(p []byte) (int, error) {
	w.look(len(p))
	return len(p), nil
}

func (w *watched) look(n int) {
	if w.since += n; w.since < 1<<20 {
		return
	}
	w.since = 0
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	w.peak = max(w.peak, now.HeapAlloc)
}
