package identity

import "time"

// Agreement is the text that an organization accepts before it may use patients' data in production.
type Agreement struct {
	ID      string
	Version int
	Title   string
	Text    string
}

// AgreementStatus is where an organization stands with the agreement in effect.
type AgreementStatus struct {
	Accepted   bool
	AcceptedAt *time.Time
}
