package identity

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// The rules of an account are the same everywhere; those of an address an operator can choose.
const (
	mostFailures = 10 // of an account, or of one of its devices
	failureSpan  = 15 * time.Minute
	mostMails    = 5 // of a kind, to one account
	mailSpan     = time.Hour
	// mostInvitations is how many letters an organization, whose name they show to anybody, may send in mailSpan.
	mostInvitations = 200
	addressSpan     = time.Hour
)

// refuse is nil without a wait.
func refuse(wait time.Duration, err error) error {
	if err != nil || wait == 0 {
		return err
	}
	f := fault.New(fault.RateLimited, "too_many_attempts", "There were too many attempts; try again later.")
	f.RetryAfter = wait
	return f
}

// account is how an address is counted, whether or not somebody is registered with it: the counters hold no addresses.
func (p *People) account(email string) string {
	return hex.EncodeToString(p.Hasher.Hash("attempts\x00" + p.Settings.Environment + "\x00" + EmailKey(email)))[:32]
}

// admit counts one more of what an address may do so often.
func (p *People) admit(ctx context.Context, what string, limit int) error {
	return refuse(p.Limits.Take(ctx, what+":"+subscriber(addressOf(ctx)), limit, addressSpan))
}

// mailable counts a mail to an account, and tells whether it may be sent.
func (p *People) mailable(ctx context.Context, what, email string) (bool, error) {
	wait, err := p.Limits.Take(ctx, "mail:"+what+":"+p.account(email), mostMails, mailSpan)
	return wait == 0, err
}

// attempt is one try of a password. What it counts is counted before the password is looked at, so that tries at once
// are told apart from none, and given back when the password was right.
type attempt struct {
	p       *People
	bucket  string // the account's, or the device's
	spray   string // the address' set of accounts; "" for a known device
	account string
}

// begin counts a try. Whoever holds a device cookie of the user has a bucket of their own, so that strangers who fail on
// purpose cannot keep the owner out (OWASP, "Slow down online guessing attacks with device cookies").
func (p *People) begin(ctx context.Context, c Caller, email string, user *User) (attempt, error) {
	a := attempt{p: p, account: p.account(email)}
	if device, known := p.knownDevice(c.Device, user); known {
		a.bucket = "sign-in:device:" + a.account + ":" + device
	} else {
		a.bucket = "sign-in:account:" + a.account
		a.spray = "sign-in:address:" + subscriber(c.Address)
		err := refuse(p.Limits.TakeDistinct(ctx, a.spray, a.account, p.Settings.SignInsPerAddress, failureSpan))
		if err != nil {
			return attempt{}, err
		}
	}
	return a, refuse(p.Limits.Take(ctx, a.bucket, mostFailures, failureSpan))
}

// right takes the count of a try back.
func (a attempt) right(ctx context.Context) error {
	if err := a.p.Limits.GiveBack(ctx, a.bucket); err != nil || a.spray == "" {
		return err
	}
	return a.p.Limits.GiveBackDistinct(ctx, a.spray, a.account)
}

// free ends the refusals of an account's strangers.
func (p *People) free(ctx context.Context, email string) error {
	return p.Limits.Forget(ctx, "sign-in:account:"+p.account(email))
}
