package identity

import (
	"crypto/sha256"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/secret"
)

// What a mailed link is for.
const (
	LinkVerify = "verify"
	LinkReset  = "reset"

	linkInvitation = "invitation" // whose UserID is the invitation's
)

// How long links hold.
const (
	verifyFor = 24 * time.Hour
	resetFor  = time.Hour
)

// Link is a secret that was mailed to a user and holds once. Of its identifier only the hash is kept. A user has one of
// each purpose: a newer one takes the place of the older.
type Link struct {
	UserID    string
	Purpose   string
	Hash      []byte
	ExpiresAt time.Time
}

// newLink makes a link and its identifier.
func (p *People) newLink(userID, purpose string, holds time.Duration) (Link, string, error) {
	identifier, err := secret.Random(p.Random)
	if err != nil {
		return Link{}, "", err
	}
	l := presented(userID, purpose, identifier)
	l.ExpiresAt = p.now().Add(holds)
	return l, identifier, nil
}

// presented is the link that somebody claims to have been sent.
func presented(userID, purpose, identifier string) Link {
	hash := sha256.Sum256([]byte(identifier))
	return Link{UserID: userID, Purpose: purpose, Hash: hash[:]}
}

// invalidLink is the one answer to every link that does not hold, whatever is the matter with it.
func invalidLink() error {
	return fault.New(fault.Invalid, "invalid_link", "The link is not valid, or not any more.")
}
