package matchbench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/patient-mesh/patient-mesh/tools/mesh/seed"
)

// caller is the public interface under one client's credential. It is safe for concurrent use.
type caller struct {
	url    string
	http   *http.Client
	tokens oauth2.TokenSource
}

func newCaller(gateway, id, secret string) *caller {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // documented to be one
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost, transport.Proxy = 64, 64, nil
	config := clientcredentials.Config{ClientID: id, ClientSecret: secret, TokenURL: gateway + "/oauth2/token"}
	return &caller{url: gateway, http: &http.Client{Transport: transport}, tokens: config.TokenSource(context.Background())}
}

// refused is an answer that is no success.
type refused struct {
	status int
	code   string
}

func (r *refused) Error() string { return fmt.Sprintf("answered %d %s", r.status, r.code) }

// busy is how often somebody who is to come back later does.
const busy = 200

// call sends a request with a JSON body and reads the answer, and comes back when it is told to.
func (c *caller) call(ctx context.Context, method, target string, body, into any) error {
	var raw []byte
	var err error
	if body != nil {
		if raw, err = json.Marshal(body); err != nil {
			return err
		}
	}
	for range busy {
		err = c.once(ctx, method, target, raw, into)
		var r *refused
		if !errors.As(err, &r) || r.status != http.StatusTooManyRequests && r.status != http.StatusServiceUnavailable {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, target, err)
	}
	return nil
}

func (c *caller) once(ctx context.Context, method, target string, raw []byte, into any) error {
	response, err := c.send(ctx, method, target, "application/json", bytes.NewReader(raw))
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	answer, err := io.ReadAll(response.Body)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(answer, into)
}

// send gives a successful answer, whose body is the caller's to close.
func (c *caller) send(ctx context.Context, method, target, kind string, body io.Reader) (*http.Response, error) {
	token, err := c.tokens.Token()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+target, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token.AccessToken)
	if request.Body != nil && request.Body != http.NoBody {
		request.Header.Set("Content-Type", kind)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 == 2 {
		return response, nil
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	var problem struct{ Code string }
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	_ = json.Unmarshal(text, &problem)
	return nil, &refused{response.StatusCode, problem.Code}
}

// newTenant makes a tenant on the standard plan with a client that may do what is measured.
func newTenant(ctx context.Context, demo seed.Demo, name string) (*caller, error) {
	admin := newCaller(demo.Gateway, demo.Admin.ClientID, demo.Admin.ClientSecret)
	var tenant struct{ ID string }
	if err := admin.call(ctx, http.MethodPost, "/v2/tenant", map[string]any{"name": "matchbench " + name, "plan": "standard"}, &tenant); err != nil {
		return nil, err
	}
	var client struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
	}
	err := admin.call(ctx, http.MethodPost, "/v2/oauth2/client", map[string]any{
		"client_name": "matchbench", "grant_types": []string{"client_credentials"}, "tenantId": tenant.ID,
		"scope": "patient:read patient:write patient:delete patient:restore match:read",
	}, &client)
	if err != nil {
		return nil, err
	}
	return newCaller(demo.Gateway, client.ClientID, client.ClientSecret), nil
}

// store imports lines, which write writes, and tells each the id of a line, from 0. What is not taken is told as an error.
func (c *caller) store(ctx context.Context, write func(io.Writer) error, each func(line int, id int64)) error {
	reader, writer := io.Pipe()
	go func() { _ = writer.CloseWithError(write(writer)) }()
	response, err := c.send(ctx, http.MethodPost, "/v3/patient/import", "application/x-ndjson", reader)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	answers := json.NewDecoder(response.Body)
	for {
		var a struct {
			Line    int
			ID      int64
			Problem *struct {
				Code   string
				Errors []struct{ Field, Code string }
			}
			Created, Failed *int
		}
		switch err := answers.Decode(&a); {
		case err != nil:
			return fmt.Errorf("the import broke off: %w", err)
		case a.Problem != nil:
			return fmt.Errorf("line %d was refused: %s %v", a.Line, a.Problem.Code, a.Problem.Errors)
		case a.Created != nil:
			return nil
		default:
			each(a.Line-1, a.ID)
		}
	}
}

func patientPath(id int64) string { return "/v3/patient/" + strconv.FormatInt(id, 10) }
