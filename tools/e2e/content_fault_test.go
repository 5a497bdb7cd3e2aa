package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

const (
	strongestLimit = 100<<20 + 3 // of content in the mesh of TestContentOfItsOwnMesh
	shortestPause  = time.Second
)

// TestContentOfItsOwnMesh has a mesh with keys for content, an odd limit, little patience and a busy collector, whose
// programs are measured first and killed last.
func TestContentOfItsOwnMesh(t *testing.T) {
	keys := "second:" + strings.Repeat("A", 42) + "E=,first:" + strings.Repeat("B", 42) + "A="
	t.Parallel()
	m := private(t, mesh.Options{
		Env:   map[string]string{"CONTENT_LIMIT": strconv.Itoa(strongestLimit), "STREAM_IDLE": shortestPause.String()},
		EnvOf: map[string]map[string]string{"attachment": {"CONTENT_KEYS": keys, "COLLECT_EVERY": "100ms"}},
	})
	for _, part := range []struct {
		name string
		test func(*testing.T, *mesh.Mesh)
	}{
		{"memory", memory},
		{"limit", contentLimit},
		{"ciphertext", ciphertext},
		{"pauses", pauses},
		{"an upload that outlives its intent", outlives},
		{"away", attachmentAway},
		{"killed", killed},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, m) })
	}
}

// flow is a client's upload of bytes as they are made, and its download into a hash: nothing of it is kept.
func (c *client) flow(method, path string, body io.Reader) (status int, sum [sha256.Size]byte, length int64) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header = c.header.Clone()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	hash := sha256.New()
	if length, err = io.Copy(hash, resp.Body); err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, [sha256.Size]byte(hash.Sum(nil)), length
}

// endless is the same noise each time it is made anew.
func endless(seed byte) io.Reader { return rand.NewChaCha8([32]byte{seed}) }

// halting gives what it reads, and pauses on the way.
type halting struct {
	io.Reader
	read, next int
}

func (h *halting) Read(p []byte) (int, error) {
	if h.read >= h.next {
		h.next += 10 << 20
		time.Sleep(50 * time.Millisecond) // the pace of the client is what is tested
	}
	n, err := h.Reader.Read(p)
	h.read += n
	return n, err
}

// memory sends 100 MiB up and down. Nobody on the way keeps more of it than a few buffers, however fast one side is.
func memory(t *testing.T, m *mesh.Mesh) {
	const large, bound = 100 << 20, 32 << 20
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	d := c.blank()
	path := c.blank().at + "/content"
	c.put(path, noise(50, 1<<20)).is(ok)
	c.get(path).is(ok)
	idle := map[string]int{}
	for _, name := range []string{"gateway", "patient", "attachment"} {
		idle[name] = resident(t, m, name, "VmRSS")
		forgetPeak(t, m, name)
	}
	hash := sha256.New()
	began := time.Now()
	if status, _, _ := c.flow(http.MethodPut, d.at+"/content", &halting{Reader: io.TeeReader(io.LimitReader(endless(1), large), hash)}); status != ok {
		t.Fatalf("answered %d", status)
	}
	up := time.Since(began)
	for _, path := range []string{d.at, of2(d.at)} {
		if status, sum, length := c.flow(http.MethodGet, path+"/content", nil); status != ok || length != large || !bytes.Equal(sum[:], hash.Sum(nil)) {
			t.Errorf("%d bytes with %x came back, with %d", length, sum, status)
		}
	}
	t.Logf("100 MiB up in %v, and down twice in %v", up, time.Since(began)-up)
	stalls(t, c, d.at+"/content")
	if raced(t, m) {
		t.Skip("programs built with the race detector keep a shadow of their memory, to which no bound applies")
	}
	for name, before := range idle {
		peak := resident(t, m, name, "VmHWM")
		t.Logf("%s: %d MiB idle, %d MiB at most", name, before>>20, peak>>20)
		if peak-before > bound {
			t.Errorf("%s took %d MiB more than idle for a content of 100 MiB", name, (peak-before)>>20)
		}
	}
}

