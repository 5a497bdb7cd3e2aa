package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// strongestImport is the limit of an import in the mesh of TestImportOfItsOwnMesh.
const strongestImport = 200 << 20

// importPause is how long an import may pause there: a batch of people under the race detector takes about a second.
const importPause = 2 * time.Second

// TestImportOfItsOwnMesh has a mesh with little patience, whose programs are measured first and killed last.
func TestImportOfItsOwnMesh(t *testing.T) {
	t.Parallel()
	m := private(t, mesh.Options{
		Env:   map[string]string{"IMPORT_LIMIT": fmt.Sprint(strongestImport), "STREAM_IDLE": importPause.String()},
		EnvOf: map[string]map[string]string{"patient": {"IMPORT_LEASE": shortestPause.String()}}, // which the killed are waited for
	})
	for _, part := range []struct {
		name string
		test func(*testing.T, *mesh.Mesh)
	}{
		{"memory", importMemory},
		{"limit", importLimit},
		{"pauses", importPauses},
		{"killed", importKilled},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, m) })
	}
}

// crowdOf is lines of so many people with all that can come with one.
func crowdOf(name string, number int) io.Reader {
	r, w := io.Pipe()
	go func() {
		for n := range number {
			whole := map[string]any{
				"lastName": fmt.Sprintf("%s %d", name, n+1), "ref": fmt.Sprint(n + 1), "addresses": []any{children()["address"]},
				"contacts": []any{children()["contact"]}, "aliases": []any{children()["alias"]}, "identifiers": []any{children()["identifier"]},
			}
			if _, err := io.WriteString(w, line(whole)); err != nil {
				return
			}
		}
		w.Close()
	}()
	return r
}

// pourLines imports what is made on the way, and gives the last line of the answer and the number of all.
func (c *client) pourLines(body io.Reader) (last string, lines int) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.base+importPath, body)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header = c.importing().header.Clone()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != ok {
		c.t.Fatalf("answered %d", resp.StatusCode)
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	all := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	return all[len(all)-1], len(all)
}

// importMemory sends a lot of people, and then some without reading the answer. Nobody on the way keeps more of them than some
// batches.
func importMemory(t *testing.T, m *mesh.Mesh) {
	number := 60_000
	if raced(t, m) { // whose memory is not looked at: enough for many batches
		number = 6_000
	}
	bounds := map[string]int{"gateway": 32 << 20, "patient": 160 << 20}
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	c.pourLines(crowdOf("Warm", 100))
	idle := map[string]int{}
	for name := range bounds {
		idle[name] = resident(t, m, name, "VmRSS")
		forgetPeak(t, m, name)
	}
	began := time.Now()
	last, lines := c.pourLines(crowdOf("Reis", number))
	if want := fmt.Sprintf(`{"created":%d,"failed":0}`, number); last != want || lines != number+1 {
		t.Errorf("%d lines, %s", lines, last)
	}
	t.Logf("%d people in %v", number, time.Since(began))
	unread(t, c)
	if raced(t, m) {
		t.Skip("programs built with the race detector keep a shadow of their memory, to which no bound applies")
	}
	for name, before := range idle {
		peak := resident(t, m, name, "VmHWM")
		t.Logf("%s: %d MiB idle, %d MiB at most", name, before>>20, peak>>20)
		if peak-before > bounds[name] {
			t.Errorf("%s took %d MiB more than idle", name, (peak-before)>>20)
		}
	}
}

// unread sends lines, each with much wrong with it, and takes none of the answers: it is held up, and given up after the pause.
// What it sends then is thrown away.
func unread(t *testing.T, c *client) {
	t.Helper()
	w := c.importing().dial()
	_ = w.conn.SetReadBuffer(64 << 10)
	w.ask(http.MethodPost, importPath, chunked, "")
	began := time.Now()
	written, err := w.pour(chunk([]byte(strings.Repeat("{}\n", 10_000))), 400<<20)
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) > 15*time.Second {
		t.Errorf("%d bytes go to who is not read, for %v: %v", written, time.Since(began), err)
	}
}

// importLimit: what is declared to be over the limit is refused at once; what turns out to be is cut off, without a total.
func importLimit(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	w := c.importing().dial().ask(http.MethodPost, importPath, measured+fmt.Sprint(strongestImport+1), "x")
	w.hears(http.MethodPost, importPath).refused(http.StatusRequestEntityTooLarge, "content_too_large")
	s := c.begins(chunked, chunk([]byte(line(nil))))
	s.hears()
	go func() {
		blank := &wire{c: c, conn: s.conn.(*net.TCPConn)}
		_, _ = blank.pour(chunk([]byte(strings.Repeat(" ", 1<<20)+"\n")), strongestImport+10<<20)
	}()
	if rest, _ := io.ReadAll(s.in); bytes.Contains(rest, []byte("created")) {
		t.Errorf("taken for whole: %s", rest)
	}
}

