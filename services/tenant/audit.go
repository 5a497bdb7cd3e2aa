package tenant

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// AuditRecord is a record and its number in its tenant's chain, which begins with 1 and has no gap.
type AuditRecord struct {
	audit.Record

	Seq int64
}

// AuditHead is where a tenant's chain ends.
type AuditHead struct {
	Records int64
	Hash    string
}

// AuditStore keeps the chains of records.
type AuditStore interface {
	// Append chains the entries, each once, in the order in which they come.
	Append(ctx context.Context, entries []audit.Entry) error
	// Records gives a page of the records that the filter lets through, one more than its size when the list goes on,
	// and their exact number.
	Records(ctx context.Context, tenant string, f AuditFilter, part page.Request) (list []AuditRecord, total int64, err error)
	// Head is where the chain ends; zero for a tenant that nothing is recorded of.
	Head(ctx context.Context, tenant string) (AuditHead, error)
	// Chain gives the records after one, in their order.
	Chain(ctx context.Context, tenant string, after int64, most int) ([]AuditRecord, error)
}

// Trail is the verbs of the audit trail. Reading it leaves no record in it: a list that grows with each of its pages
// would have no end.
type Trail struct {
	Store AuditStore
}

// MostEntries is how many entries one delivery may have.
const MostEntries = 1000

// Append takes what a program of the mesh delivers. What is chained cannot be taken back, so nothing half is.
func (t *Trail) Append(ctx context.Context, entries []audit.Entry) error {
	if _, err := principal.RequireService(ctx); err != nil {
		return err
	}
	if len(entries) > MostEntries {
		return fault.InvalidFields([]fault.Field{{Field: "entries", Code: "too_many", Message: "has too many entries"}})
	}
	for _, e := range entries {
		if !ValidID(e.ID) || !ValidID(e.TenantID) || e.At.IsZero() || e.Action == "" || e.Outcome != audit.Success && e.Outcome != audit.Failure {
			return fault.InvalidFields([]fault.Field{{Field: "entries", Code: "invalid_entry", Message: "has an entry that is none"}})
		}
	}
	return t.Store.Append(ctx, entries)
}

// List gives a page of the caller's tenant's records and their number.
func (t *Trail) List(ctx context.Context, f AuditFilter, part page.Request) ([]AuditRecord, int64, error) {
	by, err := principal.Require(ctx, principal.AuditRead)
	if err != nil {
		return nil, 0, err
	}
	return t.Store.Records(ctx, by.TenantID, f, part)
}

// The most that one verification looks at, and how much of it is in memory at a time.
const (
	MostVerified  = 50_000
	verifiedAtOne = 1000
)

// Verification is what came of looking at a chain.
type Verification struct {
	Records  int64  // looked at, from the chain's beginning on
	Total    int64  // that the chain has to have
	Intact   bool   // as far as it was looked at
	Complete bool   // nothing is left to look at
	BrokenID string // the first record that was altered, or that does not follow the one before it
	Hash     string // of the last record that holds
}

// Verify looks at a part of the caller's tenant's chain, from its beginning or from behind the record numbered after,
// and holds its end against what is known of it. It proves what is there against changes by all but who can also write
// the head: the database's owner, who removes the last records and the head's memory of them, is found out only by
// somebody else who noted a hash.
func (t *Trail) Verify(ctx context.Context, after int64) (Verification, error) {
	by, err := principal.Require(ctx, principal.AuditRead)
	if err != nil {
		return Verification{}, err
	}
	head, err := t.Store.Head(ctx, by.TenantID)
	if err != nil {
		return Verification{}, err
	}
	w := walk{store: t.Store, tenant: by.TenantID, seq: after, hash: audit.Genesis}
	if err := w.begin(ctx); err != nil {
		return Verification{}, err
	}
	if err := w.on(ctx, min(head.Records, after+MostVerified)); err != nil {
		return Verification{}, err
	}
	v := Verification{Records: w.seq, Total: head.Records, BrokenID: w.broken, Hash: w.hash}
	v.Complete = w.broken != "" || w.short || w.seq >= head.Records
	v.Intact = w.broken == "" && !w.short && (!v.Complete || head.Records == 0 || w.seq == head.Records && w.hash == head.Hash)
	return v, nil
}

// walk goes along a chain.
type walk struct {
	store  AuditStore
	tenant string
	seq    int64  // of the last record that holds
	hash   string // its hash
	broken string // the id of the record that does not
	short  bool   // the chain ends too soon
}

// begin finds the hash of the record to go on from, which an earlier look has verified.
func (w *walk) begin(ctx context.Context) error {
	if w.seq == 0 {
		return nil
	}
	list, err := w.store.Chain(ctx, w.tenant, w.seq-1, 1)
	if err == nil && (len(list) == 0 || list[0].Seq != w.seq) {
		w.short = true
		return nil
	}
	if err == nil {
		w.hash = list[0].Hash
	}
	return err
}

// on walks to the record numbered last.
func (w *walk) on(ctx context.Context, last int64) error {
	for w.seq < last && !w.short {
		list, err := w.store.Chain(ctx, w.tenant, w.seq, int(min(verifiedAtOne, last-w.seq)))
		if err != nil {
			return err
		}
		w.short = len(list) == 0
		for _, r := range list {
			hash, err := audit.Verify(w.hash, []audit.Record{r.Record})
			if err != nil || r.Seq != w.seq+1 {
				w.broken = r.ID
				return nil //nolint:nilerr // a broken chain is what was asked about
			}
			w.seq, w.hash = r.Seq, hash
		}
	}
	return nil
}

// AuditFilter is which records are asked for. Zero members let all through.
type AuditFilter struct {
	PatientID int64
	Actor     string
	Action    string
	From      time.Time // inclusive
	To        time.Time // exclusive
}

// Any reports a filter that lets everything through.
func (f AuditFilter) Any() bool { return f == AuditFilter{} }
