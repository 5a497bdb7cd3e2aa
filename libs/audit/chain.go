package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Record is an entry as it stands in its tenant's chain, and as GET /v3/audit shows it.
type Record struct {
	ID           string          `json:"id"`
	At           time.Time       `json:"at"`
	Actor        principal.Actor `json:"actor"`
	TenantID     string          `json:"tenantId"`
	CredentialID string          `json:"credentialId"`
	Action       string          `json:"action"`
	PatientID    *int64          `json:"patientId"`
	Outcome      string          `json:"outcome"`
	TraceID      string          `json:"traceId"`
	PreviousHash string          `json:"previousHash"`
	Hash         string          `json:"hash"`
}

// Genesis is the previous hash of a tenant's first record.
const Genesis = "0000000000000000000000000000000000000000000000000000000000000000"

// Sum is what a record's hash has to be: the SHA-256, in lower-case hexadecimal, of
//
//	previousHash, id, at, tenantId, actor.type, actor.id, credentialId, action, patientId, outcome, traceId
//
// in this order, each as its length in bytes in decimal digits, a colon, its UTF-8 text and a comma (netstrings), so
// that no two records are written alike. At is RFC 3339 in UTC with three digits of fraction and Z; patientId is in
// decimal digits, or empty where there is none.
func (r Record) Sum() string {
	patient := ""
	if r.PatientID != nil {
		patient = strconv.FormatInt(*r.PatientID, 10)
	}
	var s strings.Builder
	for _, text := range []string{
		r.PreviousHash, r.ID, r.At.UTC().Format("2006-01-02T15:04:05.000Z"), r.TenantID, r.Actor.Type, r.Actor.ID,
		r.CredentialID, r.Action, patient, r.Outcome, r.TraceID,
	} {
		s.WriteString(strconv.Itoa(len(text)) + ":" + text + ",")
	}
	sum := sha256.Sum256([]byte(s.String()))
	return hex.EncodeToString(sum[:])
}

// ErrBroken is a chain in which a record was altered, removed or put in.
var ErrBroken = errors.New("the chain is broken")

// Verify checks that the records, in the order of the unfiltered list, are unaltered and follow one another without a
// gap; previous is the hash of the record before them, Genesis for a list from its beginning. It gives the hash that
// the next record has to name. Whether records are missing at the list's end only somebody can tell who noted a later
// hash: a tenant's service does, at GET /v3/audit/verification.
func Verify(previous string, records []Record) (last string, err error) {
	for _, r := range records {
		if r.PreviousHash != previous || r.Sum() != r.Hash {
			return previous, fmt.Errorf("record %s: %w", r.ID, ErrBroken)
		}
		previous = r.Hash
	}
	return previous, nil
}