// importPauses: who makes a pause that is too long is not waited for; who is merely slow is.
func importPauses(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	text := line(map[string]any{"lastName": "Slow"})
	s := c.begins(chunked, chunk([]byte(text+text[:20])))
	s.hears()
	began := time.Now()
	if rest, _ := io.ReadAll(s.in); bytes.Contains(rest, []byte("created")) || time.Since(began) > 5*importPause {
		t.Errorf("after %v: %s", time.Since(began), rest)
	}
	s = c.begins(chunked, "")
	for range 4 {
		for _, part := range []string{text[:20], text[20:]} {
			time.Sleep(shortestPause / 3) // the pace of the client is what is tested
			_, _ = io.WriteString(s.conn, chunk([]byte(part)))
		}
		s.hears()
	}
	_, _ = io.WriteString(s.conn, "0\r\n\r\n")
	if o := s.hears(); o.total() != "4 created, 0 failed" {
		t.Errorf("%+v", o)
	}
}

// importKilled kills a program or the database in the middle of an import, time and again. What was answered is there; the
// import is repeated under its key until it is whole, and then each person is there once.
func importKilled(t *testing.T, m *mesh.Mesh) {
	const number, rounds = 3000, 8
	chance := rand.New(rand.NewPCG(1, 0))
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	before := len(everyone(c))
	var cut, tries int
	for round := range rounds {
		name := fmt.Sprint("Round ", round)
		body := people(name, 1, number)
		once := c.with("Idempotency-Key", key(t))
		victim := m.Process([]string{"patient", "postgres", "gateway", "patient"}[round%4])
		pid := victim.Pid()
		strike := int64(chance.IntN(len(body)))
		var sent atomic.Int64
		struck := make(chan struct{})
		first := once.attempt(&counting{strings.NewReader(body), func(n int) {
			if sent.Add(int64(n)) >= strike && sent.Load()-int64(n) < strike {
				go func() { defer close(struck); victim.Kill() }()
			}
		}})
		<-struck
		eventually(t, 20*time.Second, func() bool { return victim.Pid() != pid })
		if len(first) == 0 || first[len(first)-1].total() == "none" {
			cut++
		}
		var whole []outcome
		eventually(t, time.Minute, func() bool { // under a key that may count as in use for a while
			tries++
			whole = once.attempt(strings.NewReader(body))
			return len(whole) == number+1
		})
		if whole[number].total() != fmt.Sprintf("%d created, 0 failed", number) {
			t.Errorf("round %d: %s", round, whole[number].total())
		}
		for n, o := range first {
			if o.Line > 0 && o.ID != whole[o.Line-1].ID {
				t.Errorf("round %d: line %d was %d, and is %d", round, n+1, o.ID, whole[o.Line-1].ID)
				break
			}
		}
	}
	names := everyone(c)
	for round := range rounds {
		for n := range number {
			if name := fmt.Sprintf("Round %d %d", round, n+1); names[name] != 1 {
				t.Fatalf("%s is there %d times", name, names[name])
			}
		}
	}
	if len(names) != before+rounds*number {
		t.Errorf("%d names, and %d before", len(names), before)
	}
	t.Logf("%d of %d imports were cut off; %d tries to repeat them", cut, rounds, tries)
}

// attempt imports, and gives what of the answer came whole; none when it was refused.
func (c *client) attempt(body io.Reader) []outcome {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.base+importPath, body)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header = c.importing().header.Clone()
	a, _ := c.send(req)
	if a.status != ok {
		if a.status != 0 && a.status < 500 && a.status != http.StatusConflict {
			c.t.Fatalf("an import under faults is refused: %s", a.raw)
		}
		return nil
	}
	raw := a.raw[:bytes.LastIndexByte(a.raw, '\n')+1]
	if len(raw) == 0 {
		return nil
	}
	return outcomes(c.t, raw)
}

// counting tells how much is read of it.
type counting struct {
	io.Reader
	tell func(n int)
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p[:min(len(p), 8<<10)])
	time.Sleep(100 * time.Microsecond) // so that there is a middle
	c.tell(n)
	return n, err
}
