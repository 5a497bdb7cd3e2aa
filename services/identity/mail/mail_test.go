package mail_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/mail"
	"github.com/patient-mesh/patient-mesh/services/identity/seal"
)

// mailbox is a mail server that keeps what it is sent over TLS by who knows the password.
type mailbox struct {
	mu       sync.Mutex
	received []string
	tls      []bool
	refuse   error // of recipients
}

type conversation struct {
	box  *mailbox
	conn *smtp.Conn
}

func (b *mailbox) NewSession(c *smtp.Conn) (smtp.Session, error) { return &conversation{b, c}, nil }

func (c *conversation) Reset()                               {}
func (c *conversation) Logout() error                        { return nil }
func (c *conversation) Mail(string, *smtp.MailOptions) error { return nil }
func (c *conversation) AuthMechanisms() []string             { return []string{sasl.Plain} }

func (c *conversation) Rcpt(string, *smtp.RcptOptions) error {
	c.box.mu.Lock()
	defer c.box.mu.Unlock()
	return c.box.refuse
}

func (c *conversation) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, username, password string) error {
		if username != "mesh" || password != "s3cret" {
			return smtp.ErrAuthFailed
		}
		return nil
	}), nil
}

func (c *conversation) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	_, secure := c.conn.TLSConnectionState()
	c.box.mu.Lock()
	defer c.box.mu.Unlock()
	c.box.received, c.box.tls = append(c.box.received, string(raw)), append(c.box.tls, secure)
	return err
}

// serve starts the mailbox, with STARTTLS when a certificate is given.
func serve(t *testing.T, box *mailbox, config *tls.Config) string {
	t.Helper()
	server := smtp.NewServer(box)
	server.Domain, server.TLSConfig, server.AllowInsecureAuth = "localhost", config, config == nil
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().String()
}

func certificate(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	check(t, err)
	parsed, err := x509.ParseCertificate(raw)
	check(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}}, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// desk writes letters as identity.People does, and posts them.
type desk struct {
	*mail.Post

	log *bytes.Buffer
}

func newDesk(t *testing.T, sender mail.Sender) desk {
	t.Helper()
	sealer, err := seal.New(bytes.Repeat([]byte{1}, 32), rand.Reader)
	check(t, err)
	writer, err := mail.NewWriter()
	check(t, err)
	log := &bytes.Buffer{}
	return desk{&mail.Post{
		Sender: sender, Writer: writer, Sealer: sealer, From: "Patient Mesh <no-reply@mesh.example>",
		Log: slog.New(slog.NewTextHandler(log, nil)), Now: time.Now,
	}, log}
}

func (d desk) payload(t *testing.T, template string, c identity.Contents, useful time.Duration) []byte {
	t.Helper()
	plain, err := json.Marshal(c)
	check(t, err)
	const id = "01900000-0000-7000-8000-0000000000aa"
	sealed, err := d.Sealer.Seal(plain, identity.LetterPurpose(id))
	check(t, err)
	raw, err := json.Marshal(identity.Letter{ID: id, Template: template, Sealed: sealed, Until: time.Now().Add(useful)})
	check(t, err)
	if bytes.Contains(raw, []byte(c.To)) {
		t.Error("an address waits in clear")
	}
	return raw
}

var reset = identity.Contents{To: "ada@example.org", Link: "https://mesh.example/user/public/verify-password-update/u/i"}

func TestLettersAreSentOverTLSAlone(t *testing.T) {
	t.Parallel()
	box := &mailbox{}
	server, client := certificate(t)
	sender, err := mail.NewSMTP("smtp://mesh:s3cret@"+serve(t, box, server), client)
	check(t, err)
	d := newDesk(t, sender)
	check(t, d.Handle(t.Context(), d.payload(t, identity.LetterReset, reset, time.Hour)))
	if len(box.received) != 1 || !box.tls[0] {
		t.Fatalf("received %d", len(box.received))
	}
	message, err := netmail.ReadMessage(strings.NewReader(box.received[0]))
	check(t, err)
	if message.Header.Get("Subject") != "Choose a new password" || !strings.Contains(message.Header.Get("Message-ID"), "0000000000aa@mesh.example") ||
		message.Header.Get("Auto-Submitted") != "auto-generated" || !strings.Contains(box.received[0], "text/html") || !strings.Contains(box.received[0], reset.Link) {
		t.Errorf("%s", box.received[0])
	}
	if strings.Contains(box.received[0], "Bcc") {
		t.Error("a letter has other readers")
	}

	// A server that has no STARTTLS, or a certificate of somebody's, gets nothing.
	for name, address := range map[string]string{"without TLS": serve(t, box, nil), "with an unknown certificate": serve(t, box, func() *tls.Config { s, _ := certificate(t); return s }())} {
		sender, err := mail.NewSMTP("smtp://mesh:s3cret@"+address, client)
		check(t, err)
		d := newDesk(t, sender)
		err = d.Handle(t.Context(), d.payload(t, identity.LetterReset, reset, time.Hour))
		if err == nil || len(box.received) != 1 {
			t.Errorf("%s: %v, %d received", name, err, len(box.received))
		}
	}
}

