package passkey_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/services/identity/passkey"
	"github.com/patient-mesh/patient-mesh/services/identity/passkey/passkeytest"
)

func TestWhichAddressesAdmitPasskeys(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]struct {
		id      string
		origins []string
	}{
		"https://mesh.example":      {"mesh.example", []string{"https://mesh.example"}},
		"https://mesh.example:8443": {"mesh.example", []string{"https://mesh.example:8443"}},
		"http://localhost:8080":     {"localhost", []string{"http://localhost:8080"}},
		"http://127.0.0.1:8080":     {"localhost", []string{"http://localhost:8080"}},
		"http://127.0.0.1":          {"localhost", []string{"http://localhost"}},
		"http://[::1]:8080":         {"localhost", []string{"http://localhost:8080"}},
	} {
		party, err := passkey.New(address, "Patient Mesh")
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		for _, origin := range want.origins {
			user := passkey.User{ID: []byte("0123456789abcdef"), Name: "ada"}
			options, state, err := party.BeginRegistration(user)
			if err != nil {
				t.Errorf("%s: %v", address, err)
				continue
			}
			if !strings.Contains(string(options), `"rp":{"name":"Patient Mesh","id":"`+want.id+`"}`) {
				t.Errorf("%s: %s", address, options)
			}
			response := passkeytest.New(t, want.id, origin, user.ID).Create(t, options)
			if _, err := party.FinishRegistration(user, state, response); err != nil {
				t.Errorf("%s from %s: %v", address, origin, err)
			}
		}
	}
	for _, address := range []string{"https://192.0.2.1", "https://[2001:db8::1]:8443", "", "https://"} {
		if _, err := passkey.New(address, "Patient Mesh"); !errors.Is(err, passkey.ErrNoDomain) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestWhatIsNoAnswerIsRefused(t *testing.T) {
	t.Parallel()
	party, err := passkey.New("https://mesh.example", "Patient Mesh")
	if err != nil {
		t.Fatal(err)
	}
	user := passkey.User{ID: []byte("0123456789abcdef"), Name: "ada"}
	_, state, err := party.BeginRegistration(user)
	if err != nil {
		t.Fatal(err)
	}
	large, err := json.Marshal(map[string]string{"id": string(make([]byte, 70000))})
	if err != nil {
		t.Fatal(err)
	}
	for _, response := range [][]byte{nil, []byte("{}"), []byte("null"), []byte("x"), []byte(`{"id":"AA","rawId":"AA","type":"public-key","response":{}}`), large} {
		if _, err := party.FinishRegistration(user, state, response); !errors.Is(err, passkey.ErrRefused) {
			t.Errorf("%.40s: %v", response, err)
		}
		if _, err := passkey.ReadAnswer(response); !errors.Is(err, passkey.ErrRefused) {
			t.Errorf("%.40s: %v", response, err)
		}
	}
}
