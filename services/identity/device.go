package identity

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/secret"
)

// DeviceLifetime is how long a browser is remembered.
const DeviceLifetime = 90 * 24 * time.Hour

// NewDevice makes a device cookie: proof that the user signed in from this browser before, which opens nothing. It does
// not say who the user is.
func (p *People) NewDevice(userID string) (string, error) {
	nonce, err := secret.Random(p.Random)
	if err != nil {
		return "", err
	}
	return p.signDevice(userID, nonce, strconv.FormatInt(p.Now().Unix(), 10)), nil
}

func (p *People) signDevice(userID, nonce, at string) string {
	mac := p.Hasher.Hash(strings.Join([]string{"device", p.Settings.Environment, userID, nonce, at}, "\x00"))
	return strings.Join([]string{nonce, at, hex.EncodeToString(mac)}, ".")
}

// knownDevice reads a device cookie of the user. Device names the browser.
func (p *People) knownDevice(cookie string, user *User) (device string, known bool) {
	parts := strings.Split(cookie, ".")
	if user == nil || len(parts) != 3 {
		return "", false
	}
	seconds, err := strconv.ParseInt(parts[1], 10, 64)
	mac, macErr := hex.DecodeString(parts[2])
	text := strings.Join([]string{"device", p.Settings.Environment, user.ID, parts[0], parts[1]}, "\x00")
	if err != nil || macErr != nil || !p.Hasher.Matches(mac, text) || p.Now().Sub(time.Unix(seconds, 0)) > DeviceLifetime {
		return "", false
	}
	return parts[0], true
}
