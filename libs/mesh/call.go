package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Caller is a peer that is spoken to, mostly in JSON, by a program that signs what it asks. It is safe for concurrent use.
type Caller struct {
	peer *Peer
	keys *principal.Keyring
	self principal.Principal
	mine principal.Encoded // self, when it works for nobody
	now  func() time.Time
}

// Caller makes the typed face of a service for the program named.
func (c *Client) Caller(service string, keys *principal.Keyring, program string) *Caller {
	self := principal.Principal{Kind: principal.Service, ClientID: program}
	return &Caller{peer: c.Peer(service), keys: keys, self: self, mine: principal.Encode(self), now: c.opts.Now}
}

// Question is one call.
type Question struct {
	Method         string
	Target         string // path and query, escaped, as it goes on the request line
	Body           any    // sent as JSON; nil sends none
	Self           bool   // ask as the program; else as the principal of the context
	Accept         string // the type of the answer; empty: JSON
	IdempotencyKey string // lets a POST be repeated
	Repeat         Repeat
}

// Ask sends the question and reads the JSON answer into a T. A problem document becomes the *fault.Error that it tells
// of; no answer, or one that cannot be read, is a fault too. With struct{} as T the answer's body is not read.
func Ask[T any](ctx context.Context, c *Caller, q Question) (T, error) {
	var out T
	err := c.exchange(ctx, q, func(resp *fasthttp.Response) error {
		if _, nothing := any(out).(struct{}); nothing || resp.StatusCode() == fasthttp.StatusNoContent {
			return nil
		}
		if err := json.Unmarshal(resp.Body(), &out); err != nil {
			return fmt.Errorf("read the answer of %s: %w", c.peer.service, errUnreadable) // the decoder's text quotes it
		}
		return nil
	})
	return out, err
}

// Fetch sends the question and hands the body of the answer, of the type that the question accepts, to read. The body is
// used again when read returns. Faults are as Ask's.
func Fetch(ctx context.Context, c *Caller, q Question, read func(body []byte) error) error {
	return c.exchange(ctx, q, func(resp *fasthttp.Response) error {
		if got := string(resp.Header.ContentType()); got != q.Accept {
			return fmt.Errorf("read the answer of %s: %w", c.peer.service, errUnexpected)
		}
		return read(resp.Body())
	})
}

// exchange sends the question and lets the answer be read, if it is none of refusal.
func (c *Caller) exchange(ctx context.Context, q Question, read func(*fasthttp.Response) error) error {
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	if err := c.write(ctx, req, q); err != nil {
		return err
	}
	if err := c.peer.Do(ctx, req, resp, q.Repeat); err != nil {
		return err
	}
	if resp.StatusCode() >= fasthttp.StatusMultipleChoices {
		return q.judge(faultOf(resp, c.peer.service))
	}
	return read(resp)
}

// judge decides whose fault a refusal is: a program that may not ask for itself is misconfigured, and whoever it works
// for must not read of it as if their own credential were refused.
func (q Question) judge(f *fault.Error) error {
	if q.Self && (f.Kind == fault.Unauthenticated || f.Kind == fault.Denied) {
		return fault.Because(f, fault.Internal, "internal", "Something went wrong on our side.")
	}
	return f
}

var (
	errUnreadable = errors.New("not the JSON that was expected")
	errUnexpected = errors.New("not of the type that was asked for")
)

func (c *Caller) write(ctx context.Context, req *fasthttp.Request, q Question) error {
	who := c.mine
	p, ok := principal.From(ctx)
	switch {
	case !q.Self && !ok:
		return fault.New(fault.Unauthenticated, "unauthenticated", "A valid credential is required.")
	case !q.Self:
		who = principal.Encode(p)
	case ok: // the program's own rights, and the trail's answer to who asked for it
		self := c.self
		self.For, self.CredentialID = p.Actor(), p.CredentialID
		who = principal.Encode(self)
	}
	req.Header.SetMethod(q.Method)
	req.SetRequestURI(q.Target)
	req.Header.Set(principal.AssertionHeader, c.keys.Sign(who, q.Method, q.Target, c.now()))
	accept := "application/json"
	if q.Accept != "" {
		accept = q.Accept
	}
	req.Header.Set(fasthttp.HeaderAccept, accept+", application/problem+json")
	if q.IdempotencyKey != "" {
		req.Header.Set(IdempotencyKeyHeader, q.IdempotencyKey)
	}
	if q.Body == nil {
		return nil
	}
	raw, err := json.Marshal(q.Body)
	if err != nil {
		return fmt.Errorf("write the question to %s: %w", c.peer.service, err)
	}
	req.Header.SetContentType("application/json")
	req.SetBodyRaw(raw)
	return nil
}