// stalls begins downloads that it does not take: who sends them waits, and is left at the end.
func stalls(t *testing.T, c *client, path string) {
	for range 4 {
		w := c.dial()
		_ = w.conn.SetReadBuffer(64 << 10)
		w.ask(http.MethodGet, path, "", "")
		if _, err := w.in.Peek(1000); err != nil {
			t.Error(err)
		}
		defer func() { // all four have been given up by then: a client that does not read is left after the pause
			_ = w.conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			if n, err := io.Copy(io.Discard, w.in); n > 50<<20 || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%d bytes were sent to a client that does not read, %v", n, err)
			}
		}()
	}
	time.Sleep(2 * shortestPause) // that long the client does not read
}

// resident is a figure of /proc, in bytes.
func resident(t *testing.T, m *mesh.Mesh, name, figure string) int {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.Process(name).Pid()))
	if err != nil {
		t.Skip("memory is measured on Linux: ", err)
	}
	for line := range strings.Lines(string(raw)) {
		if rest, found := strings.CutPrefix(line, figure+":"); found {
			kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatalf("no %s of %s", figure, name)
	return 0
}

// forgetPeak makes VmHWM what is resident now (proc(5), clear_refs).
func forgetPeak(t *testing.T, m *mesh.Mesh, name string) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", m.Process(name).Pid()), []byte("5"), 0); err != nil {
		t.Skip("the peak cannot be measured here: ", err)
	}
}

// contentLimit: exactly the limit is content, and one byte more is not, however it is told.
func contentLimit(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	d := c.blank()
	for _, path := range []string{d.at, of2(d.at)} {
		w := c.dial().ask(http.MethodPut, path+"/content", measured+strconv.Itoa(strongestLimit+1), "x")
		w.hears(http.MethodPut, path+"/content").refused(http.StatusRequestEntityTooLarge, "content_too_large")
	}
	w := c.dial().ask(http.MethodPut, d.at+"/content", chunked, "")
	poured := make(chan error)
	go func() {
		_, err := w.pour(chunk(noise(51, 1<<20)), strongestLimit+5<<20)
		poured <- err
	}()
	w.hears(http.MethodPut, d.at+"/content").refused(http.StatusRequestEntityTooLarge, "content_too_large")
	if rest, err := io.Copy(io.Discard, w.in); err != nil || rest != 0 {
		t.Errorf("after the answer: %d bytes, %v", rest, err)
	}
	if err := <-poured; err != nil {
		t.Errorf("the connection went before the answer was read: %v", err)
	}
	c.empty(d)
	eventually(t, 10*time.Second, func() bool { return len(blobs(t, m.Path("blobs"), d.ID)) == 0 })
	if status, _, _ := c.flow(http.MethodPut, d.at+"/content", io.LimitReader(endless(2), strongestLimit)); status != ok {
		t.Errorf("exactly the limit is answered with %d", status)
	}
	hash := sha256.New()
	_, _ = io.Copy(hash, io.LimitReader(endless(2), strongestLimit))
	if status, sum, length := c.flow(http.MethodGet, d.at+"/content", nil); status != ok || length != strongestLimit || !bytes.Equal(sum[:], hash.Sum(nil)) {
		t.Errorf("%d bytes come back, with %d", length, status)
	}
	c.delete(d.at).is(ok)
}

// ciphertext: what lies in the folder tells nothing, and ranges of it are what they are of the plain bytes.
func ciphertext(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	d, raw := c.blank(), bytes.Repeat([]byte("What the scanner saw. "), 10_000)
	c.put(d.at+"/content", raw).is(ok)
	c.holds(d, raw)
	files := blobs(t, m.Path("blobs"), d.ID)
	if len(files) != 1 {
		t.Fatal(files)
	}
	stored, err := os.ReadFile(files[0])
	if err != nil || len(stored) < len(raw) || bytes.Contains(stored, []byte("scanner")) {
		t.Errorf("%v, %d bytes are stored of %d: %.40q", err, len(stored), len(raw), stored)
	}
	second := c.blank()
	raw = noise(52, 200_007)
	c.put(second.at+"/content", raw).is(ok)
	ranges(c, second, raw)

	// A folder that was tampered with gives nothing rather than something else.
	for name, change := range map[string]func([]byte) []byte{
		"a flipped bit": func(b []byte) []byte { b[len(b)/2] ^= 1; return b }, "a lost end": func(b []byte) []byte { return b[:len(b)-1] },
		"another's": func([]byte) []byte { return stored }, "nothing": func([]byte) []byte { return nil },
	} {
		d := c.blank()
		c.put(d.at+"/content", raw).is(ok)
		file := blobs(t, m.Path("blobs"), d.ID)[0]
		was, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, change(bytes.Clone(was)), 0o600); err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base+d.at+"/content", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header = c.header.Clone()
		if a, err := c.send(req); err == nil && a.status == ok {
			t.Errorf("%s is answered with %d and %d bytes", name, a.status, len(a.raw))
		}
	}
}

