package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func key(t *testing.T) string { return fmt.Sprintf("%s %d", t.Name(), time.Now().UnixNano()) }

func TestSameKeyAndBodyGetsTheFirstResponseAgain(t *testing.T) {
	k := key(t)
	c := owner(t).with("Idempotency-Key", k)
	first := c.post(patients, ana()).is(ok)
	path := patients + "/" + strings.TrimSuffix(strings.Split(first.header.Get("Location"), "/")[3], "/")
	owner(t).patch(path, map[string]any{"middleName": "changed since"}).is(ok)
	again := c.post(patients, ana()).is(ok)
	if string(again.raw) != string(first.raw) || again.header.Get("Location") != first.header.Get("Location") {
		t.Errorf("the repeat got %s, the first %s", again.raw, first.raw)
	}
	if first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" {
		t.Error("Idempotent-Replayed must stand on the repeat alone")
	}
	c.post(patients, but(map[string]any{"lastName": "Other"})).refused(http.StatusUnprocessableEntity, "idempotency_key_reused")
	other(t).with("Idempotency-Key", k).post(patients, but(map[string]any{"lastName": "Other"})).is(ok)
}

func TestKeysThatAreNone(t *testing.T) {
	for _, k := range []string{strings.Repeat("k", 256), "caf\u00e9"} {
		if got := owner(t).with("Idempotency-Key", k).post(patients, map[string]any{}).faults(); len(got) != 4 || got[3] != "Idempotency-Key invalid_key" {
			t.Errorf("key %q: %v", k, got)
		}
	}
	owner(t).with("Idempotency-Key", strings.Repeat("~", 255)).post(patients, ana()).is(ok)
}

func TestARefusedRequestDoesNotUseTheKeyUp(t *testing.T) {
	c := owner(t).with("Idempotency-Key", key(t))
	c.post(patients, map[string]any{}).is(bad)
	c.post(patients, ana()).is(ok)
}

func TestManyAtOnceUnderOneKeyMakeOnePatient(t *testing.T) {
	c := newTenant(t)
	k := key(t)
	var wait sync.WaitGroup
	statuses := make(chan int, 16)
	for range cap(statuses) {
		wait.Go(func() { statuses <- c.with("Idempotency-Key", k).post(patients, ana()).status })
	}
	wait.Wait()
	close(statuses)
	for status := range statuses {
		if status != ok && status != http.StatusConflict {
			t.Errorf("answered %d", status)
		}
	}
	var l list
	c.get(patients).is(ok).into(&l)
	if l.TotalElements != 1 {
		t.Errorf("%d patients under one key", l.TotalElements)
	}
}
