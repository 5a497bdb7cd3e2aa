package web

import "sync"

// bufferSize is how much of a body is held at a time.
const bufferSize = 64 << 10

var buffers = sync.Pool{New: func() any { b := make([]byte, bufferSize); return &b }} //nolint:gochecknoglobals // memory, which has no owner

func acquireBuffer() *[]byte  { return buffers.Get().(*[]byte) } //nolint:forcetypeassert // the pool holds nothing else
func releaseBuffer(b *[]byte) { buffers.Put(b) }
