// Package attachment is what is kept of a patient besides the record itself: documents, observations, wearable readings
// and structured payloads, each with or without bytes. It holds their fields, their rules and the verbs by which they
// change. It knows no HTTP and no SQL, and of patients nothing but their ids.
package attachment

import (
	"strconv"
	"time"
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
