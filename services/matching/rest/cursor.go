package rest

import (
	"strconv"
	"strings"

	"github.com/patient-mesh/patient-mesh/services/matching"
)

// cursors hold the whole question of an exact find, sealed, so that no URL that we write shows it. They are good for one
// tenant alone.
type cursors struct {
	sealer Sealer
	tenant string
}

const (
	purpose   = "find"
	separator = "\x1f" // stands in no text that was taken
)

// link is the Link header that leads on from the one whose id is given.
func (c cursors) link(path string, q matching.Question, after int64) string {
	target := path + "?"
	if q.Limit != nil {
		target += "limit=" + strconv.Itoa(int(*q.Limit)) + "&"
	}
	text := strconv.FormatInt(after, 10) + separator + strings.Join(q.Given[:], separator)
	return "<" + target + "after=" + c.sealer.Seal(text, purpose, c.tenant) + `>; rel="next"`
}

// open puts the question of a cursor in the place of one that gives nothing. One that gives anything must give the same.
func (c cursors) open(sealed string, q *matching.Question) bool {
	text, ok := c.sealer.Open(sealed, purpose, c.tenant)
	id, rest, cut := strings.Cut(text, separator)
	texts := strings.Split(rest, separator)
	after, err := strconv.ParseInt(id, 10, 64)
	if !ok || !cut || err != nil || len(texts) != int(matching.Demographics) {
		return false
	}
	given := matching.Given(texts)
	if q.Given != (matching.Given{}) && q.Given != given || q.Exact != nil && !*q.Exact {
		return false
	}
	exact := true
	q.Given, q.Exact, q.After = given, &exact, after
	return true
}
