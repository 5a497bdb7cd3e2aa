package rest

import (
	"context"
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/api"
)

type addresses[S any] = children[patient.Address, *patient.Address, patient.AddressInput, S]

func (s *Server) addressesV3() addresses[api.AddressResponseDTO] {
	return addresses[api.AddressResponseDTO]{
		face: v3(), verbs: s.Addresses, kind: "address", input: addressInput, show: addressResponse,
	}
}

func (s *Server) addressesV2() addresses[api.AddressV2] {
	return addresses[api.AddressV2]{
		face: v2(), verbs: s.Addresses, kind: "address", input: addressInput, show: addressV2,
	}
}

func addressInput(o *body.Object, _ spelling) patient.AddressInput {
	return patient.AddressInput{
		Line1:      o.Text("line1", body.TextLength).Pointer(),
		Line2:      o.Text("line2", body.TextLength).Pointer(),
		City:       o.Text("city", body.TextLength).Pointer(),
		State:      o.Text("state", body.TextLength).Pointer(),
		PostalCode: o.Text("postalCode", body.TextLength).Pointer(),
		Country:    o.Text("country", body.TextLength).Pointer(),
		Use:        o.Text("use", body.TextLength).Pointer(),
	}
}

// addressResponse is an address as v3 shows it.
func addressResponse(a patient.Address, now time.Time) api.AddressResponseDTO {
	return api.AddressResponseDTO{
		Id: a.ID, Line1: a.Line1, Line2: a.Line2, City: a.City, State: a.State, PostalCode: a.PostalCode, Country: a.Country,
		Use: useShown(a.Use), Active: a.Active(now), CreatedAt: instant(a.CreatedAt), UpdatedAt: instant(a.UpdatedAt),
	}
}

// addressV2 is an address as v2 shows it.
func addressV2(a patient.Address, now time.Time) api.AddressV2 {
	return api.AddressV2{
		Id: a.ID, PatientId: strconv.FormatInt(a.PatientID, 10), Line1: a.Line1, Line2: a.Line2, City: a.City, State: a.State,
		PostalCode: a.PostalCode, Country: a.Country, Use: a.Use, Active: a.Active(now), CreatedAt: instant(a.CreatedAt),
	}
}

// CreateAddress is v3's.
func (s *Server) CreateAddress(ctx context.Context, r api.CreateAddressRequestObject) (api.CreateAddressResponseObject, error) {
	shown, headers, err := s.addressesV3().create(ctx, r.PatientId, r.Body, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	return api.CreateAddress200JSONResponse{Body: shown, Headers: api.CreateAddress200ResponseHeaders(headers)}, nil
}

// Address is v2's create.
func (s *Server) Address(ctx context.Context, r api.AddressRequestObject) (api.AddressResponseObject, error) {
	shown, headers, err := s.addressesV2().create(ctx, r.Id, r.Body, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	return api.Address201JSONResponse{Body: shown, Headers: api.Address201ResponseHeaders(headers)}, nil
}

// ListAddresses is v3's.
func (s *Server) ListAddresses(ctx context.Context, r api.ListAddressesRequestObject) (api.ListAddressesResponseObject, error) {
	page, next, err := s.addressesV3().list(ctx, r.PatientId, listing(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListAddresses200JSONResponse{Body: api.AddressPage(page), Headers: api.ListAddresses200ResponseHeaders{Link: next}}, nil
}

// AddressList is v2's.
func (s *Server) AddressList(ctx context.Context, r api.AddressListRequestObject) (api.AddressListResponseObject, error) {
	page, next, err := s.addressesV2().list(ctx, r.Id, listing(r.Params))
	if err != nil {
		return nil, err
	}
	return api.AddressList200JSONResponse{Body: api.AddressV2Page(page), Headers: api.AddressList200ResponseHeaders{Link: next}}, nil
}

// ReadAddress is v3's; v2 reads them in lists.
func (s *Server) ReadAddress(ctx context.Context, r api.ReadAddressRequestObject) (api.ReadAddressResponseObject, error) {
	shown, etag, err := s.addressesV3().read(ctx, r.PatientId, r.ChildId)
	if err != nil {
		return nil, err
	}
	return api.ReadAddress200JSONResponse{AddressJSONResponse: api.AddressJSONResponse{Body: shown, Headers: api.AddressResponseHeaders{ETag: etag}}}, nil
}

// UpdateAddress is v3's.
func (s *Server) UpdateAddress(ctx context.Context, r api.UpdateAddressRequestObject) (api.UpdateAddressResponseObject, error) {
	shown, etag, err := s.addressesV3().update(ctx, r.PatientId, r.ChildId, r.Body, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	return api.UpdateAddress200JSONResponse{AddressJSONResponse: api.AddressJSONResponse{Body: shown, Headers: api.AddressResponseHeaders{ETag: etag}}}, nil
}

// DeleteAddress is v3's.
func (s *Server) DeleteAddress(ctx context.Context, r api.DeleteAddressRequestObject) (api.DeleteAddressResponseObject, error) {
	gone, err := s.addressesV3().deactivate(ctx, r.PatientId, r.ChildId, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	return api.DeleteAddress200JSONResponse{DeactivatedJSONResponse: gone}, nil
}

// AddressDelete is v2's.
func (s *Server) AddressDelete(ctx context.Context, r api.AddressDeleteRequestObject) (api.AddressDeleteResponseObject, error) {
	gone, err := s.addressesV2().deactivate(ctx, r.Id, r.ChildId, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	return api.AddressDelete200JSONResponse{DeactivatedJSONResponse: gone}, nil
}
