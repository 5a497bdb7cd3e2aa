// Package smoke finds out whether a mesh that was just installed serves: it stores a patient, reads it, finds it and
// deletes it, through the gateway, as any client would.
package smoke

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Check is what to look at.
type Check struct {
	Gateway string // its URL
	APIKey  string
	Client  *http.Client
	Say     func(line string) // told of each step that went well

	// Patience is how long the mesh may take to become ready; nothing else is waited for.
	Patience time.Duration
}

// patient is what is stored and what comes back, as far as we look.
type patient struct {
	ID        int64  `json:"id,omitempty"`
	FirstName string `json:"firstName"`
	LastName  string `json:"lastName"`
	DOB       string `json:"dob"`
}

type found struct {
	Content []struct {
		PatientID int64 `json:"patientId"`
	} `json:"content"`
}

// Run does it all, and leaves nothing behind that is not deleted.
func (c Check) Run(ctx context.Context) (err error) {
	if err := c.Ready(ctx); err != nil {
		return err
	}
	c.Say("ready: the gateway and all services")

	// A name that nobody else has, so that the find has one answer.
	sent := patient{FirstName: "Smoke", LastName: "Test" + strings.ToLower(rand.Text()[:10]), DOB: "1970-01-01"}
	var stored patient
	if err := c.call(ctx, http.MethodPost, "/v3/patient", sent, &stored); err != nil {
		return err
	}
	if stored.ID == 0 {
		return errors.New("what was stored has no id")
	}
	path := fmt.Sprintf("/v3/patient/%d", stored.ID)
	deleted := false
	defer func() {
		if !deleted {
			err = errors.Join(err, c.call(context.WithoutCancel(ctx), http.MethodDelete, path, nil, nil))
		}
	}()
	c.Say(fmt.Sprintf("stored: patient %d", stored.ID))

	var read patient
	if err := c.call(ctx, http.MethodGet, path, nil, &read); err != nil {
		return err
	}
	if sent.ID = stored.ID; read != sent {
		return errors.New("what was read is not what was stored")
	}
	c.Say("read: as it was stored")

	var hits found
	if err := c.call(ctx, http.MethodPost, "/v3/patient/find", map[string]string{
		"firstName": sent.FirstName, "lastName": sent.LastName, "dob": sent.DOB,
	}, &hits); err != nil {
		return err
	}
	if len(hits.Content) == 0 || hits.Content[0].PatientID != stored.ID {
		return errors.New("the patient that was stored is not found")
	}
	c.Say("found: by name and day of birth")

	if err := c.call(ctx, http.MethodDelete, path, nil, nil); err != nil {
		return err
	}
	deleted = true
	c.Say("deleted")
	return nil
}

// Revoke ends the key itself.
func (c Check) Revoke(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, "/v2/token/"+id, nil, nil)
}

// Ready waits for the whole mesh to say that it can serve.
func (c Check) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.Patience)
	defer cancel()
	for {
		err := c.call(ctx, http.MethodGet, "/readyz", nil, nil)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the mesh does not get ready: %w", err)
		case <-time.After(500 * time.Millisecond):
		}
	}
}

const (
	patience  = 15 * time.Second // for one call
	mostBytes = 1 << 20          // of an answer
)

// call sends a request and reads its answer into answer, unless that is nil. Errors quote the problem document, which
// carries nothing of a patient.
func (c Check) call(ctx context.Context, method, path string, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.Gateway, "/")+path, bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Authorization", "Bearer "+c.APIKey)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.Client.Do(request)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer func() { _ = response.Body.Close() }()
	said, err := io.ReadAll(io.LimitReader(response.Body, mostBytes))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, bytes.TrimSpace(said))
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(said, answer); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}
