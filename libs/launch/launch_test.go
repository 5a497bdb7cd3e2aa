package launch_test

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/launch"
)

// vectors were made by another implementation (Python's cryptography), so that other languages can be held against
// them too.
type vectors struct {
	Secret, Environment, SaltHex, NonceHex, Plaintext, SecurityCode, Signature, Payload string

	Now     time.Time
	Opens   map[string]string
	Refused map[string]string
}

func read(t *testing.T) vectors {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVectors(t *testing.T) {
	t.Parallel()
	v := read(t)
	var want launch.Launch
	if err := json.Unmarshal([]byte(v.Plaintext), &want); err != nil {
		t.Fatal(err)
	}
	for name, payload := range v.Opens {
		if got, err := launch.Open(payload, v.Secret, v.Environment, v.Now); err != nil || got != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, payload := range v.Refused {
		if got, err := launch.Open(payload, v.Secret, v.Environment, v.Now); !errors.Is(err, launch.ErrPayload) || got != (launch.Launch{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	random, err := hex.DecodeString(v.SaltHex + v.NonceHex)
	if err != nil {
		t.Fatal(err)
	}
	if sealed, err := launch.Seal(want, v.Secret, bytes.NewReader(random)); err != nil || sealed != v.Payload {
		t.Errorf("sealed %s, %v", sealed, err)
	}
	if signature := launch.Sign(v.Secret, v.SecurityCode); signature != v.Signature || !launch.Signed(v.Secret, v.SecurityCode, signature) {
		t.Errorf("signature %s", signature)
	}
	for _, wrong := range []string{"", strings.ToUpper(v.Signature), v.Signature[1:], v.Signature + " ", launch.Sign("another", v.SecurityCode)} {
		if launch.Signed(v.Secret, v.SecurityCode, wrong) {
			t.Errorf("%q is taken for a signature", wrong)
		}
	}
}

func TestAPayloadHasItsTime(t *testing.T) {
	t.Parallel()
	v := read(t)
	for after, want := range map[time.Duration]error{
		-24 * time.Hour: launch.ErrExpired, -2 * time.Minute: launch.ErrExpired, -20 * time.Second: nil,
		time.Minute: nil, 65 * time.Second: nil, 2 * time.Minute: launch.ErrExpired, 24 * time.Hour: launch.ErrExpired,
	} {
		if _, err := launch.Open(v.Payload, v.Secret, v.Environment, v.Now.Add(after)); !errors.Is(err, want) {
			t.Errorf("%v later: %v, want %v", after, err, want)
		}
	}
}

func TestNothingOpensWithoutASecretOrInAnotherEnvironment(t *testing.T) {
	t.Parallel()
	v := read(t)
	for _, c := range [][2]string{{"", "demo"}, {v.Secret, "production"}, {v.Secret, ""}, {v.Secret + " ", "demo"}} {
		if _, err := launch.Open(v.Payload, c[0], c[1], v.Now); !errors.Is(err, launch.ErrPayload) {
			t.Errorf("secret of %d, environment %q: %v", len(c[0]), c[1], err)
		}
	}
	if _, err := launch.Open(strings.Repeat("A", 1<<20), v.Secret, v.Environment, v.Now); !errors.Is(err, launch.ErrPayload) {
		t.Errorf("a megabyte: %v", err)
	}
	for name, l := range map[string]launch.Launch{"empty": {}, "without a code": {UserID: "u", TenantID: "t", ApplicationID: "a", Environment: "demo"}} {
		if _, err := launch.Seal(l, v.Secret, rand.Reader); err == nil {
			t.Errorf("%s: sealed", name)
		}
	}
}

func aLaunch() *rapid.Generator[launch.Launch] {
	return rapid.Custom(func(t *rapid.T) launch.Launch {
		text := rapid.StringN(1, 40, 200).Filter(func(s string) bool { return json.Valid([]byte(`"`+s+`"`)) && !strings.Contains(s, `\`) })
		at := time.UnixMilli(rapid.Int64Range(1.5e12, 4e12).Draw(t, "at")).UTC()
		return launch.Launch{
			SecurityCode: text.Draw(t, "code"), UserID: text.Draw(t, "user"), TenantID: text.Draw(t, "tenant"),
			ApplicationID: text.Draw(t, "application"), Environment: rapid.SampledFrom([]string{"demo", "production"}).Draw(t, "environment"),
			IssuedAt: at, ExpiresAt: at.Add(time.Minute),
		}
	})
}

// What was sealed opens again, and a payload with any one byte changed, or any byte cut off or added, does not.
func TestOnlyWhatWasSealedOpens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l, secret := aLaunch().Draw(t, "launch"), rapid.StringN(1, 64, -1).Draw(t, "secret")
		payload, err := launch.Seal(l, secret, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := launch.Open(payload, secret, l.Environment, l.IssuedAt); err != nil || got != l {
			t.Fatalf("%+v, %v; want %+v", got, err, l)
		}
		const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
		at := rapid.IntRange(0, len(payload)-1).Draw(t, "at")
		letter := alphabet[rapid.IntRange(0, len(alphabet)-1).Draw(t, "letter")]
		for name, changed := range map[string]string{
			"changed": payload[:at] + string(letter) + payload[at+1:], "cut": payload[:at], "left out": payload[:at] + payload[at+1:],
			"put in": payload[:at] + string(letter) + payload[at:], "added": payload + string(letter),
		} {
			if changed == payload {
				continue
			}
			if _, err := launch.Open(changed, secret, l.Environment, l.IssuedAt); !errors.Is(err, launch.ErrPayload) {
				t.Fatalf("%s at %d: %v", name, at, err)
			}
		}
	})
}

// Two payloads of one launch have nothing in common that tells them apart from others.
func TestEachPayloadIsNew(t *testing.T) {
	t.Parallel()
	v := read(t)
	l, err := launch.Open(v.Payload, v.Secret, v.Environment, v.Now)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for range 20 {
		payload, err := launch.Seal(l, v.Secret, rand.Reader)
		if err != nil || slices.Contains(seen, payload) {
			t.Fatalf("%q again, or %v", payload, err)
		}
		seen = append(seen, payload)
	}
}

func FuzzOpen(f *testing.F) {
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		f.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(raw, &v); err != nil {
		f.Fatal(err)
	}
	for _, list := range []map[string]string{v.Opens, v.Refused} {
		for _, payload := range list {
			f.Add(payload)
		}
	}
	genuine, err := launch.Open(v.Payload, v.Secret, v.Environment, v.Now)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		switch got, err := launch.Open(payload, v.Secret, v.Environment, v.Now); {
		case err == nil && got != genuine:
			t.Errorf("%q opened to %+v", payload, got)
		case err != nil && !errors.Is(err, launch.ErrPayload):
			t.Errorf("%q: %v", payload, err)
		}
	})
}
