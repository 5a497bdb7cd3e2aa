package route

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Trie finds routes by method and path, a segment at a time, with nothing allocated. It does not change once made.
type Trie struct{ root node }

type node struct {
	named   map[string]*node
	any     *node             // what takes any segment
	methods map[string]*Route // of the paths that end here
	allow   []string
}

// NewTrie makes a trie of a table. Two routes for one method and path are an error.
func NewTrie(table []Route) (*Trie, error) {
	t := &Trie{}
	for i := range table {
		r := &table[i]
		n := &t.root
		for segment := range strings.SplitSeq(strings.TrimPrefix(r.Pattern, "/"), "/") {
			n = n.child(segment)
		}
		if n.methods == nil {
			n.methods = map[string]*Route{}
		}
		if n.methods[r.Method] != nil {
			return nil, fmt.Errorf("two routes for %s %s", r.Method, r.Pattern)
		}
		n.methods[r.Method] = r
		n.allow = append(n.allow, r.Method)
		if r.Method == http.MethodGet {
			n.allow = append(n.allow, "HEAD")
		}
		slices.Sort(n.allow)
	}
	return t, nil
}

func (n *node) child(segment string) *node {
	if strings.HasPrefix(segment, "{") {
		if n.any == nil {
			n.any = &node{}
		}
		return n.any
	}
	if n.named == nil {
		n.named = map[string]*node{}
	}
	if n.named[segment] == nil {
		n.named[segment] = &node{}
	}
	return n.named[segment]
}

// Match finds the route of a method and a clean path (see Clean). A HEAD is answered by the GET route. With no route, allow
// lists the methods that the path has; it is empty where there is no such path.
func (t *Trie) Match(method, path []byte) (r *Route, allow []string) {
	if len(path) == 0 || path[0] != '/' {
		return nil, nil
	}
	n := t.place(path)
	if n == nil {
		return nil, nil
	}
	if r := n.methods[string(method)]; r != nil {
		return r, nil
	}
	if string(method) == "HEAD" {
		if r := n.methods["GET"]; r != nil {
			return r, nil
		}
	}
	return nil, n.allow
}

// Open reports whether a path asks nobody for a credential: every route that it has is public, or it is one of the
// well-known ones, there or not.
func (t *Trie) Open(path []byte) bool {
	if bytes.HasPrefix(path, []byte("/.well-known/")) {
		return true
	}
	if len(path) == 0 || path[0] != '/' {
		return false
	}
	n := t.place(path)
	if n == nil || len(n.methods) == 0 {
		return false
	}
	for _, r := range n.methods {
		if !r.Public {
			return false
		}
	}
	return true
}

// place is where a path that begins with a slash ends; nil when there is nothing.
func (t *Trie) place(path []byte) *node {
	if len(path) == 1 {
		return t.root.named[""] // the one path that has no segment
	}
	return t.root.find(path[1:])
}

// find goes down a segment; a segment's own name goes before any text, and where it leads nowhere the other is tried.
func (n *node) find(path []byte) *node {
	end := slices.Index(path, '/')
	last := end < 0
	if last {
		end = len(path)
	}
	if end == 0 {
		return nil // no segment is empty
	}
	for _, next := range [2]*node{n.named[string(path[:end])], n.any} {
		switch {
		case next == nil:
		case !last:
			if found := next.find(path[end+1:]); found != nil {
				return found
			}
		case next.methods != nil:
			return next
		}
	}
	return nil
}
