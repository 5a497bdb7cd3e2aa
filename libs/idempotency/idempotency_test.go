package idempotency_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

func parse(t *testing.T, p principal.Principal, header string, request ...string) idempotency.Key {
	t.Helper()
	var parts [][]byte
	for _, part := range request {
		parts = append(parts, []byte(part))
	}
	key, faults := idempotency.Parse(p, &header, parts...)
	if len(faults) > 0 {
		t.Fatalf("%q: %v", header, faults)
	}
	return key
}

func TestKeysAreOfOneToTwoHundredAndFiftyFivePrintableCharacters(t *testing.T) {
	by := principal.Principal{TenantID: "t", Kind: principal.APIKey, CredentialID: "k"}
	if key, faults := idempotency.Parse(by, nil); key.Given() || len(faults) > 0 {
		t.Errorf("no header gave %+v, %v", key, faults)
	}
	for _, header := range []string{"", strings.Repeat("k", 256), "tab\t", "é", "\x7f"} {
		if key, faults := idempotency.Parse(by, &header); key.Given() || len(faults) != 1 || faults[0].Code != "invalid_key" {
			t.Errorf("%q gave %+v, %v", header, key, faults)
		}
	}
	if key := parse(t, by, strings.Repeat("~", 255)); !key.Given() {
		t.Error("255 characters are no key")
	}
}

func TestWhatIsHashedTellsPartsApart(t *testing.T) {
	var by principal.Principal
	same := parse(t, by, "k", "create", "body").Hash
	if !bytes.Equal(same, parse(t, by, "k", "create", "body").Hash) {
		t.Error("the same request has two hashes")
	}
	for _, other := range [][]string{{"createbody"}, {"creat", "ebody"}, {"create", "body", ""}, {"create", "Body"}, {"other", "body"}} {
		if bytes.Equal(same, parse(t, by, "k", other...).Hash) {
			t.Errorf("%q has the hash of another request", other)
		}
	}
}

// A renewed token is the same client repeating itself; two credentials never share a key.
func TestAKeyBelongsToWhoRepeatsItself(t *testing.T) {
	token := principal.Principal{TenantID: "t", Kind: principal.Client, ClientID: "c", CredentialID: "token 1"}
	renewed := token
	renewed.CredentialID = "token 2"
	if parse(t, token, "k").Credential != parse(t, renewed, "k").Credential {
		t.Error("a renewed token lost its keys")
	}
	others := []principal.Principal{
		{TenantID: "t", Kind: principal.Client, ClientID: "d"},
		{TenantID: "t", Kind: principal.Session, UserID: "u", ClientID: "c"},
		{TenantID: "t", Kind: principal.APIKey, UserID: "u", ClientID: "c", CredentialID: "key 1"},
		{TenantID: "t", Kind: principal.APIKey, UserID: "u", ClientID: "c", CredentialID: "key 2"},
	}
	seen := map[string]bool{parse(t, token, "k").Credential: true}
	for _, p := range others {
		credential := parse(t, p, "k").Credential
		if seen[credential] {
			t.Errorf("%+v shares the keys of another credential", p)
		}
		seen[credential] = true
	}
}
