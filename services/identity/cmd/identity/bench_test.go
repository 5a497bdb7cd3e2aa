package main

import (
	"net/http"
	"testing"

	"github.com/patient-mesh/patient-mesh/services/identity/oauth"
)

// BenchmarkClientCredentials issues tokens without the HTTP round the endpoint: what is left is ours, fosite's and the
// driver's. PostgreSQL's own share is not in ns/op of CPU, only in the time waited for it.
func BenchmarkClientCredentials(b *testing.B) {
	m := start(b)
	id, secret := m.client(b, "Owner")
	request := oauth.Request{
		ContentType: "application/x-www-form-urlencoded", Body: []byte(credentialsForm(id, secret, "scope", "patient:read").Encode()),
	}
	b.ReportAllocs()
	b.RunParallel(func(loop *testing.PB) {
		for loop.Next() {
			if r := m.server.Token(b.Context(), request); r.Status != http.StatusOK {
				b.Errorf("%d %s", r.Status, r.Body)
				return
			}
		}
	})
}
