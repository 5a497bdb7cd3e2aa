package load

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// fake is a mesh that keeps what it is sent, as the interface says that it should.
type fake struct {
	mu      sync.Mutex
	records map[int64]Record
	keys    map[string]int64
	calls   int
	before  func(call int, w http.ResponseWriter) (answered bool) // may answer in its place
	cut     int                                                   // lines of an import before it breaks off, once
	change  func(*Record)                                         // may spoil what is read back
}

func newFake(t *testing.T) (*fake, Options) {
	t.Helper()
	f := &fake{records: map[int64]Record{}, keys: map[string]int64{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, Options{Gateway: server.URL, APIKey: "a-key", File: "testdata/people.csv", Workers: 4}
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if r.Header.Get("Authorization") != "Bearer a-key" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if f.before != nil && f.before(f.calls, w) {
		return
	}
	if r.Method == http.MethodPost && r.URL.Path == "/v3/patient/import" {
		f.take(w, r)
		return
	}
	if r.Method == http.MethodPost {
		f.create(w, r)
		return
	}
	id, _ := strconv.ParseInt(strings.TrimPrefix(r.URL.Path, "/v3/patient/"), 10, 64)
	record, ok := f.records[id]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if f.change != nil {
		f.change(&record)
	}
	_ = json.NewEncoder(w).Encode(record)
}

func (f *fake) create(w http.ResponseWriter, r *http.Request) {
	var p Person
	if json.NewDecoder(r.Body).Decode(&p) != nil || p.FirstName == "" || p.LastName == "" || p.DOB == "" {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"code":"invalid","detail":"a secret value","errors":[{"field":"dob","code":"required"}]}`))
		return
	}
	key := r.Header.Get("Idempotency-Key")
	id, known := f.keys[key]
	if known {
		w.Header().Set("Idempotent-Replayed", "true")
	} else {
		id = int64(len(f.records) + 1)
		f.keys[key], f.records[id] = id, p.Stored(id)
	}
	_ = json.NewEncoder(w).Encode(f.records[id])
}

// take answers lines, of which the first is none that it likes; cut is after how many it breaks off.
func (f *fake) take(w http.ResponseWriter, r *http.Request) {
	in := json.NewDecoder(r.Body)
	created := 0
	for line := 1; ; line++ {
		var p struct {
			Ref string
			Person
		}
		if in.Decode(&p) != nil {
			break
		}
		if f.cut > 0 && line > f.cut {
			f.cut = 0
			panic(http.ErrAbortHandler)
		}
		if p.LastName == "" || p.Gender == "wrong" {
			fmt.Fprintf(w, `{"line":%d,"ref":%q,"problem":{"status":400,"code":"invalid","detail":"a secret value","errors":[{"field":"gender","code":"invalid_value"}]}}`+"\n", line, p.Ref)
			continue
		}
		key := r.Header.Get("Idempotency-Key") + p.Ref
		id, known := f.keys[key]
		if !known {
			id = int64(len(f.records) + 1)
			f.keys[key], f.records[id] = id, p.Stored(id)
		}
		created++
		fmt.Fprintf(w, `{"line":%d,"ref":%q,"id":%d}`+"\n", line, p.Ref, id)
		w.(http.Flusher).Flush()
	}
	fmt.Fprintf(w, `{"created":%d,"failed":0}`+"\n", created)
}
