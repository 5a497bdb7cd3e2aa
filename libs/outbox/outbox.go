// Package outbox carries effects that must leave a service (a revocation, a mail) out of the transaction that decides
// them: the change's own batch writes a message, and a relay hands it to its handler until that succeeds. Delivery is
// at least once, so handlers are idempotent. It does not know what any message means.
package outbox

import (
	"context"
	"encoding/json"

	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// Table is what a service's migration has to create; the service role needs all four rights on it. Messages of all
// tenants are relayed together, so the table knows no tenant and has no row-level security: payloads name things by
// their ids and never carry a patient's data.
const Table = `
CREATE TABLE outbox (
	id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	kind       text        NOT NULL,
	key        text        NOT NULL,
	payload    jsonb       NOT NULL,
	attempts   integer     NOT NULL DEFAULT 0,
	due_at     timestamptz NOT NULL DEFAULT now(),
	created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outbox_due ON outbox (due_at);
CREATE INDEX outbox_key ON outbox (key, id) WHERE key <> '';`

// channel is where a commit tells the relays of its database that there is something to do.
const channel = "outbox"

// Message is one effect. Kind chooses the handler. Messages of one Key are handled one after the other in the order of
// their commits, and a failing one holds back those behind it; without a key there is no order. Payload is written as
// JSON.
type Message struct {
	Kind    string
	Key     string
	Payload any
}

// Enqueue adds the message to the batch of the change that it belongs to: both happen, or neither.
func Enqueue(b *pg.Batch, m Message) {
	if m.Key != "" {
		// Ids are given before commits: two changes of one key that overlap take turns here, so that ids and commits
		// of a key have the same order.
		b.Exec(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "outbox\x1f"+m.Key)
	}
	b.Exec(`INSERT INTO outbox (kind, key, payload) VALUES ($1, $2, $3)`, m.Kind, m.Key, document{m.Payload})
	b.Exec(`SELECT pg_notify($1, '')`, channel)
}

// document keeps the driver from taking a text or bytes for JSON that is already written.
type document struct{ value any }

// MarshalJSON writes the value.
func (d document) MarshalJSON() ([]byte, error) { return json.Marshal(d.value) }

// Handler brings about one message's effect. It is called again until it returns nil, perhaps by two relays at a time
// when it takes longer than the lease. Its context ends before the lease does.
type Handler func(ctx context.Context, payload []byte) error
