// Package seal encrypts secrets that have to be had back, such as shared secrets and private keys. It does not know
// what they are for.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"io"
)

// version is the first byte of everything sealed, so that the form can be changed later.
const version = 1

// ErrSealed is the one answer to everything that cannot be opened, whatever is wrong with it.
var ErrSealed = errors.New("sealed text cannot be opened")

// Sealer seals by AES-256-GCM. It is safe for concurrent use if its source of randomness is.
type Sealer struct {
	aead   cipher.AEAD
	random io.Reader
}

// New makes a sealer of a key of 32 bytes.
func New(key []byte, random io.Reader) (*Sealer, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("sealing key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("sealing key: %w", err)
	}
	return &Sealer{aead: aead, random: random}, nil
}

// Seal encrypts. What it is sealed for (a table and an id) must be named again to open it, so that sealed texts
// cannot change places.
func (s *Sealer) Seal(plain []byte, purpose string) ([]byte, error) {
	nonce := make([]byte, s.aead.NonceSize())
	if _, err := io.ReadFull(s.random, nonce); err != nil {
		return nil, fmt.Errorf("read randomness: %w", err)
	}
	return s.aead.Seal(append([]byte{version}, nonce...), nonce, plain, []byte(purpose)), nil
}

// Open decrypts what Seal made for the same purpose.
func (s *Sealer) Open(sealed []byte, purpose string) ([]byte, error) {
	if len(sealed) < 1+s.aead.NonceSize() || sealed[0] != version {
		return nil, ErrSealed
	}
	nonce, text := sealed[1:1+s.aead.NonceSize()], sealed[1+s.aead.NonceSize():]
	plain, err := s.aead.Open(nil, nonce, text, []byte(purpose))
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}
