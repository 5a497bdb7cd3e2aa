package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/outbox"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
)

const grant = `
-- +goose StatementBegin
DO $$ BEGIN
	EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON outbox TO %I', current_setting('app.service_role'));
END $$;
-- +goose StatementEnd
`

// open gives a database whose only table is the outbox.
func open(t *testing.T) *pg.DB {
	t.Helper()
	db, _ := openURL(t)
	return db
}

func openURL(t *testing.T) (*pg.DB, string) {
	t.Helper()
	migrations := fstest.MapFS{"00001_outbox.sql": {Data: []byte("-- +goose Up\n" + outbox.Table + grant)}}
	url := testkit.Postgres(t, migrations).URL
	db, err := pg.Open(pg.Config{URL: url, MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db, url
}

func enqueue(t *testing.T, db *pg.DB, messages ...outbox.Message) {
	t.Helper()
	b := pg.Global()
	for _, m := range messages {
		outbox.Enqueue(b, m)
	}
	if err := db.Send(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func depth(t *testing.T, db *pg.DB) (n int64) {
	t.Helper()
	b := pg.Global()
	pg.Value(b, &n, `SELECT count(*) FROM outbox`)
	if err := db.Send(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return n
}

// start runs a relay; stop ends it and waits.
func start(t *testing.T, db *pg.DB, o outbox.Options) (stop func()) {
	t.Helper()
	relay, err := outbox.NewRelay(db, slog.New(slog.DiscardHandler), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = relay.Run(ctx)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(stop)
	return stop
}

// patience ends a test that would wait forever.
const patience = 30 * time.Second

func wait[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
		panic("unreachable")
	}
}

func text(t *testing.T, payload []byte) string {
	t.Helper()
	var s string
	if err := json.Unmarshal(payload, &s); err != nil {
		t.Error(err)
	}
	return s
}

func TestMessageIsHandledAndGoes(t *testing.T) {
	t.Parallel()
	db := open(t)
	handled := make(chan string, 1)
	stop := start(t, db, outbox.Options{Handlers: map[string]outbox.Handler{
		"greet": func(_ context.Context, payload []byte) error { handled <- text(t, payload); return nil },
	}})
	enqueue(t, db, outbox.Message{Kind: "greet", Payload: "hello"})
	if got := wait(t, "the message", handled); got != "hello" {
		t.Errorf("payload %q", got)
	}
	stop()
	if n := depth(t, db); n != 0 {
		t.Errorf("%d messages are left", n)
	}
}

func TestNotificationWakesARelayThatHardlyPolls(t *testing.T) {
	t.Parallel()
	db := open(t)
	handled := make(chan string, 2)
	start(t, db, outbox.Options{Poll: time.Hour, Handlers: map[string]outbox.Handler{
		"greet": func(_ context.Context, payload []byte) error { handled <- text(t, payload); return nil },
	}})
	for _, greeting := range []string{"first", "second"} { // the second surely comes when the relay is at rest
		enqueue(t, db, outbox.Message{Kind: "greet", Payload: greeting})
		if got := wait(t, greeting, handled); got != greeting {
			t.Errorf("payload %q, want %q", got, greeting)
		}
	}
}

func TestMessageOfARolledBackChangeIsNeverSeen(t *testing.T) {
	t.Parallel()
	db := open(t)
	b := pg.Global()
	outbox.Enqueue(b, outbox.Message{Kind: "greet", Payload: "never"})
	b.Exec(`SELECT 1 / 0`)
	if err := db.Send(t.Context(), b); !pg.HasCode(err, pg.DivisionByZero) {
		t.Fatalf("error %v", err)
	}
	if n := depth(t, db); n != 0 {
		t.Errorf("%d messages of a change that did not happen", n)
	}
}

func TestTwoRelaysShareTheWork(t *testing.T) {
	t.Parallel()
	db := open(t)
	const messages = 200
	var mu sync.Mutex
	times := map[string]int{}
	all := make(chan struct{})
	handlers := map[string]outbox.Handler{"count": func(_ context.Context, payload []byte) error {
		mu.Lock()
		defer mu.Unlock()
		times[text(t, payload)]++
		if len(times) == messages {
			select {
			case <-all:
			default:
				close(all)
			}
		}
		return nil
	}}
	for i := range messages {
		enqueue(t, db, outbox.Message{Kind: "count", Payload: fmt.Sprint(i)})
	}
	stopOne := start(t, db, outbox.Options{Handlers: handlers, Batch: 7})
	stopTwo := start(t, db, outbox.Options{Handlers: handlers, Batch: 7})
	wait(t, "all messages", all)
	stopOne()
	stopTwo()
	for m, n := range times {
		if n != 1 {
			t.Errorf("message %s was handled %d times by relays that did not fail", m, n)
		}
	}
	if n := depth(t, db); n != 0 {
		t.Errorf("%d messages are left", n)
	}
}

func TestCrashBetweenEffectAndAcknowledgement(t *testing.T) {
	t.Parallel()
	db, url := openURL(t)
	dying, err := pg.Open(pg.Config{URL: url, MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	effects := make(chan string, 4)
	// The first relay loses its database right after the effect, as a program that dies there does.
	start(t, dying, outbox.Options{Lease: time.Second, Drain: time.Millisecond, Handlers: map[string]outbox.Handler{
		"effect": func(context.Context, []byte) error {
			dying.Close()
			effects <- "before the crash"
			return nil
		},
	}})
	enqueue(t, db, outbox.Message{Kind: "effect", Payload: "once or twice"})
	wait(t, "the first effect", effects)
	stop := start(t, db, outbox.Options{Poll: 50 * time.Millisecond, Handlers: map[string]outbox.Handler{
		"effect": func(context.Context, []byte) error { effects <- "again"; return nil },
	}})
	if got := wait(t, "the effect after the lease", effects); got != "again" {
		t.Errorf("effect %s", got)
	}
	stop()
	if n := depth(t, db); n != 0 {
		t.Errorf("%d messages are left", n)
	}
}

func TestFailingHandlerIsTriedAgain(t *testing.T) {
	t.Parallel()
	db := open(t)
	var tries atomic.Int32
	done := make(chan struct{})
	stop := start(t, db, outbox.Options{FirstPause: time.Millisecond, LongestPause: 5 * time.Millisecond, Handlers: map[string]outbox.Handler{
		"flaky": func(context.Context, []byte) error {
			switch tries.Add(1) {
			case 1:
				return errors.New("not yet")
			case 2:
				panic("not yet either")
			}
			close(done)
			return nil
		},
	}})
	enqueue(t, db, outbox.Message{Kind: "flaky", Payload: 1})
	wait(t, "the third try", done)
	stop()
	if n := depth(t, db); n != 0 {
		t.Errorf("%d messages are left", n)
	}
}

func TestMessagesOfAKeyKeepTheirOrderThroughFailures(t *testing.T) {
	t.Parallel()
	db := open(t)
	var mu sync.Mutex
	var order []string
	failed := map[string]bool{}
	done := make(chan struct{})
	handlers := map[string]outbox.Handler{"step": func(_ context.Context, payload []byte) error {
		mu.Lock()
		defer mu.Unlock()
		step := text(t, payload)
		if !failed[step] {
			failed[step] = true
			return errors.New("each step fails once")
		}
		if order = append(order, step); len(order) == 5 {
			close(done)
		}
		return nil
	}}
	for i := range 5 {
		enqueue(t, db, outbox.Message{Kind: "step", Key: "k", Payload: fmt.Sprint(i)})
	}
	o := outbox.Options{FirstPause: time.Millisecond, LongestPause: 5 * time.Millisecond, Handlers: handlers}
	start(t, db, o)
	start(t, db, o)
	wait(t, "all steps", done)
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(order, ""); got != "01234" {
		t.Errorf("order %s", got)
	}
}

func TestUnknownKindsWaitForAReleaseThatKnowsThem(t *testing.T) {
	t.Parallel()
	db := open(t)
	enqueue(t, db, outbox.Message{Kind: "of tomorrow", Payload: 1}, outbox.Message{Kind: "known", Payload: 1})
	done := make(chan struct{})
	stop := start(t, db, outbox.Options{Handlers: map[string]outbox.Handler{
		"known": func(context.Context, []byte) error { close(done); return nil },
	}})
	wait(t, "the known message", done)
	stop()
	if n := depth(t, db); n != 1 {
		t.Errorf("%d messages are left, want the unknown one", n)
	}
}

func TestEndOfARelayFinishesWhatIsDue(t *testing.T) {
	t.Parallel()
	db := open(t)
	begun, release := make(chan struct{}, 1), make(chan struct{})
	var handled atomic.Int32
	stop := start(t, db, outbox.Options{Batch: 1, Handlers: map[string]outbox.Handler{
		"slow": func(context.Context, []byte) error {
			if handled.Add(1) == 1 {
				begun <- struct{}{}
				<-release
			}
			return nil
		},
	}})
	enqueue(t, db, outbox.Message{Kind: "slow", Payload: 1}, outbox.Message{Kind: "slow", Payload: 2})
	wait(t, "the first message", begun)
	ended := make(chan struct{})
	go func() { stop(); close(ended) }()
	close(release)
	wait(t, "the relay's end", ended)
	if n := depth(t, db); n != 0 {
		t.Errorf("%d due messages were left behind by a relay that ended in order", n)
	}
}
