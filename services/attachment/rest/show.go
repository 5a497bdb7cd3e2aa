package rest

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/attachment"
)

// Face is one of the two interfaces.
type Face struct {
	version    int
	root, kind string // of its paths: root, patient, kind
}

// V2 is the interface under /v2/patient/{id}/document.
func V2() Face { return Face{version: 2, root: "/v2/patient/", kind: "/document"} }

// V3 is the interface under /v3/patient/{patientId}/attach.
func V3() Face { return Face{version: 3, root: "/v3/patient/", kind: "/attach"} }

// list is the path of a patient's documents.
func (f Face) list(patientID int64) string { return f.root + strconv.FormatInt(patientID, 10) + f.kind }

// path is the path of a document.
func (f Face) path(patientID int64, id string) string { return f.list(patientID) + "/" + id }

// shown is a document as both interfaces show it; what one of them does not show is left empty there. The payload is not
// among it: it goes out as it came in.
type shown struct {
	ID             string `json:"id"`
	PatientID      string `json:"patientId,omitempty"`
	Type           string `json:"type"`
	ContentType    string `json:"contentType"`
	Filename       string `json:"filename"`
	Title          string `json:"title"`
	Size           string `json:"size"`
	SHA256         string `json:"sha256"`
	HasContent     bool   `json:"hasContent"`
	ContentURL     string `json:"contentUrl"`
	Active         bool   `json:"active"`
	CreatedAt      string `json:"createdAt"`
	UpdatedAt      string `json:"updatedAt,omitempty"`
	PayloadOmitted bool   `json:"payloadOmitted,omitempty"`
}

// Show is a document as the interface shows it.
func (f Face) Show(d attachment.Document) (body.Raw, error) {
	s := shown{
		ID: d.ID, Type: d.Type, ContentType: d.ContentType, Filename: d.Filename, Title: d.Title, Size: d.SizeShown(),
		SHA256: hex.EncodeToString(d.SHA256), HasContent: d.HasContent(), ContentURL: f.path(d.PatientID, d.ID) + "/content",
		Active: d.Active(), CreatedAt: instant(d.CreatedAt), PayloadOmitted: d.PayloadOmitted,
	}
	if f.version == 2 {
		s.PatientID = strconv.FormatInt(d.PatientID, 10)
	} else {
		s.UpdatedAt = instant(d.UpdatedAt)
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("show a document: %w", err)
	}
	if d.Payload == nil {
		return raw, nil
	}
	out := make(body.Raw, 0, len(raw)+len(`,"payload":`)+len(d.Payload))
	out = append(out, raw[:len(raw)-1]...)
	out = append(out, `,"payload":`...)
	out = append(out, d.Payload...)
	return append(out, '}'), nil
}

// instant writes RFC 3339 in UTC with milliseconds.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
