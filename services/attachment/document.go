// Package attachment is what is kept of a patient besides the record itself: documents, observations, wearable readings
// and structured payloads, each with or without bytes. It holds their fields, their rules and the verbs by which they
// change. It knows no HTTP and no SQL, and of patients nothing but their ids.
package attachment

import (
	"bytes"
	"mime"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Document is one document of a patient at one version. Text that was never given is empty.
type Document struct {
	ID             string     `db:"id"` // a UUIDv7: ids grow with creation
	PatientID      int64      `db:"patient_id"`
	Type           string     `db:"type"`         // document, observation, wearable or structured
	ContentType    string     `db:"content_type"` // a MIME type
	Filename       string     `db:"filename"`
	Title          string     `db:"title"`
	DeclaredSize   *int64     `db:"declared_size"`   // nil when none was declared
	Payload        []byte     `db:"payload"`         // a JSON value as it came; nil when there is none
	PayloadOmitted bool       `db:"payload_omitted"` // there is one that did not fit into the page: read the document singly
	Content                   // its bytes, once there are some
	Version        int64      `db:"version"` // 1 at creation, one more at each change; an upload is one
	CreatedAt      time.Time  `db:"created_at"`
	UpdatedAt      time.Time  `db:"updated_at"`
	DeactivatedAt  *time.Time `db:"deactivated_at"` // nil while nobody deactivated it
}

// Content is what is known of a document's bytes. The zero Content is that there are none.
type Content struct {
	BlobKey         *string    `db:"blob_key"`       // where they are kept; nil: there are none
	Size            *int64     `db:"content_size"`   // how many they are, unencrypted
	SHA256          []byte     `db:"content_sha256"` // of them, unencrypted
	EncryptionKeyID string     `db:"encryption_key_id"`
	UploadedAt      *time.Time `db:"uploaded_at"`
}

// HasContent reports whether there are bytes.
func (c Content) HasContent() bool { return c.BlobKey != nil }

// Active reports whether nobody deactivated the document.
func (d Document) Active() bool { return d.DeactivatedAt == nil }

// SizeShown is the size in decimal digits: the content's once there is content, else the declared one; empty without
// either.
func (d Document) SizeShown() string {
	size := d.DeclaredSize
	if d.HasContent() {
		size = d.Size
	}
	if size == nil {
		return ""
	}
	return strconv.FormatInt(*size, 10)
}

// Input is what a caller gives of a document. Nil is what was not given.
type Input struct {
	Type, ContentType, Filename, Title, Size *string
	Payload                                  []byte // a JSON value as it came, never null
}

// The kinds of documents.
const (
	TypeDocument    = "document"
	TypeObservation = "observation"
	TypeWearable    = "wearable"
	TypeStructured  = "structured"
)

// Types is the value set of a document's type.
func Types() []string { return []string{TypeDocument, TypeObservation, TypeWearable, TypeStructured} }

// DefaultContentType is a document's where none is given.
const DefaultContentType = "application/pdf"

// MostSize is the largest size that is declared: up to it a JavaScript client reads every integer exactly.
const MostSize = 1 << 53

// New makes a document of an input, or tells every rule that the input breaks. Its id and its patient's are left to the
// caller.
func New(in Input, now time.Time) (Document, []fault.Field) {
	d := Document{Type: TypeDocument, ContentType: DefaultContentType, Version: 1, CreatedAt: now, UpdatedAt: now}
	return d.With(in)
}

// With is the document with an input applied: what was not given stays as it is. The version stays too.
func (d Document) With(in Input) (Document, []fault.Field) {
	var e editor
	e.kind(in.Type, &d)
	e.contentType(in.ContentType, &d)
	text(in.Filename, &d.Filename)
	text(in.Title, &d.Title)
	e.size(in.Size, &d)
	e.payload(in.Payload, &d)
	return d, e.faults
}

// Validate tells the rules that an input breaks whatever document it is meant for.
func (in Input) Validate() []fault.Field {
	_, faults := Document{}.With(in)
	return faults
}

// editor applies an input's members one by one and notes each rule that one breaks.
type editor struct {
	faults []fault.Field
}

func (e *editor) fault(field, code, message string) {
	e.faults = append(e.faults, fault.Field{Field: field, Code: code, Message: message})
}

// kind applies the type, which a document cannot be without, in any case.
func (e *editor) kind(given *string, d *Document) {
	switch {
	case given == nil:
	case *given == "" || notAvailable(*given):
		e.fault("type", "blank", "must not be blank or n/a")
	default:
		for _, value := range Types() {
			if strings.EqualFold(value, *given) {
				d.Type = value
				return
			}
		}
		e.fault("type", "invalid_value", "must be one of "+strings.Join(Types(), ", "))
	}
}

// contentType applies a MIME type (RFC 2045 §5.1). It is served as a header one day, and so is plain ASCII.
func (e *editor) contentType(given *string, d *Document) {
	if given == nil {
		return
	}
	if *given == "" || notAvailable(*given) {
		d.ContentType = DefaultContentType
		return
	}
	media, _, err := mime.ParseMediaType(*given)
	if err != nil || !strings.Contains(media, "/") || strings.ContainsFunc(*given, func(r rune) bool { return r > unicode.MaxASCII }) {
		e.fault("contentType", "invalid_value", "must be a MIME type, such as application/pdf")
		return
	}
	d.ContentType = *given
}

// text applies an optional text: n/a clears it.
func text(given, into *string) {
	if given == nil {
		return
	}
	*into = *given
	if notAvailable(*given) {
		*into = ""
	}
}

// size applies the declared size: that of the content, once there is content.
func (e *editor) size(given *string, d *Document) {
	if given == nil {
		return
	}
	if *given == "" || notAvailable(*given) {
		d.DeclaredSize = nil
		return
	}
	size, err := strconv.ParseInt(*given, 10, 64)
	switch {
	case err != nil || size < 0 || size > MostSize || strconv.FormatInt(size, 10) != *given:
		e.fault("size", "invalid_size", "must be a decimal number from 0 to 2^53, without sign or leading zeros")
	case d.HasContent() && size != *d.Size:
		e.fault("size", "size_mismatch", "is not the size of the content")
	case d.HasContent(): // which says as much: what was read can be sent back, and changes nothing
	default:
		d.DeclaredSize = &size
	}
}

// payload applies a payload: the string n/a clears it.
func (e *editor) payload(given []byte, d *Document) {
	switch {
	case given == nil:
	case isNotAvailable(given):
		d.Payload = nil
	case deep(given):
		e.fault("payload", "too_deep", "is nested more than "+strconv.Itoa(MostDepth)+" deep")
	default:
		d.Payload = given
	}
}

func notAvailable(s string) bool { return strings.EqualFold(s, "n/a") }

// same reports whether two versions of a document differ in nothing that a caller gives, nor in being active.
func same(before, after Document) bool {
	return before.Type == after.Type && before.ContentType == after.ContentType && before.Filename == after.Filename &&
		before.Title == after.Title && before.Active() == after.Active() && bytes.Equal(before.Payload, after.Payload) &&
		(before.Payload == nil) == (after.Payload == nil) && before.declared() == after.declared()
}

// declared is the declared size, or -1.
func (d Document) declared() int64 {
	if d.DeclaredSize == nil {
		return -1
	}
	return *d.DeclaredSize
}
