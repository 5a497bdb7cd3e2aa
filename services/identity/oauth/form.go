package oauth

import (
	"mime"
	"net/url"

	"github.com/ory/fosite"
)

const (
	formType       = "application/x-www-form-urlencoded"
	longestForm    = 64 << 10
	mostParameters = 50
)

// read checks the outside of a request: its type, its size, and that nothing is said twice (RFC 6749 §3.2), since two
// readers could take another one of two for the right one. An empty parameter counts as absent.
func read(r Request) (form url.Values, authorization string, err error) {
	media, _, err := mime.ParseMediaType(r.ContentType)
	if err != nil || media != formType || len(r.Body) > longestForm || len(r.Authorization) > 1 {
		return nil, "", fosite.ErrInvalidRequest
	}
	form, err = url.ParseQuery(string(r.Body))
	if err != nil || len(form) > mostParameters {
		return nil, "", fosite.ErrInvalidRequest
	}
	for name, values := range form {
		if len(values) > 1 {
			return nil, "", fosite.ErrInvalidRequest
		}
		if values[0] == "" {
			delete(form, name)
		}
	}
	if len(r.Authorization) == 1 {
		authorization = r.Authorization[0]
	}
	return form, authorization, nil
}
