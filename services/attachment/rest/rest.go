// Package rest turns what is on the wire into documents and back. It knows no SQL, and Fiber
// only where bytes are streamed.
package rest

import (
	"strconv"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/attachment"
	"github.com/patient-mesh/patient-mesh/services/attachment/api"
)

// Server answers the operations of openapi.yaml.
type Server struct {
	Documents *attachment.Service
	Contents  *attachment.Contents
	Sealer    Sealer
}

// Sealer hides texts that go out in a URL and come back (principal.Keyring).
type Sealer interface {
	Seal(text string, bound ...string) string
	Open(sealed string, bound ...string) (text string, ok bool)
}

var _ api.StrictServerInterface = (*Server)(nil)

// maxID is the largest integer that a JavaScript client reads exactly.
const maxID = 1<<53 - 1

// parseID reads a patient id as it is written, without sign or leading zeros. What is no id is 0, which no patient has: it
// is not found like any other id that is not there.
func parseID(text string) int64 {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 || id > maxID || strconv.FormatInt(id, 10) != text {
		return 0
	}
	return id
}

// parseDocumentID reads a document's id as it is written. What is no id is the nil id, which no document has.
func parseDocumentID(text string) string {
	if !validDocumentID(text) {
		return uuid.Nil.String()
	}
	return text
}

func validDocumentID(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}

// parsePage reads which part of a list is asked for.
func parsePage(number, size, after *string) (page.Request, []fault.Field) {
	part, faults := page.Parse(number, size, after)
	if part.After != "" && !validDocumentID(part.After) {
		faults = append(faults, fault.Field{Field: "after", Code: "invalid_cursor", Message: "is no cursor of this list"})
	}
	return part, faults
}

// input reads what a request gives of a document.
func input(o *body.Object) attachment.Input {
	in := attachment.Input{
		Type:        o.Text("type", body.TextLength).Pointer(),
		ContentType: o.Text("contentType", body.TextLength).Pointer(),
		Filename:    o.Text("filename", body.TextLength).Pointer(),
		Title:       o.Text("title", body.TextLength).Pointer(),
		Size:        o.Text("size", body.TextLength).Pointer(),
	}
	if payload := o.Any("payload"); payload.Given() {
		in.Payload = payload.Value
	}
	return in
}

func precondition(ifMatch *string) attachment.Precondition {
	return func(version int64) error { return web.IfMatch(ifMatch, version) }
}
