package secret_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/secret"
)

func TestAPIKeyReadsBack(t *testing.T) {
	for _, environment := range []string{"demo", "production"} {
		key, err := secret.NewAPIKey(rand.Reader, environment, uuid.Must(uuid.NewV7()))
		if err != nil {
			t.Fatal(err)
		}
		got, ok := secret.ParseAPIKey(key.String())
		if !ok || got != key {
			t.Errorf("%s: read back %+v, %v; want %+v", environment, got, ok, key)
		}
		if strings.Contains(key.Prefix(), key.Secret) {
			t.Error("the prefix shows the secret")
		}
	}
}

func TestMistypedAPIKeyIsRefused(t *testing.T) {
	key, err := secret.NewAPIKey(rand.Reader, "demo", uuid.Must(uuid.NewV7()))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(key.String())
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		letter := rapid.SampledFrom([]byte("0123456789ABCXYZabcxyz_-")).Draw(t, "letter")
		if text[at] == letter {
			t.Skip("no change")
		}
		text[at] = letter
		if _, ok := secret.ParseAPIKey(string(text)); ok {
			t.Fatalf("accepted with byte %d changed to %q", at, letter)
		}
	})
}

func TestHasher(t *testing.T) {
	a, err := secret.NewHasher("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
	if err != nil {
		t.Fatal(err)
	}
	if !a.Matches(a.Hash("x"), "x") || a.Matches(a.Hash("x"), "y") || a.Matches(nil, "x") {
		t.Error("a hash must match its own secret alone")
	}
	if _, err := secret.NewHasher("c2hvcnQ="); err == nil {
		t.Error("a short key was accepted")
	}
}
