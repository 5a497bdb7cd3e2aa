package route

import (
	"slices"
	"strings"
	"testing"
)

func trie(t testing.TB) *Trie {
	t.Helper()
	tr, err := NewTrie(Table())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestMatch(t *testing.T) {
	tests := []struct{ method, path, want string }{ // want: a pattern, or what Allow says
		{"GET", "/v3/patient", "/v3/patient"},
		{"HEAD", "/v3/patient/7", "/v3/patient/{patientId}"},
		{"GET", "/v3/patient/value-sets", "/v3/patient/value-sets"},
		{"DELETE", "/v3/patient/value-sets", "GET, HEAD"},
		{"GET", "/v3/patient/value-sets/history", "/v3/patient/{patientId}/history"},
		{"GET", "/v3/patient/%2F", "/v3/patient/{patientId}"},
		{"PUT", "/v3/patient", "GET, HEAD, POST"},
		{"PUT", "/oauth2/token", "POST"},
		{"GET", "/v3/patient/", ""},
		{"GET", "/v3/Patient", ""},
		{"GET", "/v3", ""},
		{"GET", "/", "/"},
		{"POST", "/", "GET, HEAD"},
		{"GET", "/account", "/account"},
		{"GET", "/account/key", "POST"},
		{"GET", "/v3/patient/7/history/1", ""},
		{"POST", "/internal/credential", ""},
		{"GET", "*", ""},
		{"get", "/v3/patient", "GET, HEAD, POST"},
	}
	tr := trie(t)
	for _, test := range tests {
		r, allow := tr.Match([]byte(test.method), []byte(test.path))
		got := strings.Join(allow, ", ")
		if r != nil {
			got = r.Pattern
		}
		if got != test.want {
			t.Errorf("%s %s: %q, want %q", test.method, test.path, got, test.want)
		}
	}
}

func TestMatchAllocatesNothing(t *testing.T) {
	tr, method, path := trie(t), []byte("GET"), []byte("/v3/patient/524288123/history")
	if n := testing.AllocsPerRun(100, func() { tr.Match(method, path) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestTrieRefusesTwins(t *testing.T) {
	if _, err := NewTrie([]Route{{Method: "GET", Pattern: "/a/{b}"}, {Method: "GET", Pattern: "/a/{c}"}}); err == nil {
		t.Error("two routes for one path were taken")
	}
}

func TestTableHidesInternal(t *testing.T) {
	for _, r := range Table() {
		if strings.Contains(r.Pattern, "internal") {
			t.Errorf("%s can be reached from outside", r.Pattern)
		}
		if r.Public && r.Need != 0 || r.Patient && r.Need == 0 {
			t.Errorf("%s %s contradicts itself", r.Method, r.Pattern)
		}
	}
}

func TestClean(t *testing.T) {
	tests := []struct{ path, want string }{
		{"/v3/patient/7", "/v3/patient/7"},
		{"/v3//patient", "/v3/patient"},
		{"//v3/patient", "/v3/patient"},
		{"/v3/./patient/.", "/v3/patient/"},
		{"/v3/patient/../../internal/x", "/internal/x"},
		{"/../../internal", "/internal"},
		{"/v3/%2e%2E/internal", "/internal"},
		{"/v3/..;/internal", "/v3/..;/internal"},
		{"/v3/...", "/v3/..."},
		{"/v3/.well-known", "/v3/.well-known"},
		{"/v3/%70atient", "/v3/patient"},
		{"/v3/a%2fb", "/v3/a%2Fb"},
		{"/v3/a%252e", "/v3/a%252e"},
		{"/v3/%c3%a9", "/v3/%C3%A9"},
		{"/v3/patient/", "/v3/patient/"},
		{"/v3/patient/..", "/v3/"},
		{"/..", "/"},
		{"/", "/"},
		{"/%zz", ""},
		{"/%4", ""},
		{"/a%00b", ""},
		{"/a%0d%0ab", ""},
		{`/a\..\b`, ""},
		{"/a b", ""},
		{"*", ""},
		{"", ""},
	}
	for _, test := range tests {
		got, err := Clean([]byte(test.path), make([]byte, 0, 64))
		if string(got) != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q: %q, %v, want %q", test.path, got, err, test.want)
		}
		if err != nil {
			continue
		}
		again, err := Clean(slices.Clone(got), nil)
		if err != nil || string(again) != string(got) {
			t.Errorf("%q: cleaned twice %q, %v", test.path, again, err)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	tr, method, path := trie(b), []byte("GET"), []byte("/v3/patient/524288123")
	b.ReportAllocs()
	for b.Loop() {
		clean, _ := Clean(path, nil)
		tr.Match(method, clean)
	}
}
