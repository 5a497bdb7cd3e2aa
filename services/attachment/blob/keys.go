package blob

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"

	"github.com/minio/sio"
)

// Keys are the master keys by their ids. The first encrypts, all decrypt; without any nothing is encrypted.
type Keys struct {
	first   string
	masters map[string][]byte
}

const keySize = 32

// ParseKeys reads id:base64[,id:base64…], each of 32 bytes. No error repeats anything of a key.
func ParseKeys(text string) (Keys, error) {
	k := Keys{masters: map[string][]byte{}}
	if strings.TrimSpace(text) == "" {
		return k, nil
	}
	name := regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	for i, pair := range strings.Split(text, ",") {
		id, encoded, _ := strings.Cut(strings.TrimSpace(pair), ":")
		master, err := base64.StdEncoding.Strict().DecodeString(encoded)
		switch {
		case !name.MatchString(id):
			return Keys{}, fmt.Errorf("CONTENT_KEYS: key %d has no id of letters, digits, dots, dashes and underscores before a colon", i+1)
		case err != nil || len(master) != keySize:
			return Keys{}, fmt.Errorf("CONTENT_KEYS: key %d is not base64 of %d bytes", i+1, keySize)
		case k.masters[id] != nil:
			return Keys{}, fmt.Errorf("CONTENT_KEYS: key %d has the id of one before it", i+1)
		}
		if i == 0 {
			k.first = id
		}
		k.masters[id] = master
	}
	return k, nil
}

// UnknownKeyError is the failure to read what was encrypted under a key that is not among the keys any more.
type UnknownKeyError struct{ ID string }

func (e *UnknownKeyError) Error() string {
	return fmt.Sprintf("the content is encrypted under the key %q, which CONTENT_KEYS does not hold", e.ID)
}

func (k Keys) master(id string) ([]byte, error) {
	if master, ok := k.masters[id]; ok {
		return master, nil
	}
	return nil, &UnknownKeyError{ID: id}
}

// cipher is the format of a blob's ciphertext, DARE 2.0 with AES-256-GCM: packages of 64 KiB, each authenticated along
// with its place in the order and with whether it is the last. A blob has a key of its own (RFC 5869), made of its salt
// and its name, so that bytes moved to another name cannot be read there.
func (k Keys) cipher(id, blob string, salt []byte) (sio.Config, error) {
	master, err := k.master(id)
	if err != nil {
		return sio.Config{}, err
	}
	key, err := hkdf.Key(sha256.New, master, salt, "attachment content v1\x00"+blob, keySize)
	return sio.Config{
		MinVersion: sio.Version20, MaxVersion: sio.Version20, CipherSuites: []byte{sio.AES_256_GCM}, Key: key,
	}, err
}
