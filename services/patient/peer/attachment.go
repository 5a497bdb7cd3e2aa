package peer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

// Documents asks the attachment service for documents, in the name of whoever stands in the context.
type Documents struct{ caller *mesh.Caller }

var _ patient.DocumentKeeper = (*Documents)(nil)

// NewDocuments makes a Documents that asks through the caller.
func NewDocuments(caller *mesh.Caller) *Documents { return &Documents{caller: caller} }

// listed is the answer in each of the three views: what is shown of the documents is not read here.
type listed struct {
	Content       json.RawMessage `json:"content"`
	Items         json.RawMessage `json:"items"`
	Count         int64           `json:"count"`
	Page          int             `json:"page"`
	Size          int             `json:"size"`
	TotalElements int64           `json:"totalElements"`
	Truncated     bool            `json:"truncated"`
	Next          string          `json:"next"`
}

// Documents is patient.DocumentKeeper's. Whatever keeps the attachment service from answering is no fault of the
// caller's, who is let in here: the documents are away.
func (d *Documents) Documents(ctx context.Context, patientID int64, view patient.View, part page.Request) (patient.Documents, error) {
	target := "/internal/patient/" + strconv.FormatInt(patientID, 10) + "/document?view=" + string(view)
	if view == patient.PageView {
		target += "&size=" + strconv.Itoa(part.Size)
		if part.After != "" {
			target += "&after=" + part.Cursor()
		} else {
			target += "&page=" + strconv.Itoa(part.Page)
		}
	}
	got, err := mesh.Ask[listed](ctx, d.caller, mesh.Question{Method: http.MethodGet, Target: target})
	if err != nil {
		if fault.Is(err, fault.Unavailable) {
			return patient.Documents{}, err
		}
		return patient.Documents{}, fault.Away(err, "The attachment service could not do its part.")
	}
	return got.shown(view)
}

// shown puts what was told into the form in which a record shows it.
func (l listed) shown(view patient.View) (patient.Documents, error) {
	list := l.Content
	if view == patient.ManifestView {
		list = l.Items
	}
	if !bytes.HasPrefix(list, []byte("[")) { // a record never lacks its documents silently
		return patient.Documents{}, fault.Away(errNoList, "The attachment service could not do its part.")
	}
	out := patient.Documents{Shown: list, Truncated: l.Truncated, Next: l.Next}
	switch view { // put together by hand, so that the list stands in it byte for byte
	case patient.FullView:
	case patient.PageView:
		out.Shown = fmt.Appendf(nil, `{"content":%s,"page":%d,"size":%d,"totalElements":%d}`, list, l.Page, l.Size, l.TotalElements)
	case patient.ManifestView:
		out.Shown = fmt.Appendf(nil, `{"count":%d,"items":%s}`, l.Count, list)
	}
	return out, nil
}

var errNoList = errors.New("the answer lists no documents")
