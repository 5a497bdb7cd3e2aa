// Package totp makes the secrets of authenticator apps and checks the six digits that these show (RFC 6238). It does
// not know whose they are, nor which of them were used.
package totp

import (
	"bytes"
	"fmt"
	"image/png"
	"io"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"
)

// What every authenticator app understands; many ignore what else an address says.
const (
	Digits     = 6
	period     = 30 // seconds
	secretSize = 20 // bytes, as long as the hash (RFC 4226 §4)
	// skew is how many steps a clock may be off, either way (RFC 6238 §5.2).
	skew = 1

	pictureSide = 240 // pixels
)

// Secret is what the user's app and we share.
type Secret struct {
	Base32 string
	URI    string // otpauth://
}

// New makes a secret. Issuer and account are what the app shows beside the digits.
func New(random io.Reader, issuer, account string) (Secret, error) {
	key, err := totp.Generate(totp.GenerateOpts{
		Issuer: issuer, AccountName: account, Period: period, SecretSize: secretSize, Digits: otp.DigitsSix,
		Algorithm: otp.AlgorithmSHA1, Rand: random,
	})
	if err != nil {
		return Secret{}, fmt.Errorf("make a TOTP secret: %w", err)
	}
	return Secret{Base32: key.Secret(), URI: key.URL()}, nil
}

// QR draws the address for an app's camera, as PNG.
func (s Secret) QR() ([]byte, error) {
	key, err := otp.NewKeyFromURL(s.URI)
	if err != nil {
		return nil, fmt.Errorf("read the address: %w", err)
	}
	picture, err := key.Image(pictureSide, pictureSide)
	if err != nil {
		return nil, fmt.Errorf("draw the address: %w", err)
	}
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		return nil, fmt.Errorf("encode the picture: %w", err)
	}
	return out.Bytes(), nil
}

// Step finds the time step that the code belongs to, among those near now that come after the last one used: a code
// that was accepted is never accepted again (RFC 6238 §5.2).
func Step(base32, code string, now time.Time, last int64) (step int64, ok bool) {
	current := now.Unix() / period
	for candidate := current - skew; candidate <= current+skew; candidate++ {
		right, err := hotp.ValidateCustom(code, uint64(candidate), base32, hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1}) //nolint:gosec // steps are positive
		if err == nil && right && candidate > last {
			return candidate, true
		}
	}
	return 0, false
}
