package index

import (
	"encoding/binary"
	"unsafe"
)

// reader reads a record's bytes one fact after the other.
type reader struct {
	b []byte
	i int
}

func (r *reader) uvarint() uint64 {
	if c := r.b[r.i]; c < 0x80 {
		r.i++
		return uint64(c)
	}
	v, n := binary.Uvarint(r.b[r.i:])
	r.i += n
	return v
}

func (r *reader) flags() int {
	r.i += 3
	return int(r.b[r.i-3]) | int(r.b[r.i-2])<<8 | int(r.b[r.i-1])<<16
}

func (r *reader) number() uint32 { return uint32(r.uvarint()) } //nolint:gosec // as it was written

func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) } //nolint:gosec // entries of an arena do not change

// short appends a short text: one of digits alone as their number and how many there are.
func short(b []byte, s string) []byte {
	if n := len(s); n > 0 && n <= 18 && onlyDigits(s) {
		return binary.AppendUvarint(binary.AppendUvarint(b, uint64(n)<<1|1), digits(s))
	}
	return append(binary.AppendUvarint(b, uint64(len(s))<<1), s...)
}

// short reads what short wrote: a view of the bytes, or digits written into the record's own.
func (r *record) short(in *reader) string {
	n := in.uvarint()
	if n&1 == 0 {
		in.i += int(n >> 1)
		return view(in.b[in.i-int(n>>1) : in.i])
	}
	at, width := len(r.digits), int(n>>1)
	if cap(r.digits)-at < width {
		r.digits, at = make([]byte, 0, 2*cap(r.digits)+64), 0 // what was read before keeps the old ones
	}
	r.digits = padded(r.digits, in.uvarint(), width)
	return view(r.digits[at:])
}
