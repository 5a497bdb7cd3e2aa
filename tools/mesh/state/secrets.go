package state

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
)

const (
	secretsFile = "secrets.json"
	placesFile  = "state.json"
)

// Secrets are made at random once for each state folder and kept there.
type Secrets struct {
	MeshKey          string            `json:"meshKey"`       // id:base64, as MESH_KEY wants it
	CredentialKey    string            `json:"credentialKey"` // base64 of 32 bytes
	PostgresPassword string            `json:"postgresPassword"`
	RedisPassword    string            `json:"redisPassword"`
	RolePasswords    map[string]string `json:"rolePasswords"`
}

// Places is where the private servers of this state folder are. Zero values mean that there are none yet.
type Places struct {
	PostgresRoot string `json:"postgresRoot"`
	PostgresPort int    `json:"postgresPort"`
	RedisPort    int    `json:"redisPort"`
}

// Secrets reads the folder's secrets, or makes them in a folder that is new.
func (d *Dir) Secrets() (Secrets, error) {
	var s Secrets
	if found, err := d.Read(secretsFile, &s); err != nil || found {
		return s, err
	}
	if found, err := d.Read(placesFile, &Places{}); err != nil || found {
		return s, errors.Join(err, errors.New(d.Path(secretsFile)+" is gone, so the databases beside it cannot be opened: put it back, or remove "+d.Path()+" to begin anew"))
	}
	s = Secrets{
		MeshKey:          "local:" + base64.StdEncoding.EncodeToString(random(32)),
		CredentialKey:    base64.StdEncoding.EncodeToString(random(32)),
		PostgresPassword: Password(),
		RedisPassword:    Password(),
		RolePasswords:    map[string]string{},
	}
	return s, d.Write(secretsFile, s)
}

// KeepSecrets stores secrets that were added to.
func (d *Dir) KeepSecrets(s Secrets) error { return d.Write(secretsFile, s) }

// Places reads where the private servers are.
func (d *Dir) Places() (Places, error) {
	var p Places
	_, err := d.Read(placesFile, &p)
	return p, err
}

// KeepPlaces remembers where the private servers are.
func (d *Dir) KeepPlaces(p Places) error { return d.Write(placesFile, p) }

// Password makes a random password of 192 bits, of letters, digits, - and _ only, so that it needs no escaping in a URL.
func Password() string { return base64.RawURLEncoding.EncodeToString(random(24)) }

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails; the runtime ends the program instead
	return b
}