// pauses: who makes a pause that is too long is not waited for; who is merely slow is.
func pauses(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	var all sync.WaitGroup
	raw := noise(53, 100_000)
	for _, framing := range []string{measured + strconv.Itoa(len(raw)), chunked} {
		for _, amount := range []int{0, 1, 70_000} {
			if amount == 0 && framing != chunked {
				continue // which counts as the head of a request still on its way
			}
			d := c.blank()
			all.Go(func() {
				body := string(raw[:amount])
				if framing == chunked && amount > 0 {
					body = chunk(raw[:amount])
				}
				w := c.dial().ask(http.MethodPut, d.at+"/content", framing, body)
				began := time.Now()
				if a := w.hears(http.MethodPut, d.at+"/content"); a.status != bad || a.problem().Code != "request_timeout" || time.Since(began) > 5*shortestPause {
					t.Errorf("%d bytes and a pause: %d after %v: %s", amount, a.status, time.Since(began), a.raw)
				}
				c.empty(d)
				c.put(d.at+"/content", raw).is(ok)
				c.holds(d, raw)
			})
		}
	}
	slow := c.blank()
	all.Go(func() {
		w := c.dial().ask(http.MethodPut, slow.at+"/content", measured+strconv.Itoa(len(raw)), "")
		for part := range slices.Chunk(raw, len(raw)/5) {
			time.Sleep(shortestPause / 3) // the pace of the client is what is tested
			_, _ = w.conn.Write(part)
		}
		w.hears(http.MethodPut, slow.at+"/content").is(ok)
		c.holds(slow, raw)
	})
	// So is a document's JSON.
	patient, _ := stored(c, ana())
	all.Go(func() {
		w := c.dial().ask(http.MethodPost, patient+"/attach", measured+"100000\r\nContent-Type: application/json", `{"payload":"`)
		if a := w.hears(http.MethodPost, patient+"/attach"); a.status != bad || a.problem().Code != "request_timeout" {
			t.Errorf("%d: %s", a.status, a.raw)
		}
	})
	all.Wait()
	if files := blobs(t, m.Path("blobs"), ""); slices.ContainsFunc(files, func(f string) bool { return strings.Contains(f, ".tmp") || strings.HasSuffix(f, ".part") }) {
		t.Errorf("left behind: %v", files)
	}
}

