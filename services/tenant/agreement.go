package tenant

import (
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Agreement is a version of what an organization agrees to before it may use production data of patients.
type Agreement struct {
	ID      string
	Version int
	Title   string
	Text    string
}

// Acceptance says who accepted an agreement for a tenant, and when.
type Acceptance struct {
	UserID         *string // the person, where one stood behind the credential
	CredentialKind principal.Kind
	CredentialID   string // the key's, the session's or the client's
	AcceptedAt     time.Time
}

// acceptance is of whoever asks.
func acceptance(by principal.Principal, now time.Time) Acceptance {
	a := Acceptance{CredentialKind: by.Kind, CredentialID: by.CredentialID, AcceptedAt: now}
	if by.UserID != "" {
		a.UserID = &by.UserID
	}
	if by.Kind == principal.Client {
		a.CredentialID = by.ClientID // its tokens come and go
	}
	return a
}

// Actor is the person, or the credential where there was none.
func (a Acceptance) Actor() principal.Actor {
	if a.UserID != nil {
		return principal.Actor{Type: "user", ID: *a.UserID}
	}
	return principal.Actor{Type: string(a.CredentialKind), ID: a.CredentialID}
}

// AgreementStatus is where a tenant stands with the agreement in effect now.
type AgreementStatus struct {
	AgreementID string
	Version     int
	Acceptance  *Acceptance // nil: not accepted
}

func noAgreement() error {
	return fault.New(fault.NotFound, "agreement_not_found", "No agreement is in effect.")
}

func superseded() error {
	return fault.New(fault.Conflict, "agreement_superseded", "This is not the agreement in effect: read GET /v2/agreement/current again.")
}
