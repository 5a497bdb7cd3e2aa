package rest

import (
	"context"
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/api"
)

type contacts[S any] = children[patient.Contact, *patient.Contact, patient.ContactInput, S]

func (s *Server) contactsV3() contacts[api.ContactResponseDTO] {
	return contacts[api.ContactResponseDTO]{
		face: v3(), verbs: s.Contacts, kind: "contact", input: contactInput, show: contactResponse,
		needs: map[string][]string{"value": {"system"}},
	}
}

func (s *Server) contactsV2() contacts[api.ContactV2] {
	return contacts[api.ContactV2]{
		face: v2(), verbs: s.Contacts, kind: "contact", input: contactInput, show: contactV2,
		needs: map[string][]string{"value": {"system"}},
	}
}

func contactInput(o *body.Object, _ spelling) patient.ContactInput {
	return patient.ContactInput{
		System: o.Text("system", body.TextLength).Pointer(),
		Value:  o.Text("value", body.TextLength).Pointer(),
		Use:    o.Text("use", body.TextLength).Pointer(),
	}
}

// contactResponse is a contact point as v3 shows it.
func contactResponse(c patient.Contact, now time.Time) api.ContactResponseDTO {
	return api.ContactResponseDTO{
		Id: c.ID, System: c.System, Value: c.Value, E164: c.E164, Use: useShown(c.Use),
		Active: c.Active(now), CreatedAt: instant(c.CreatedAt), UpdatedAt: instant(c.UpdatedAt),
	}
}

// contactV2 is a contact point as v2 shows it.
func contactV2(c patient.Contact, now time.Time) api.ContactV2 {
	return api.ContactV2{
		Id: c.ID, PatientId: strconv.FormatInt(c.PatientID, 10), System: c.System, Value: c.Value, E164: c.E164, Use: c.Use,
		Active: c.Active(now), CreatedAt: instant(c.CreatedAt),
	}
}

// CreateContact is v3's.
func (s *Server) CreateContact(ctx context.Context, r api.CreateContactRequestObject) (api.CreateContactResponseObject, error) {
	shown, headers, err := s.contactsV3().create(ctx, r.PatientId, r.Body, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	return api.CreateContact200JSONResponse{Body: shown, Headers: api.CreateContact200ResponseHeaders(headers)}, nil
}

// Contact is v2's create.
func (s *Server) Contact(ctx context.Context, r api.ContactRequestObject) (api.ContactResponseObject, error) {
	shown, headers, err := s.contactsV2().create(ctx, r.Id, r.Body, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	return api.Contact201JSONResponse{Body: shown, Headers: api.Contact201ResponseHeaders(headers)}, nil
}

// ListContacts is v3's.
func (s *Server) ListContacts(ctx context.Context, r api.ListContactsRequestObject) (api.ListContactsResponseObject, error) {
	page, next, err := s.contactsV3().list(ctx, r.PatientId, listing(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListContacts200JSONResponse{Body: api.ContactPage(page), Headers: api.ListContacts200ResponseHeaders{Link: next}}, nil
}

// ContactList is v2's.
func (s *Server) ContactList(ctx context.Context, r api.ContactListRequestObject) (api.ContactListResponseObject, error) {
	page, next, err := s.contactsV2().list(ctx, r.Id, listing(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ContactList200JSONResponse{Body: api.ContactV2Page(page), Headers: api.ContactList200ResponseHeaders{Link: next}}, nil
}

// ReadContact is v3's; v2 reads them in lists.
func (s *Server) ReadContact(ctx context.Context, r api.ReadContactRequestObject) (api.ReadContactResponseObject, error) {
	shown, etag, err := s.contactsV3().read(ctx, r.PatientId, r.ChildId)
	if err != nil {
		return nil, err
	}
	return api.ReadContact200JSONResponse{ContactJSONResponse: api.ContactJSONResponse{Body: shown, Headers: api.ContactResponseHeaders{ETag: etag}}}, nil
}

// UpdateContact is v3's.
func (s *Server) UpdateContact(ctx context.Context, r api.UpdateContactRequestObject) (api.UpdateContactResponseObject, error) {
	shown, etag, err := s.contactsV3().update(ctx, r.PatientId, r.ChildId, r.Body, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	return api.UpdateContact200JSONResponse{ContactJSONResponse: api.ContactJSONResponse{Body: shown, Headers: api.ContactResponseHeaders{ETag: etag}}}, nil
}

// DeleteContact is v3's.
func (s *Server) DeleteContact(ctx context.Context, r api.DeleteContactRequestObject) (api.DeleteContactResponseObject, error) {
	gone, err := s.contactsV3().deactivate(ctx, r.PatientId, r.ChildId, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	return api.DeleteContact200JSONResponse{DeactivatedJSONResponse: gone}, nil
}

// ContactDelete is v2's.
func (s *Server) ContactDelete(ctx context.Context, r api.ContactDeleteRequestObject) (api.ContactDeleteResponseObject, error) {
	gone, err := s.contactsV2().deactivate(ctx, r.Id, r.ChildId, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	return api.ContactDelete200JSONResponse{DeactivatedJSONResponse: gone}, nil
}