// documentsDatabase is a connection to the database of attachment that sees all tenants.
func documentsDatabase(t *testing.T, m *mesh.Mesh) *pgx.Conn {
	t.Helper()
	own, err := pgx.ParseConfig(m.Database("attachment").URL)
	if err != nil {
		t.Fatal(err)
	}
	config, err := pgx.ParseConfig(m.AdminURL())
	if err != nil {
		t.Fatal(err)
	}
	config.Database = own.Database
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// expire makes an hour pass for all uploads that are under way, and tells how many those were. Lease is how long they have
// been claimed for by a collector elsewhere, if at all.
func expire(t *testing.T, m *mesh.Mesh, lease *time.Duration) int64 {
	t.Helper()
	tag, err := documentsDatabase(t, m).Exec(t.Context(), `UPDATE blob_upload SET expires_at = now(), claimed_until = now() + $1::interval`, lease)
	if err != nil {
		t.Fatal(err)
	}
	return tag.RowsAffected()
}

// outlives: what was collected while it was written becomes nobody's content.
func outlives(t *testing.T, m *mesh.Mesh) {
	hour := time.Hour
	for _, claimed := range []*time.Duration{nil, &hour} {
		outlive(t, m, claimed)
	}
}

func outlive(t *testing.T, m *mesh.Mesh, claimed *time.Duration) {
	t.Helper()
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	d, raw := c.blank(), noise(54, 300_000)
	w := c.dial().ask(http.MethodPut, d.at+"/content", measured+strconv.Itoa(len(raw)), string(raw[:200_000]))
	eventually(t, 10*time.Second, func() bool { return len(blobs(t, m.Path("blobs"), d.ID)) > 0 })
	if n := expire(t, m, claimed); n == 0 {
		t.Error("no intent")
	}
	conn := documentsDatabase(t, m)
	eventually(t, 10*time.Second, func() bool {
		var left int
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM blob_upload WHERE claimed_until IS NULL`).Scan(&left); err != nil {
			t.Fatal(err)
		}
		return left == 0
	})
	_, _ = w.conn.Write(raw[200_000:])
	a := w.hears(http.MethodPut, d.at+"/content")
	if a.refused(http.StatusServiceUnavailable, "unavailable"); a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	c.empty(d)
	c.put(d.at+"/content", raw).is(ok)
	c.holds(d, raw)
	eventually(t, 10*time.Second, func() bool { return len(blobs(t, m.Path("blobs"), d.ID)) == 1 })
}

// attachmentAway: documents are away with it, and nothing else is.
func attachmentAway(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	d := c.blank()
	patient := strings.Split(d.at, "/attach")[0]
	raw := noise(55, 1<<20)
	m.Process("attachment").Stop(t.Context())
	answers := c.knocks(d)
	answers["upload a lot"] = c.put(d.at+"/content", raw)
	answers["upload unmeasured"] = c.put(of2(d.at)+"/content", unmeasured(raw))
	refuses(t, answers, http.StatusServiceUnavailable, "unavailable")
	for name, a := range answers {
		if a.header.Get("Retry-After") == "" {
			t.Errorf("%s: no Retry-After", name)
		}
	}
	c.get(patient).is(ok)
	c.patch(patient, map[string]any{"middleName": "M"}).is(ok)
	for kind, body := range children() {
		c.get(patient + "/" + kind + "/" + fmt.Sprint(c.post(patient+"/"+kind, body).is(ok).object()["id"])).is(ok)
	}
	c.get(patients + "?size=1").is(ok)
	other, _ := stored(c, ana())
	c.delete(other).is(ok)
	m.Process("attachment").Start()
	c.comes(d)
	c.put(d.at+"/content", raw).is(ok)
	c.holds(d, raw)
}

// comes waits until documents are served again.
func (c *client) comes(d document) {
	c.t.Helper()
	eventually(c.t, time.Minute, func() bool {
		for _, path := range []string{d.at, strings.TrimSuffix(of2(d.at), "/"+d.ID)} {
			if a, err := c.try(http.MethodGet, path, "", nil); err != nil || a.status != ok {
				return false
			}
		}
		return true
	})
}

const rounds = 20

// killed kills a program or the database in the middle of uploads, time and again. What was answered is there; what was
// not is there whole or not at all, and can be repeated; and nothing is left over in the end. E2E_SEED repeats another run.
func killed(t *testing.T, m *mesh.Mesh) {
	seed := uint64(1)
	if given := os.Getenv("E2E_SEED"); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("E2E_SEED=%d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	patient, _ := stored(c, ana())
	victims := []string{"attachment", "patient", "gateway", "postgres"}
	held := map[string][]byte{}
	outcomes := map[string]int{}
	for round := range rounds {
		u := &storm{t: t, c: c, answered: map[string]bool{}}
		for n := range 3 {
			u.documents = append(u.documents, c.attach(patient, map[string]any{}))
			u.raw = append(u.raw, noise(1000+round*3+n, 1+chance.IntN(300_000)))
			u.total += int64(len(u.raw[n]))
		}
		victim := victims[(round+chance.IntN(2))%len(victims)]
		// Somewhere in the bytes, or shortly after the last of them.
		u.until = int64(float64(u.total) * chance.Float64())
		late := time.Duration(0)
		if chance.IntN(2) == 0 {
			u.until, late = u.total, time.Duration(chance.Int64N(int64(10*time.Millisecond)))
		}
		process := m.Process(victim)
		before := process.Pid()
		u.rage(func() {
			time.Sleep(late)
			process.Kill()
		})
		eventually(t, 10*time.Second, func() bool { return process.Pid() != before })
		c.comes(u.documents[0])
		for n, d := range u.documents {
			a := c.heard(d.at + "/content")
			switch {
			case a.status == ok && bytes.Equal(a.raw, u.raw[n]):
				outcomes["stored"]++
			case a.status == missing && !u.answered[d.ID]:
				a.refused(missing, "no_content")
				outcomes["nothing"]++
			default:
				t.Errorf("round %d, %s killed %v after %d bytes of %d: answered %v, then %d with %d bytes",
					round, victim, late, u.until, u.total, u.answered[d.ID], a.status, len(a.raw))
			}
			held[d.ID] = u.raw[n]
			if (round+n)%4 != 0 || a.status == ok {
				eventually(t, 30*time.Second, func() bool {
					a := c.put(d.at+"/content", u.raw[n])
					if a.status != ok && a.status < 500 {
						t.Fatalf("the repeat is refused: %s", a.raw)
					}
					return a.status == ok
				})
				c.holds(d, u.raw[n])
			} else {
				held[d.ID] = nil // left as it is
			}
			if u.answered[d.ID] {
				outcomes["answered"]++
			}
		}
	}
	t.Logf("%d rounds: %v", rounds, outcomes)
	t.Logf("%d uploads were under way or lost at the end", expire(t, m, nil))
	collected(t, m, c, patient, held)
}

// heard reads bytes, again where a connection that a crash has left behind is in the way.
func (c *client) heard(path string) (a answer) {
	c.t.Helper()
	eventually(c.t, 30*time.Second, func() bool {
		a = c.get(path)
		return a.status < 500
	})
	return a
}

// storm is uploads at the same time, and something that happens once so many bytes of them are sent.
type storm struct {
	t         *testing.T
	c         *client
	documents []document
	raw       [][]byte
	total     int64
	until     int64
	sent      atomic.Int64
	once      sync.Once
	struck    chan struct{} // closed once the strike has fallen
	strike    func()
	mu        sync.Mutex
	answered  map[string]bool
}

// rage sends all, and returns when each has come to an end and the strike has fallen.
func (s *storm) rage(strike func()) {
	s.t.Helper()
	s.struck = make(chan struct{})
	s.strike = func() {
		defer close(s.struck)
		strike()
	}
	var all sync.WaitGroup
	for n, d := range s.documents {
		all.Go(func() {
			path := d.at
			if n == 1 {
				path = of2(path)
			}
			var body io.Reader = bytes.NewReader(s.raw[n])
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodPut, s.c.base+path+"/content", s.through(body))
			if err != nil {
				s.t.Error(err)
				return
			}
			if req.Header = s.c.header.Clone(); n == 2 {
				req.ContentLength = int64(len(s.raw[n]))
			}
			a, err := s.c.send(req)
			switch {
			case err != nil:
			case a.status == ok:
				s.mu.Lock()
				s.answered[d.ID] = true
				s.mu.Unlock()
			case a.status < 500:
				s.t.Errorf("an upload under faults was refused with %d: %s", a.status, a.raw)
			}
		})
	}
	all.Wait()
	s.once.Do(s.strike) // all went before it was time
	<-s.struck
}

// through counts bytes on their way, which takes them some time.
func (s *storm) through(body io.Reader) io.Reader { return &counted{s, body} }

type counted struct {
	storm *storm
	body  io.Reader
}

func (r *counted) Read(p []byte) (int, error) {
	n, err := r.body.Read(p[:min(len(p), 8<<10)])
	time.Sleep(200 * time.Microsecond) // so that there is a middle
	sent := r.storm.sent.Add(int64(n))
	if sent >= r.storm.until {
		r.storm.once.Do(func() { go r.storm.strike() })
	}
	return n, err
}

// collected: once what was lost is collected, there is a blob for each document with content, and no other.
func collected(t *testing.T, m *mesh.Mesh, c *client, patient string, held map[string][]byte) {
	t.Helper()
	conn := documentsDatabase(t, m)
	eventually(t, 20*time.Second, func() bool {
		var left, contents int
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM blob_upload`).Scan(&left); err != nil {
			t.Fatal(err)
		}
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM document WHERE blob_key IS NOT NULL`).Scan(&contents); err != nil {
			t.Fatal(err)
		}
		return left == 0 && len(blobs(t, m.Path("blobs"), "")) == contents
	})
	var l struct{ Content []document }
	c.get(patient + "/attach?size=500").is(ok).into(&l)
	if len(l.Content) != len(held) {
		t.Errorf("%d documents of %d", len(l.Content), len(held))
	}
	for _, d := range l.Content {
		d.at = patient + "/attach/" + d.ID
		if raw := held[d.ID]; raw != nil {
			c.holds(d, raw)
		} else {
			c.empty(d)
		}
	}
}
