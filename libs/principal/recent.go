package principal

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
)

// recent remembers what encoded principals say, since the same few come again with every request. Only text that an
// assertion vouches for gets here, so nobody else can fill it. It is safe for concurrent use.
type recent struct {
	mu    sync.RWMutex
	known map[Encoded]Principal
}

// recentLimit bounds it: over it all is forgotten, and what is in use comes back at once.
const recentLimit = 4096

func (r *recent) principal(text Encoded) (Principal, error) {
	r.mu.RLock()
	p, ok := r.known[text]
	r.mu.RUnlock()
	if ok {
		return p, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(string(text))
	if err != nil || json.Unmarshal(raw, &p) != nil {
		return Principal{}, ErrAssertion
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || len(r.known) >= recentLimit {
		r.known = map[Encoded]Principal{}
	}
	r.known[Encoded(strings.Clone(string(text)))] = p // the text is a part of a longer one
	return p, nil
}
