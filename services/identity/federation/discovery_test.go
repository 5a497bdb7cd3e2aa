package federation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

type trip func(*http.Request) (*http.Response, error)

func (t trip) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// answering is a client whose servers describe themselves as they should, when they are let to.
func answering(asked *atomic.Int64, release <-chan struct{}) *http.Client {
	return &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
		asked.Add(1)
		select {
		case <-release:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
		issuer := "https://" + r.URL.Host
		body := fmt.Sprintf(`{"issuer": %q, "authorization_endpoint": %q, "token_endpoint": %q, "jwks_uri": %q}`, issuer, issuer+"/a", issuer+"/t", issuer+"/k")
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})}
}

// One question for all who wait, and one of them who leaves takes nobody along.
func TestOneFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		release := make(chan struct{})
		c := newCache(answering(&asked, release), false, time.Now)
		leaving, leave := context.WithCancel(t.Context())
		left, answers := make(chan error, 1), make(chan error, 20)
		go func() {
			_, err := c.get(leaving, "https://a.example")
			left <- err
		}()
		synctest.Wait()
		for range cap(answers) {
			go func() {
				_, err := c.get(t.Context(), "https://a.example")
				answers <- err
			}()
		}
		synctest.Wait()
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("who left: %v", err)
		}
		close(release)
		for range cap(answers) {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("%d questions", n)
		}
	})
}

// Who does not answer is waited for five seconds.
func TestDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		begun := time.Now()
		_, err := newCache(answering(&asked, nil), false, time.Now).get(t.Context(), "https://a.example")
		if took := time.Since(begun); !errors.Is(err, errUnreachable) || took != patience {
			t.Errorf("%v after %v", err, took)
		}
	})
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	release := make(chan struct{})
	close(release)
	c := newCache(answering(&asked, release), false, time.Now)
	for n := range mostKnown + 50 {
		if _, err := c.get(t.Context(), fmt.Sprintf("https://a%d.example", n)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(c.list); n != mostKnown {
		t.Errorf("%d are known", n)
	}
}
