package password

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// The bounds of a password, in code points.
const (
	Shortest = 12
	Longest  = 128
)

// shortestCommon is the length of the shortest entries of the list, which are compared with what is left of a password
// whose end is trimmed.
const shortestCommon = 8

// commonGz holds, sorted and folded, the passwords of twelve characters and more out of the million most common ones of
// SecLists (10-million-password-list-top-1000000, MIT), those of eight and more out of its first hundred thousand and
// out of zxcvbn-ts' list (MIT).
//
//go:embed common.txt.gz
var commonGz []byte

// Common is the passwords that are tried first by whoever guesses. It is safe for concurrent use.
type Common struct{ sorted []string }

// NewCommon unpacks the list.
func NewCommon() (*Common, error) {
	packed, err := gzip.NewReader(bytes.NewReader(commonGz))
	if err != nil {
		return nil, fmt.Errorf("common passwords: %w", err)
	}
	raw, err := io.ReadAll(packed)
	if err != nil {
		return nil, fmt.Errorf("common passwords: %w", err)
	}
	return &Common{sorted: strings.Split(string(raw), "\n")}, nil
}

// Normal is the form of a password that is hashed: NFKC, so that two keyboards that spell it differently agree (NIST SP
// 800-63B §5.1.1.2).
func Normal(password string) string { return norm.NFKC.String(password) }

func fold(text string) string { return cases.Fold().String(norm.NFKC.String(text)) }

// Fault tells the first rule that a password breaks, as a code and a message; "" when it breaks none. Personal are
// words that whoever knows the user would try: none of them may be the password, in any case.
func (c *Common) Fault(password string, personal ...string) (code, message string) {
	switch n := utf8.RuneCountInString(Normal(password)); {
	case !utf8.ValidString(password):
		return "invalid_text", "must be UTF-8 text"
	case n < Shortest || n > Longest:
		return "invalid_length", "must have 12 to 128 characters"
	}
	folded := fold(password)
	if c.has(folded) || repeats(folded) {
		return "common_password", "is among the passwords that are guessed first"
	}
	for _, word := range personal {
		if word != "" && fold(strings.TrimSpace(word)) == strings.TrimSpace(folded) {
			return "personal_password", "must not be your e-mail address or the name of your organization"
		}
	}
	return "", ""
}

// has finds a password as it is, and without what people add to its end to please a rule.
func (c *Common) has(folded string) bool {
	stem := strings.TrimRightFunc(folded, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, text := range [2]string{folded, stem} {
		if _, found := slices.BinarySearch(c.sorted, text); found && utf8.RuneCountInString(text) >= shortestCommon {
			return true
		}
	}
	return false
}

// longestUnit is the longest text whose mere repetition makes no password.
const longestUnit = 4

// repeats reports a text that is one short text again and again.
func repeats(text string) bool {
	runes := []rune(text)
	for unit := 1; unit <= longestUnit; unit++ {
		if slices.Equal(runes[unit:], runes[:len(runes)-unit]) {
			return true
		}
	}
	return false
}
