package seed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

const (
	patience  = time.Minute      // for a service that is just starting, or that does not know of the others yet
	callLimit = 10 * time.Second // for one call
	mostBytes = 1 << 20          // of an answer
)

// Caller asks one service for internal operations, as the program called seed.
type Caller struct {
	Address     string // host:port
	Environment string
	Keys        *principal.Keyring
	Client      *http.Client
	Now         func() time.Time
}

// call sends a request and reads its answer into answer, unless that is nil. It goes on while no connection can be made or
// the service cannot serve: a mesh that starts learns one from another who is there, and a cluster's DNS remembers for a while
// that a name was not there. What carries an id that we chose can be sent again: the services answer what exists already
// as they answered it first.
func (c Caller) call(ctx context.Context, method, target string, body map[string]any, answer any) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := c.once(ctx, method, target, body, answer)
		var dial *net.OpError
		if err != nil && !errors.As(err, &dial) && !errors.Is(err, errUnavailable) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(time.Second/2)), backoff.WithMaxElapsedTime(patience))
	return err
}

var errUnavailable = errors.New("unavailable")

func (c Caller) once(ctx context.Context, method, target string, body map[string]any, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, target, err)
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+c.Address+target, bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, target, err)
	}
	self := principal.Principal{Kind: principal.Service, ClientID: "seed", Environment: c.Environment}
	request.Header.Set(principal.AssertionHeader, c.Keys.Sign(principal.Encode(self), method, target, c.Now()))
	request.Header.Set("Content-Type", "application/json")
	response, err := c.Client.Do(request)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, target, err)
	}
	defer func() { _ = response.Body.Close() }()
	said, err := io.ReadAll(io.LimitReader(response.Body, mostBytes))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, target, err)
	}
	if response.StatusCode == http.StatusServiceUnavailable {
		return fmt.Errorf("%s %s: %w: %s", method, target, errUnavailable, bytes.TrimSpace(said))
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %s", method, target, response.Status, bytes.TrimSpace(said))
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(said, answer); err != nil {
		return fmt.Errorf("%s %s: %w", method, target, err)
	}
	return nil
}
