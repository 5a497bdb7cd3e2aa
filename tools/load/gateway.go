package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// gateway is the public interface, as one credential. It is safe for concurrent use.
type gateway struct {
	url     string
	apiKey  string
	http    *http.Client
	timeout time.Duration
	patient time.Duration // how long one row is tried again and again
	retried func()
}

func newGateway(o Options, retried func()) *gateway {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // documented to be one
	transport.MaxIdleConnsPerHost, transport.MaxIdleConns = o.Workers, o.Workers
	transport.Proxy = nil // patients' data goes to the gateway that was named and nowhere else
	return &gateway{
		url: strings.TrimSuffix(o.Gateway, "/"), apiKey: o.APIKey, http: &http.Client{Transport: transport},
		timeout: o.Timeout, patient: o.Patience, retried: retried,
	}
}

// refusal is an answer that is no success. It names fields and codes, which carry no values.
type refusal struct {
	status int
	code   string
	fields []string
}

func (r *refusal) Error() string {
	text := strconv.Itoa(r.status)
	if r.code != "" {
		text += " " + r.code
	}
	if len(r.fields) > 0 {
		text += " (" + strings.Join(r.fields, ", ") + ")"
	}
	return text
}

// hopeless reports an answer that every other row would get too.
func hopeless(err error) bool {
	var r *refusal
	if !errors.As(err, &r) {
		return false
	}
	switch r.status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
		return true
	}
	return false
}

// invalid reports that it is the row's own content that was refused.
func invalid(err error) bool {
	return refused(err, http.StatusBadRequest)
}

func refused(err error, status int) bool {
	var r *refusal
	return errors.As(err, &r) && r.status == status
}

// created is the answer to one row.
type created struct {
	id       int64
	replayed bool          // it had been created by an earlier load
	took     time.Duration // of the request that succeeded
}

// create sends a person until there is an answer that counts. The key makes that safe.
func (g *gateway) create(ctx context.Context, p Person, key string) (created, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return created{}, err
	}
	return again(ctx, g, func() (created, error) {
		var out Record
		began := time.Now()
		header, err := g.once(ctx, http.MethodPost, "/v3/patient", body, key, &out)
		if err == nil && out.ID == 0 {
			err = backoff.Permanent(errors.New("the answer has no id"))
		}
		return created{id: out.ID, replayed: header.Get("Idempotent-Replayed") == "true", took: time.Since(began)}, err
	})
}

func (g *gateway) read(ctx context.Context, id int64) (Record, error) {
	return again(ctx, g, func() (Record, error) {
		var out Record
		_, err := g.once(ctx, http.MethodGet, "/v3/patient/"+strconv.FormatInt(id, 10), nil, "", &out)
		return out, err
	})
}

func again[T any](ctx context.Context, g *gateway, try func() (T, error)) (T, error) {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = 50*time.Millisecond, 5*time.Second
	return backoff.Retry(ctx, try, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(g.patient),
		backoff.WithNotify(func(error, time.Duration) { g.retried() }))
}

// longestAnswer is that of a record with its documents' payloads.
const longestAnswer = 32 << 20

// once sends one request. The error says whether, and how soon, another try makes sense.
func (g *gateway) once(ctx context.Context, method, path string, body []byte, key string, into any) (http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, g.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, backoff.Permanent(err)
	}
	request.Header.Set("Authorization", "Bearer "+g.apiKey)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := g.http.Do(request)
	if err != nil {
		return nil, errors.New("no answer") // the client's text repeats the address, and tries differ in it
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	raw, err := io.ReadAll(io.LimitReader(response.Body, longestAnswer))
	if err != nil {
		return nil, errors.New("the answer broke off")
	}
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated {
		return nil, decide(response, raw)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return nil, backoff.Permanent(errors.New("the answer is not the JSON that was expected"))
	}
	return response.Header, nil
}

// decide sorts answers into those that pass (429, 5xx, and 409: the first try is still running) and those that stay.
func decide(response *http.Response, raw []byte) error {
	var problem struct {
		Code   string `json:"code"`
		Errors []struct {
			Field string `json:"field"`
			Code  string `json:"code"`
		} `json:"errors"`
	}
	_ = json.Unmarshal(raw, &problem) // a proxy in between may answer something else
	r := &refusal{status: response.StatusCode, code: problem.Code}
	for _, f := range problem.Errors {
		r.fields = append(r.fields, f.Field+": "+f.Code)
	}
	passes := r.status == http.StatusTooManyRequests || r.status == http.StatusConflict || r.status >= http.StatusInternalServerError
	if !passes {
		return backoff.Permanent(r)
	}
	if wait, ok := retryAfter(response.Header.Get("Retry-After"), time.Now()); ok {
		return fmt.Errorf("%w: %w", r, &backoff.RetryAfterError{Duration: wait})
	}
	return r
}

// retryAfter reads seconds or a date (RFC 9110 §10.2.3).
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.Atoi(value); err == nil && seconds >= 0 {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}
