package route

import (
	"bytes"
	"errors"
)

// ErrPath is a path that is none.
var ErrPath = errors.New("the path is malformed")

// Clean brings a request's path to the one form in which it is both routed and sent on (RFC 3986 §6.2.2): no escapes that
// need not be, the others in upper case, no dot segments, no empty segments but a last one. An escaped slash stays
// escaped: it is a part of its segment. Paths that are clean already come back as they are; others are built in buffer.
func Clean(path, buffer []byte) ([]byte, error) {
	if len(path) == 0 || path[0] != '/' {
		return nil, ErrPath
	}
	dirty := false
	for i, c := range path {
		switch {
		case c <= ' ' || c == 0x7f || c == '\\' || c == '#':
			return nil, ErrPath
		case c == '%', c == '/' && i+1 < len(path) && (path[i+1] == '/' || path[i+1] == '.'):
			dirty = true
		}
	}
	if !dirty {
		return path, nil
	}
	return clean(path, buffer[:0])
}

func clean(path, out []byte) ([]byte, error) {
	for rest := path[1:]; ; {
		segment, after, more := bytes.Cut(rest, []byte("/"))
		start := len(out)
		var err error
		if out, err = appendDecoded(append(out, '/'), segment); err != nil {
			return nil, err
		}
		switch string(out[start+1:]) {
		case "", ".":
			out = out[:start]
		case "..":
			out = out[:max(0, bytes.LastIndexByte(out[:start], '/'))]
		default:
			if !more {
				return out, nil
			}
			rest = after
			continue
		}
		if !more { // it ended in a slash, or in a segment that stands for one
			return append(out, '/'), nil
		}
		rest = after
	}
}

// appendDecoded undoes the escapes of unreserved characters.
func appendDecoded(out, segment []byte) ([]byte, error) {
	for i := 0; i < len(segment); i++ {
		c := segment[i]
		if c != '%' {
			out = append(out, c)
			continue
		}
		if i+2 >= len(segment) {
			return nil, ErrPath
		}
		high, low := unhex(segment[i+1]), unhex(segment[i+2])
		if high < 0 || low < 0 {
			return nil, ErrPath
		}
		i += 2
		switch c := byte(high<<4 | low); { //nolint:gosec // two half bytes
		case c < ' ' || c == 0x7f:
			return nil, ErrPath
		case unreserved(c):
			out = append(out, c)
		default:
			const digits = "0123456789ABCDEF"
			out = append(out, '%', digits[high], digits[low])
		}
	}
	return out, nil
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

func unreserved(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}
