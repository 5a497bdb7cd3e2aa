// Package page knows how lists are cut: by page number, or by an opaque cursor that costs the same at any depth.
package page

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// The bounds of a page.
const (
	DefaultSize = 50
	MaxSize     = 500
)

// Request is which part of a list is asked for: the page numbered Page, or what follows After.
type Request struct {
	Page  int
	Size  int
	After string // the id after which to go on; empty: by page number
	// Carried is what the cursors of this list carry besides, in letters of base64url: the part of a search that no URL may
	// show, sealed. Whoever carries some takes it off (see Carried) before the cursor is parsed.
	Carried string
}

// Offset is how many entries stand before the page.
func (r Request) Offset() int64 {
	if r.After != "" {
		return 0
	}
	return int64(r.Page) * int64(r.Size)
}

// cursor is what the opaque text holds: the last id shown, and the number of the page that follows.
type cursor struct {
	After string `json:"a"`
	Page  int    `json:"p"`
}

// Parse reads the query parameters page, size and after; nil is a parameter that was not given. Every fault is told.
func Parse(page, size, after *string) (Request, []fault.Field) {
	var faults []fault.Field
	r := Request{Size: DefaultSize}
	number := func(name string, text *string, low, high, otherwise int) int {
		if text == nil {
			return otherwise
		}
		n, err := strconv.Atoi(*text)
		if err != nil || n < low || n > high {
			faults = append(faults, fault.Field{
				Field: name, Code: "out_of_range",
				Message: "must be an integer from " + strconv.Itoa(low) + " to " + strconv.Itoa(high),
			})
			return otherwise
		}
		return n
	}
	r.Size = number("size", size, 1, MaxSize, DefaultSize)
	r.Page = number("page", page, 0, maxPage, 0)
	if after == nil {
		return r, faults
	}
	c, ok := decode(*after)
	switch {
	case page != nil:
		faults = append(faults, fault.Field{Field: "after", Code: "conflicting", Message: "cannot be given together with page"})
	case !ok:
		faults = append(faults, fault.Field{Field: "after", Code: "invalid_cursor", Message: "is no cursor of this list"})
	default:
		r.After, r.Page = c.After, c.Page
	}
	return r, faults
}

// maxPage keeps page × size far inside an int64.
const maxPage = 1<<31 - 1

func decode(text string) (cursor, bool) {
	var c cursor
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(raw, &c) != nil || c.After == "" || c.Page < 0 {
		return cursor{}, false
	}
	return c, true
}

// carry parts a cursor from what it carries.
const carry = "."

// Carried parts the query parameter after into the cursor and what it carries besides; empty is nothing.
func Carried(after *string) (cursor *string, carried string) {
	if after == nil {
		return nil, ""
	}
	bare, carried, _ := strings.Cut(*after, carry)
	return &bare, carried
}

// Cursor is the text of After, for who asks the next service for the same part of a list.
func (r Request) Cursor() string { return encode(cursor{After: r.After, Page: r.Page}) }

func encode(c cursor) string {
	raw, err := json.Marshal(c)
	if err != nil {
		return "" // a string and an int cannot fail to marshal
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// Next is the Link header that leads on from a page whose last entry has the id last. Target is the list's path with
// its own filters, ending in ? or &.
func (r Request) Next(target, last string) string {
	next := encode(cursor{After: last, Page: r.Page + 1})
	if r.Carried != "" {
		next += carry + r.Carried
	}
	return "<" + target + "size=" + strconv.Itoa(r.Size) + "&after=" + next + `>; rel="next"`
}

// Cut leaves, of a list that was read one entry longer than the page, the entries of the page itself, and tells the Link
// to the next when the list goes on. Target is Next's; id names an entry as cursors do.
func Cut[T any](list []T, r Request, target string, id func(T) string) (entries []T, next *string) {
	if len(list) <= r.Size {
		return list, nil
	}
	list = list[:r.Size]
	link := r.Next(target, id(list[len(list)-1]))
	return list, &link
}
