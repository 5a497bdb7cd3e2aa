package store_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/pquerna/otp/totp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/secret"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/passkey"
	"github.com/patient-mesh/patient-mesh/services/identity/seal"
	"github.com/patient-mesh/patient-mesh/services/identity/store"
)

// bench is second factors on a real database, with the test's own time and a post box.
type bench struct {
	*identity.Verifier

	store    *store.Store
	database testkit.Database
	mu       sync.Mutex
	at       time.Time
	letters  []identity.Contents
	nudged   int
}

func verifier(t *testing.T) *bench {
	t.Helper()
	kept, database := open(t)
	hasher, err := secret.NewHasher(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{9}, 32)))
	check(t, err)
	sealer, err := seal.New(hasher.Key("seal"), rand.Reader)
	check(t, err)
	party, err := passkey.New("https://mesh.example", "Patient Mesh")
	check(t, err)
	v := &bench{store: kept, database: database, at: now()}
	v.Verifier = &identity.Verifier{
		Store: kept, Sealer: sealer, Hasher: hasher, Passkeys: party, Product: "Patient Mesh",
		Random: rand.Reader, Now: v.now, NewID: uuid.NewV7, Nudge: func() { v.mu.Lock(); v.nudged++; v.mu.Unlock() },
		Letter: func(template string, c identity.Contents, useful time.Duration) (identity.Letter, error) {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.letters = append(v.letters, c)
			return identity.Letter{ID: newID(t), Template: template, Sealed: []byte("sealed"), Until: v.at.Add(useful)}, nil
		},
	}
	return v
}

func (v *bench) now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.at
}

func (v *bench) pass(d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.at = v.at.Add(d)
}

// posted is how many letters wait to be sent, and what the last one that was written says.
func (v *bench) posted(t *testing.T) (int, identity.Contents) {
	t.Helper()
	count := v.count(t, `SELECT count(*) FROM outbox WHERE kind = 'mail'`)
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.letters) == 0 {
		return count, identity.Contents{}
	}
	return count, v.letters[len(v.letters)-1]
}

// count asks the database as a superuser, whom no policy holds.
func (v *bench) count(t *testing.T, query string, args ...any) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), v.database.AdminURL)
	check(t, err)
	defer conn.Close(t.Context())
	check(t, conn.QueryRow(t.Context(), query, args...).Scan(&n))
	return n
}

func (v *bench) user(t *testing.T) identity.User {
	t.Helper()
	id := newID(t)
	u, err := v.store.CreateUser(t.Context(), identity.User{
		ID: id, Environment: "demo", Email: id + "@example.org", PasswordHash: "x", FirstName: "Ada", LastName: "L", CreatedAt: now(),
	})
	check(t, err)
	return u
}

// enrol sets up an app for the user and gives its secret and the recovery codes.
func (v *bench) enrol(t *testing.T, u identity.User) (base32 string, recovery []string) {
	t.Helper()
	e, err := v.BeginTOTP(t.Context(), u.ID)
	check(t, err)
	recovery, err = v.ConfirmTOTP(t.Context(), u.ID, v.code(t, e.Secret))
	check(t, err)
	v.pass(time.Minute) // the code that confirmed is used up
	return e.Secret, recovery
}

func (v *bench) code(t *testing.T, base32 string) string {
	t.Helper()
	code, err := totp.GenerateCode(base32, v.now())
	check(t, err)
	return code
}

// wrongCode is six digits that no app with the secret shows about now.
func (v *bench) wrongCode(t *testing.T, base32 string) string {
	t.Helper()
	for _, code := range []string{"000000", "111111", "222222", "333333"} {
		if right, err := totp.ValidateCustom(code, base32, v.now(), totp.ValidateOpts{Period: 30, Skew: 3, Digits: 6}); err == nil && !right {
			return code
		}
	}
	t.Fatal("four codes are right at once")
	return ""
}

func (v *bench) challenge(t *testing.T, u identity.User) identity.Challenge {
	t.Helper()
	c, err := v.NewChallenge(t.Context(), u, identity.Caller{}, nil, identity.Carry{Methods: []string{identity.ByPassword}, Agent: "Firefox on Linux"})
	check(t, err)
	return c
}

// refusal is nil, or the code of the fault.
func (v *bench) answer(t *testing.T, challenge, code string) (refusal string) {
	t.Helper()
	_, _, _, err := v.Answer(t.Context(), challenge, code)
	if err == nil {
		return ""
	}
	return fault.Of(err).Code
}

// atOnce runs do so many times in parallel and counts what came of it.
func atOnce(times int, do func(i int) string) map[string]int {
	var mu sync.Mutex
	var all sync.WaitGroup
	start, counts := make(chan struct{}), map[string]int{}
	for i := range times {
		all.Go(func() {
			<-start
			result := do(i)
			mu.Lock()
			defer mu.Unlock()
			counts[result]++
		})
	}
	close(start)
	all.Wait()
	return counts
}
