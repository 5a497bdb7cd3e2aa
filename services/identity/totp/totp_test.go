package totp_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base32"
	"image/png"
	"net/url"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/services/identity/totp"
)

// RFC 6238 appendix B, SHA-1, the last six of its eight digits.
func TestCodesOfTheRFC(t *testing.T) {
	t.Parallel()
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	for at, code := range map[int64]string{59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130"} {
		if step, ok := totp.Step(secret, code, time.Unix(at, 0), 0); !ok || step != at/30 {
			t.Errorf("at %d: step %d, %v", at, step, ok)
		}
	}
}

func TestAClockMayBeOneStepOffAndNoMore(t *testing.T) {
	t.Parallel()
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	for off, want := range map[int64]bool{-60: false, -30: true, 0: true, 30: true, 60: false} {
		if _, ok := totp.Step(secret, "005924", time.Unix(1234567890+off, 0), 0); ok != want {
			t.Errorf("%d s off: %v", off, ok)
		}
	}
}

func TestAStepThatWasUsedIsNotFoundAgain(t *testing.T) {
	t.Parallel()
	secret, now := base32.StdEncoding.EncodeToString([]byte("12345678901234567890")), time.Unix(1234567890, 0)
	step, _ := totp.Step(secret, "005924", now, 0)
	for last, want := range map[int64]bool{step - 1: true, step: false, step + 1: false} {
		if _, ok := totp.Step(secret, "005924", now, last); ok != want {
			t.Errorf("after step %d of %d: %v", last, step, ok)
		}
	}
}

func TestWhatIsNoCode(t *testing.T) {
	t.Parallel()
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	for _, code := range []string{"", "00592", "0005924", "abcdef", "٠٠٥٩٢٤"} {
		if _, ok := totp.Step(secret, code, time.Unix(1234567890, 0), 0); ok {
			t.Errorf("%q was taken for a code", code)
		}
	}
	if _, ok := totp.Step("not base32!", "005924", time.Unix(1234567890, 0), 0); ok {
		t.Error("a secret that is none has a code")
	}
}

func TestANewSecretIsOneThatAppsRead(t *testing.T) {
	t.Parallel()
	secret, err := totp.New(rand.Reader, "Patient Mesh", "ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret.Base32)
	if err != nil || len(raw) != 20 {
		t.Errorf("a secret of %d bytes, %v", len(raw), err)
	}
	u, err := url.Parse(secret.URI)
	if err != nil || u.Scheme != "otpauth" || u.Host != "totp" || u.Path != "/Patient Mesh:ada@example.org" {
		t.Errorf("address %s, %v", secret.URI, err)
	}
	for name, want := range map[string]string{"secret": secret.Base32, "issuer": "Patient Mesh", "algorithm": "SHA1", "digits": "6", "period": "30"} {
		if got := u.Query().Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	picture, err := secret.QR()
	if err != nil {
		t.Fatal(err)
	}
	if decoded, err := png.Decode(bytes.NewReader(picture)); err != nil || decoded.Bounds().Dx() != 240 {
		t.Errorf("picture: %v", err)
	}
}
