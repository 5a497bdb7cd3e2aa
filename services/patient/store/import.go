package store

import (
	"context"
	"crypto/hmac"
	"strconv"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/revise"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

var _ patient.ImportStore = (*Store)(nil)

// batchesAtOnce is how many batches of all imports are stored at a time, so that the connections of others stay free.
const batchesAtOnce = 4

const (
	// Whoever uses the key for something else is found out: an import is a request without a body of its own there.
	beginKey = `INSERT INTO ` + idempotency.Table + ` VALUES ($1, $2, $3, $4, 200, '', '') ON CONFLICT DO NOTHING`
	beginRun = `
	INSERT INTO patient_import_run AS run (tenant_id, credential_id, key, holder, until)
	SELECT $1, $2, $3, $5, now() + $6::interval FROM idempotency_key
	WHERE tenant_id = $1 AND credential_id = $2 AND key = $3 AND request_hash = $4
	ON CONFLICT (tenant_id, credential_id, key) DO UPDATE SET holder = excluded.holder, until = excluded.until WHERE run.until < now()`
	holdRun = `
	UPDATE patient_import_run SET until = now() + $5::interval
	WHERE tenant_id = $1 AND credential_id = $2 AND key = $3 AND holder = $4`
)

// BeginImport is patient.ImportStore's.
func (s *Store) BeginImport(ctx context.Context, r patient.Run) error {
	k := r.Key
	var begun int64
	b := pg.Tenant(k.Tenant)
	b.Exec(beginKey, k.Tenant, k.Credential, k.Value, k.Hash)
	b.Affected(&begun, beginRun, k.Tenant, k.Credential, k.Value, k.Hash, r.Holder, r.Lease)
	if err := s.db.Send(ctx, b); err != nil || begun == 1 {
		return err
	}
	if _, err := k.Earlier(ctx, s.db); err != nil {
		return err
	}
	return fault.New(fault.Conflict, "idempotency_key_in_use", "A request with this Idempotency-Key is still running.")
}

// HoldImport is patient.ImportStore's.
func (s *Store) HoldImport(ctx context.Context, r patient.Run) (bool, error) {
	return s.hold(ctx, r, r.Lease)
}

// EndImport is patient.ImportStore's.
func (s *Store) EndImport(ctx context.Context, r patient.Run) error {
	_, err := s.hold(ctx, r, -time.Millisecond)
	return err
}

func (s *Store) hold(ctx context.Context, r patient.Run, lease time.Duration) (bool, error) {
	var held int64
	b := pg.Tenant(r.Key.Tenant)
	b.Affected(&held, holdRun, r.Key.Tenant, r.Key.Credential, r.Key.Value, r.Holder, lease)
	err := s.db.Send(ctx, b)
	return held == 1, err
}

// block is a batch on its way: what is known beforehand, which has to hold when it is stored.
type block struct {
	store *Store
	by    principal.Principal
	limit int
	key   idempotency.Key

	ids  []int64 // new ones, more than are needed or just as many
	live int64   // how many patients the tenant has
	seen []storedBlock
}

// storedBlock is lines that were stored before.
type storedBlock struct {
	Lines      []int16 `db:"lines"`
	Digests    []byte  `db:"digests"`
	PatientIDs []int64 `db:"patient_ids"`
}

// Import is patient.ImportStore's: one trip to look and one to store. What the look found is held against the tables again
// under the locks of the second one; where it does not hold any more, all begins anew.
func (s *Store) Import(
	ctx context.Context, by principal.Principal, limit int, key idempotency.Key, newcomers []patient.Newcomer,
) ([]patient.Imported, error) {
	select {
	case s.batches <- struct{}{}:
		defer func() { <-s.batches }()
	case <-ctx.Done():
		return nil, fault.Away(ctx.Err(), "Too much is being imported at once; try again shortly.")
	}
	return revise.UntilSaved(ctx, "import", func() ([]patient.Imported, bool, error) {
		k := &block{store: s, by: by, limit: limit, key: key}
		if err := k.look(ctx, newcomers); err != nil {
			return nil, false, err
		}
		out, chosen := k.choose(newcomers)
		if len(chosen) == 0 {
			return out, true, nil
		}
		err := k.keep(ctx, chosen)
		if pg.HasCode(err, pg.DivisionByZero) {
			return nil, false, nil
		}
		if err == nil {
			s.countMayBeLong(by.TenantID)
		}
		return out, err == nil, err
	})
}

// number is the block that a line is in, place where it stands there.
func number(line int64) int64 { return (line - 1) / patient.ImportBatch }
func place(line int64) int16  { return int16((line - 1) % patient.ImportBatch) }

const (
	newIDs = `SELECT array_agg(nextval('patient_id') * 1024 + floor(random() * 1024)::bigint) FROM generate_series(1, $1)`
	total  = `SELECT coalesce(sum(delta), 0)::bigint FROM patient_count WHERE tenant_id = $1`
	stored = `
	SELECT lines, digests, patient_ids FROM patient_import
	WHERE tenant_id = $1 AND credential_id = $2 AND key = $3 AND block = $4`
)

// look finds out what is there. Ids that are not used in the end are a gap, of which there are many.
func (k *block) look(ctx context.Context, newcomers []patient.Newcomer) error {
	tenant := k.by.TenantID
	b := pg.Tenant(tenant)
	pg.Value(b, &k.ids, newIDs, len(newcomers))
	if k.limit > 0 {
		pg.Value(b, &k.live, total, tenant)
	}
	if k.key.Given() {
		pg.Rows(b, &k.seen, stored, tenant, k.key.Credential, k.key.Value, number(newcomers[0].Line))
	}
	return k.store.db.Send(ctx, b)
}

// chosen is the newcomers that are to be stored, in their order, with their ids.
type chosen []*patient.Newcomer

// choose decides what becomes of each newcomer.
func (k *block) choose(newcomers []patient.Newcomer) ([]patient.Imported, chosen) {
	earlier := k.earlier()
	out, list := make([]patient.Imported, len(newcomers)), make(chosen, 0, len(newcomers))
	for n := range newcomers {
		one := &newcomers[n]
		before, known := earlier[place(one.Line)]
		switch {
		case known && hmac.Equal(before.digest, one.Digest[:]):
			out[n].ID = before.id
		case known:
			out[n].Err = idempotency.Reused()
		case k.limit > 0 && k.live+int64(len(list)) >= int64(k.limit):
			out[n].Err = planLimit(k.limit)
		default:
			one.ID = k.ids[len(list)]
			out[n].ID = one.ID
			list = append(list, one)
		}
	}
	return out, list
}

// line is one that was stored before.
type line struct {
	digest []byte
	id     int64
}

// earlier is the lines of the block that were stored before, by their places in it.
func (k *block) earlier() map[int16]line {
	if len(k.seen) == 0 {
		return nil
	}
	lines := map[int16]line{}
	const size = len(patient.Digest{})
	for _, row := range k.seen {
		for n, place := range row.Lines {
			lines[place] = line{row.Digests[n*size : (n+1)*size], row.PatientIDs[n]}
		}
	}
	return lines
}

const (
	// A batch can only be stopped by an error: 1/0 is the one that plain SQL can raise.
	stillRoom = `SELECT 1 / (coalesce(sum(delta), 0) + $2 <= $3)::integer FROM patient_count WHERE tenant_id = $1`
	lockBlock = `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`
	unchanged = `
	SELECT 1 / (count(*) = $5)::integer FROM patient_import
	WHERE tenant_id = $1 AND credential_id = $2 AND key = $3 AND block = $4`
)

// keep stores the chosen in one trip and one commit.
func (k *block) keep(ctx context.Context, list chosen) error {
	tenant := k.by.TenantID
	b := pg.Tenant(tenant)
	if k.key.Given() {
		at := number(list[0].Line)
		b.Exec(lockBlock, strings.Join([]string{"import", tenant, k.key.Credential, k.key.Value, strconv.FormatInt(at, 10)}, "\x1f"))
		b.Exec(unchanged, tenant, k.key.Credential, k.key.Value, at, len(k.seen))
	}
	if k.limit > 0 {
		b.Exec(lockPlan, tenant)
		b.Exec(stillRoom, tenant, len(list), k.limit)
	}
	list.patients(b, tenant)
	list.history(b, k.by)
	b.Exec(importCount, tenant, len(list))
	list.entries(b)
	queueChildren(b, k.store.addresses, tenant, list, func(one *patient.Newcomer) []patient.Address { return one.Addresses })
	queueChildren(b, k.store.contacts, tenant, list, func(one *patient.Newcomer) []patient.Contact { return one.Contacts })
	queueChildren(b, k.store.aliases, tenant, list, func(one *patient.Newcomer) []patient.Alias { return one.Aliases })
	queueChildren(b, k.store.identifiers, tenant, list, func(one *patient.Newcomer) []patient.Identifier { return one.Identifiers })
	if k.key.Given() {
		list.lines(b, k.key)
	}
	return k.store.db.Send(ctx, b)
}