func TestErrorsAreTriedAgainAndTellNoAddress(t *testing.T) {
	t.Parallel()
	box := &mailbox{refuse: &smtp.SMTPError{Code: 451, Message: "ada@example.org later"}}
	server, client := certificate(t)
	address := serve(t, box, server)
	sender, err := mail.NewSMTP("smtp://mesh:s3cret@"+address, client)
	check(t, err)
	d := newDesk(t, sender)
	payload := d.payload(t, identity.LetterReset, reset, time.Hour)
	err = d.Handle(t.Context(), payload)
	if err == nil || strings.Contains(err.Error(), "@") {
		t.Errorf("a passing refusal: %v", err)
	}
	box.mu.Lock()
	box.refuse = &smtp.SMTPError{Code: 550, Message: "no ada@example.org here"}
	box.mu.Unlock()
	if err := d.Handle(t.Context(), payload); err != nil || strings.Contains(d.log.String(), "@") || !strings.Contains(d.log.String(), "550") {
		t.Errorf("a refusal for good: %v, log %s", err, d.log)
	}
	wrong, err := mail.NewSMTP("smtp://mesh:wr0ng@"+address, client)
	check(t, err)
	d.Sender = wrong
	if err := d.Handle(t.Context(), payload); err == nil || strings.Contains(err.Error(), "wr0ng") {
		t.Errorf("a wrong password: %v", err)
	}
}

// counting is a sender that must not be asked.
type counting struct{ mail.Sender }

func TestALetterThatIsTooLateIsNotSent(t *testing.T) {
	t.Parallel()
	d := newDesk(t, counting{}) // whose Send would panic
	if err := d.Handle(t.Context(), d.payload(t, identity.LetterReset, reset, -time.Second)); err != nil {
		t.Error(err)
	}
}

func TestEveryLetterIsWritten(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "mail")
	sender, err := mail.NewFolder(folder)
	check(t, err)
	d := newDesk(t, sender)
	c := identity.Contents{To: "ada@example.org", Link: "https://mesh.example/x", Code: "123456", Organization: "St. Ângela & <Sons>", Factor: "a passkey"}
	for _, template := range []string{
		identity.LetterVerify, identity.LetterKnown, identity.LetterReset, identity.LetterPasswordChanged, identity.LetterInvitation,
		identity.LetterCode, identity.LetterFactorAdded, identity.LetterFactorRemoved, identity.LetterRecoveryCodes,
	} {
		written, err := d.Writer.Write(template, c)
		if err != nil || written.Subject == "" || strings.Contains(written.Subject, "\n") || strings.Contains(written.Text+written.HTML, "no value") {
			t.Errorf("%s: %+v, %v", template, written, err)
		}
		if strings.Contains(written.HTML, "<Sons>") {
			t.Errorf("%s: text became markup", template)
		}
		check(t, d.Handle(t.Context(), d.payload(t, template, c, time.Hour)))
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 1 || !strings.HasSuffix(files[0].Name(), ".eml") {
		t.Errorf("a letter that is sent again is one file: %v, %v", files, err)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	for address, works := range map[string]bool{
		"smtp://u:p@mail.example:587": true, "smtps://u:p@mail.example": true, "smtp://127.0.0.1:25?starttls=off": true, "smtp://localhost?starttls=off": true,
		"smtp://mail.example?starttls=off": false, "http://mail.example": false, "smtp://": false, "smtp://u:p w@x y": false, "smtp://mail.example/path": false,
	} {
		_, err := mail.NewSMTP(address, nil)
		if (err == nil) != works || (err != nil && strings.Contains(err.Error(), "p w")) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := mail.NewFolder("/dev/null/x"); err == nil || errors.Is(err, context.Canceled) {
		t.Error("a folder in /dev/null")
	}
}
