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

// shown is a document as both interfaces show it; what one of them does not show is left empty there.
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
func (f Face) Show(d attachment.Document) (body.Raw, error) { return f.append(nil, d) }

// append writes a document behind what is there. The payload goes out as it came in.
func (f Face) append(out body.Raw, d attachment.Document) (body.Raw, error) {
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
	out = append(out, raw...)
	if d.Payload == nil {
		return out, nil
	}
	out = append(out[:len(out)-1], `,"payload":`...)
	out = append(out, d.Payload...)
	return append(out, '}'), nil
}

// page writes a list, and behind it whatever members are given, as JSON without the opening brace.
func (f Face) page(list []attachment.Document, members string, values ...any) (body.Raw, error) {
	length := 0
	for _, d := range list {
		length += len(d.Payload) + 1024 // or so
	}
	out := append(make(body.Raw, 0, length), `{"content":[`...)
	for i, d := range list {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = f.append(out, d); err != nil {
			return nil, err
		}
	}
	return fmt.Appendf(append(out, `],`...), members, values...), nil
}

// instant writes RFC 3339 in UTC with milliseconds.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
