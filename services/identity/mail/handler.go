package mail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/seal"
)

// Pauses between tries, and the longest that a try takes, for the outbox that carries letters.
const (
	FirstPause   = 2 * time.Second
	LongestPause = 10 * time.Minute
	Lease        = time.Minute
)

// Sender brings a mail on its way.
type Sender interface {
	// Send may be repeated with a mail of the same id. ErrRefused says that no further try will do.
	Send(ctx context.Context, id string, m *gomail.Msg) error
}

// ErrRefused is the error of a mail that nobody will take.
var ErrRefused = errors.New("the mail is refused for good")

// Post handles identity.LetterEffect.
type Post struct {
	Sender Sender
	Writer *Writer
	Sealer *seal.Sealer
	From   string
	Log    *slog.Logger
	Now    func() time.Time
}

// Handle sends the letter of an outbox message. One that came too late, or that nobody takes, is given up: its reader
// asks for another.
func (p *Post) Handle(ctx context.Context, payload []byte) error {
	var l identity.Letter
	if err := json.Unmarshal(payload, &l); err != nil {
		return fmt.Errorf("read a letter: %w", err)
	}
	if !p.Now().Before(l.Until) {
		p.Log.WarnContext(ctx, "a letter was not sent in time", "letter", l.ID, "template", l.Template)
		return nil
	}
	m, err := p.message(l)
	if err != nil {
		return err
	}
	err = p.Sender.Send(ctx, l.ID, m)
	if errors.Is(err, ErrRefused) {
		p.Log.WarnContext(ctx, "a letter was refused", "letter", l.ID, "template", l.Template, "error", err.Error())
		return nil
	}
	return err
}

func (p *Post) message(l identity.Letter) (*gomail.Msg, error) {
	plain, err := p.Sealer.Open(l.Sealed, identity.LetterPurpose(l.ID))
	if err != nil {
		return nil, err
	}
	var c identity.Contents
	if err := json.Unmarshal(plain, &c); err != nil {
		return nil, errors.New("the contents of a letter cannot be read") //nolint:err113 // the decoder's text quotes them
	}
	written, err := p.Writer.Write(l.Template, c)
	if err != nil {
		return nil, err
	}
	// Text that needs no encoding is left as it is: links stay in one piece for whoever reads the raw mail.
	encoding := gomail.NoEncoding
	if !ascii(written.Text + written.HTML) {
		encoding = gomail.EncodingQP
	}
	m := gomail.NewMsg(gomail.WithEncoding(encoding), gomail.WithNoDefaultUserAgent())
	if err := m.From(p.From); err != nil {
		return nil, errors.New("MAIL_FROM is no address") //nolint:err113 // the library's text quotes it
	}
	if err := m.To(c.To); err != nil {
		return nil, errors.New("a letter is for something that is no address") //nolint:err113 // the library's text quotes it
	}
	m.Subject(written.Subject)
	m.SetMessageIDWithValue(l.ID + "@" + domain(p.From))
	m.SetDateWithValue(p.Now())
	m.SetGenHeader("Auto-Submitted", "auto-generated")
	m.SetBodyString(gomail.TypeTextPlain, written.Text)
	m.AddAlternativeString(gomail.TypeTextHTML, written.HTML)
	return m, nil
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}
