package oauth

import (
	"context"
	"errors"
	"net/http"

	"github.com/ory/fosite"
)

// Revoke is the revocation endpoint (RFC 7009). A refresh token's end is its family's; an access token ends alone.
func (s *Server) Revoke(ctx context.Context, in Request) Response {
	form, authorization, err := read(in)
	if err != nil {
		return s.refuse(ctx, err, len(in.Authorization) > 0)
	}
	if form.Get("token") == "" {
		return s.refuse(ctx, fosite.ErrInvalidRequest, false)
	}
	x := &exchange{purpose: toRevoke, form: form}
	ctx = x.in(ctx)
	err = s.provider.NewRevocationRequest(ctx, provide(ctx, form, authorization))
	switch {
	case err == nil, errors.Is(err, fosite.ErrNotFound):
	case errors.Is(err, fosite.ErrUnauthorizedClient):
		// Another client's token: left alone, and not told from one that never was (RFC 7009 §2.1 lets us choose).
	default:
		return s.refuse(ctx, err, authorization != "")
	}
	return Response{Status: http.StatusOK, Header: map[string]string{"Cache-Control": "no-store"}}
}
