package load

import (
	"context"
	"encoding/json"
	"net/http"
)

// Client is the public interface, as one credential, for what else reads or writes through it. It tries again what passes. It is
// safe for concurrent use.
type Client struct{ gateway *gateway }

// NewClient makes a client. File is not needed of the options.
func NewClient(o Options) (*Client, error) {
	o.File = "-"
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Client{newGateway(o, func() {})}, nil
}

// Get reads what is at a path.
func (c *Client) Get(ctx context.Context, path string, into any) (http.Header, error) {
	return again(ctx, c.gateway, func() (http.Header, error) { return c.gateway.once(ctx, http.MethodGet, path, nil, "", into) })
}

// Post sends a body; the key makes it safe to send it again.
func (c *Client) Post(ctx context.Context, path, key string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_, err = again(ctx, c.gateway, func() (http.Header, error) { return c.gateway.once(ctx, http.MethodPost, path, raw, key, into) })
	return err
}

// Missing reports that there is nothing at a path.
func Missing(err error) bool { return refused(err, http.StatusNotFound) }
