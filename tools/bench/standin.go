package bench

import (
	"context"

	"github.com/valyala/fasthttp"
)

// StandIn answers every request with the same patient, as quickly as anything can, until ctx ends: what stands behind
// the gateway and behind nginx when only they are measured.
func StandIn(ctx context.Context, address string) error {
	const record = `{"id":4711,"firstName":"Ingeborg","lastName":"Brightwater","dob":"1971-03-05","middleName":"T","gender":"Female",` +
		`"race":"Declined","ethnicity":"Declined","sexAtBirth":"female","genderIdentity":"","preferredLanguage":"en",` +
		`"last4Ssn":"***-**-0101","deceased":false}`
	server := &fasthttp.Server{
		Handler: func(c *fasthttp.RequestCtx) {
			c.SetContentType("application/json")
			c.Response.Header.Set("ETag", `"1"`)
			c.SetBodyString(record)
		},
		NoDefaultServerHeader: true, ReadBufferSize: 16 << 10,
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Shutdown() })
	defer stop()
	return server.ListenAndServe(address)
}
