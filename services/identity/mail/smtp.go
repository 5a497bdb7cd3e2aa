package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// sendTimeout bounds each step of a conversation with a server.
const sendTimeout = 20 * time.Second

// The ports of submission (RFC 6409) and of submission over TLS (RFC 8314 §3.3).
const (
	submission  = 587
	submissions = 465
)

// SMTP is a Sender that submits to a server.
type SMTP struct {
	host    string
	options []gomail.Option
}

// NewSMTP reads SMTP_URL: smtp://user:password@host:port, where TLS begins by STARTTLS and nothing is sent without it,
// or smtps:// with TLS from the start. ?starttls=off is for a loopback address alone. Roots are whom to trust; nil: as
// the system does.
func NewSMTP(text string, trust *tls.Config) (*SMTP, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || (u.Scheme != "smtp" && u.Scheme != "smtps") || strings.Trim(u.Path, "/") != "" {
		return nil, errors.New("SMTP_URL must be smtp://user:password@host:port or smtps://…") //nolint:err113 // the parser's text quotes the password
	}
	s := &SMTP{host: u.Hostname(), options: []gomail.Option{gomail.WithTimeout(sendTimeout)}}
	port := submission
	switch off := u.Query().Get("starttls") == "off"; {
	case u.Scheme == "smtps":
		port, s.options = submissions, append(s.options, gomail.WithSSL())
	case off && !loopback(u.Hostname()):
		return nil, errors.New("SMTP_URL: starttls=off is for a loopback address alone") //nolint:err113 // a configuration's fault
	case off:
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if given := u.Port(); given != "" {
		if port, err = strconv.Atoi(given); err != nil {
			return nil, errors.New("SMTP_URL: the port is no number") //nolint:err113 // a configuration's fault
		}
	}
	if trust == nil {
		trust = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	trust = trust.Clone()
	trust.ServerName = s.host
	s.options = append(s.options, gomail.WithPort(port), gomail.WithTLSConfig(trust))
	if u.User != nil {
		password, _ := u.User.Password()
		s.options = append(s.options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	return s, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// Send submits over a connection of its own. Errors repeat no address: the library's do.
func (s *SMTP) Send(ctx context.Context, _ string, m *gomail.Msg) error {
	client, err := gomail.NewClient(s.host, s.options...)
	if err != nil {
		return errors.New("SMTP_URL cannot be used") //nolint:err113 // the library's text may quote it
	}
	err = client.DialAndSendWithContext(ctx, m)
	var refused *gomail.SendError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &refused):
		return errors.New("the mail server cannot be reached, or does not let us in") //nolint:err113 // the library's text may quote more
	case refused.Reason == gomail.ErrSMTPRcptTo && !refused.IsTemp():
		return fmt.Errorf("%w: SMTP %d", ErrRefused, refused.ErrorCode())
	}
	return fmt.Errorf("the mail server answers %d", refused.ErrorCode()) //nolint:err113 // a number says it all
}

// domain is the part of an address behind the @.
func domain(address string) string {
	parsed, err := netmail.ParseAddress(address)
	if err != nil {
		return "localhost"
	}
	return parsed.Address[strings.LastIndexByte(parsed.Address, '@')+1:]
}
