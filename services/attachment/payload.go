package attachment

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// The bounds of a payload.
const (
	LongestPayload = 1 << 20 // bytes: of a string what it says, of other JSON its text
	MostDepth      = 100     // objects and lists within each other
)

// Oversized is the refusal of an input whose payload is too long; nil when it is not. It comes before the rules that an
// input may break.
func (in Input) Oversized() error {
	length := len(in.Payload)
	if text, ok := textOf(in.Payload); ok {
		length = len(text)
	}
	if length > LongestPayload {
		return fault.New(fault.TooLarge, "payload_too_large", "The payload is over 1 MiB.")
	}
	return nil
}

// textOf is what a payload says that is a string.
func textOf(payload []byte) (text []byte, ok bool) {
	if !bytes.HasPrefix(payload, []byte{'"'}) {
		return nil, false
	}
	text, err := jsontext.AppendUnquote(nil, payload)
	return text, err == nil
}

func isNotAvailable(payload []byte) bool {
	return len(payload) == len(`"n/a"`) && strings.EqualFold(string(payload), `"n/a"`)
}

// deep reports whether a payload is nested deeper than MostDepth.
func deep(payload []byte) bool {
	decoder := jsontext.NewDecoder(bytes.NewReader(payload), jsontext.AllowDuplicateNames(true))
	for {
		if _, err := decoder.ReadToken(); err != nil {
			return !errors.Is(err, io.EOF) // one that cannot be followed is no less deep
		}
		if decoder.StackDepth() > MostDepth {
			return true
		}
	}
}
