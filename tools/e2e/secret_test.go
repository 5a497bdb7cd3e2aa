package e2e

import (
	"bytes"
	"encoding/binary"
	"sync"
)

// secrets are what the tests typed, were shown or were mailed, and what must therefore stand in nothing that is emitted.
var secrets = &register{by: map[uint64][]string{}}

// register finds many texts in a long one in a single pass.
type register struct {
	mu sync.Mutex
	by map[uint64][]string // by their first eight bytes
}

// secretly notes a secret and gives it back. What is shorter than eight bytes could stand somewhere by chance.
func secretly(text string) string {
	if len(text) < 8 {
		return text
	}
	secrets.mu.Lock()
	defer secrets.mu.Unlock()
	head := binary.LittleEndian.Uint64([]byte(text))
	secrets.by[head] = append(secrets.by[head], text)
	return text
}

// in gives the first secret that stands in a text; "" when there is none.
func (r *register) in(text []byte) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(text) < 8 {
		return ""
	}
	for i := range len(text) - 7 {
		for _, one := range r.by[binary.LittleEndian.Uint64(text[i:])] {
			if bytes.HasPrefix(text[i:], []byte(one)) {
				return one
			}
		}
	}
	return ""
}
