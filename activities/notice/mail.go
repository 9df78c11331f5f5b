package notice

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/wneessen/go-mail"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/egress"
)

// A mailbox gets notices as messages over SMTP: one message to all recipients. go-mail makes
// them, since net/smtp leaves encodings, header injection and the rules of STARTTLS to its caller.
type mailbox struct {
	server         string // its host
	port           int
	encryption     encryption
	user, password string
	from           string
	to             []string
	subject, text  *template.Template
}

// An encryption says how the connection to an SMTP server is encrypted.
type encryption string

const (
	startTLS encryption = "starttls" // required, not only used if it is offered
	fullTLS  encryption = "tls"      // from the first byte
	plain    encryption = "none"
)

// mailFor is how long the dialogue with the server may take.
const mailFor = 20 * time.Second

// defaultSubject and defaultText are the templates of a channel without its own.
const (
	defaultSubject = `{{.Headline}}`
	defaultText    = `{{.Headline}}

Objective: {{.Objective}}
Task: {{.Task}}
{{with .Interrupt.About}}
{{.}}
{{end}}{{range .Interrupt.Questions}}
- {{.Question}}
{{end}}{{with .Object}}
To be decided on:

{{cut 8000 .}}
{{end}}{{with .Interrupt.Original}}
{{.String}}
{{end}}{{with .Messages}}
Messages to this work that are not shown here: {{.}}.
{{end}}{{with .Next}}
Without an answer: {{.}}.
{{end}}{{if .AnswerURL}}
Answer here, once. The link answers in your name: do not pass it on.
{{.AnswerURL}}
{{else if ne .Notice "expire"}}
To answer: longhaul get {{.TaskID}}
{{end}}`
)

func (m mailbox) host() string { return m.server }

func (m mailbox) check(d Data) error {
	_, err := m.message(d, 1)
	return err
}

// message returns the message about a notice. Its id is the same for each attempt.
func (m mailbox) message(d Data, attempt int) (*mail.Msg, error) {
	d = d.visible()
	subject, err := executeTemplate(m.subject, d)
	if err != nil {
		return nil, err
	}
	text, err := executeTemplate(m.text, d)
	if err != nil {
		return nil, err
	}
	msg := mail.NewMsg()
	if err := errors.Join(msg.From(m.from), msg.To(m.to...)); err != nil {
		return nil, err
	}
	msg.Subject(oneLine(subject))
	msg.SetDateWithValue(d.At.Time())
	msg.SetMessageIDWithValue(m.id(d.DeliveryID))
	msg.SetGenHeaderPreformatted(mail.HeaderReferences, "<"+m.id(d.Interrupt.ID)+">") // so that the notices about a gate are one thread
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetGenHeader(mail.Header(activities.DeliveryHeader), d.DeliveryID)
	msg.SetGenHeader(mail.Header(activities.AttemptHeader), strconv.Itoa(attempt))
	msg.SetBodyString(mail.TypeTextPlain, text)
	return msg, nil
}

// id returns the id of a message, derived from its subject.
func (m mailbox) id(about string) string {
	sum := sha256.Sum256([]byte(about))
	domain := m.from[strings.LastIndex(m.from, "@")+1:] // the name may have an @, too
	return hex.EncodeToString(sum[:16]) + "@" + strings.Trim(domain, "> ")
}

// longestSubject is the length of a subject in characters.
const longestSubject = 200

// oneLine returns text on one line, so that it cannot begin another header.
func oneLine(text string) string {
	text = a2a.VisibleLine(text)
	if r := []rune(text); len(r) > longestSubject {
		return string(r[:longestSubject]) + "…"
	}
	return text
}

func (m mailbox) send(ctx context.Context, c *Channels, n activities.NoticeAttempt, d Data) activities.Tried {
	msg, err := m.message(d, n.N)
	if err != nil {
		c.logFailure(n, classTemplate, err)
		return activities.Tried{Class: classTemplate, Final: true}
	}
	ctx, cancel := context.WithTimeout(ctx, mailFor)
	defer cancel()
	s := &session{ctx: ctx, tls: &tls.Config{ServerName: m.server, MinVersion: tls.VersionTLS12, RootCAs: c.cfg.Roots}, full: m.encryption == fullTLS}
	defer s.close()
	client, err := mail.NewClient(m.server, m.options(s)...)
	if err != nil {
		c.logFailure(n, "internal", err)
		return activities.Tried{Class: "internal"}
	}
	out, err := m.deliver(ctx, client, msg)
	if err != nil {
		if ctx.Err() != nil {
			out = activities.Tried{Class: egress.ClassTimeout}
		}
		c.logFailure(n, out.Class, err)
	}
	return out
}

// A session is the connection to a server. It is closed at the end of ctx, also
// while the client waits for an answer.
type session struct {
	ctx  context.Context
	tls  *tls.Config
	full bool // encrypted from the first byte
	conn net.Conn
	stop func() bool
}

func (s *session) dial(ctx context.Context, network, addr string) (conn net.Conn, err error) {
	if s.full {
		conn, err = (&tls.Dialer{Config: s.tls}).DialContext(ctx, network, addr)
	} else {
		conn, err = new(net.Dialer).DialContext(ctx, network, addr)
	}
	if err != nil {
		return nil, err
	}
	s.conn, s.stop = conn, context.AfterFunc(s.ctx, func() { _ = conn.Close() })
	return conn, nil
}

func (s *session) close() {
	if s.conn != nil {
		s.stop()
		_ = s.conn.Close()
	}
}

func (m mailbox) options(s *session) []mail.Option {
	o := []mail.Option{mail.WithPort(m.port), mail.WithTimeout(mailFor), mail.WithTLSConfig(s.tls), mail.WithDialContextFunc(s.dial)}
	switch m.encryption {
	case fullTLS:
		o = append(o, mail.WithSSL())
	case startTLS:
		o = append(o, mail.WithTLSPolicy(mail.TLSMandatory))
	default:
		o = append(o, mail.WithTLSPolicy(mail.NoTLS))
	}
	if m.user != "" {
		o = append(o, mail.WithOpportunisticSMTPAuth(mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthPlain, mail.SMTPAuthLogin),
			mail.WithUsername(m.user), mail.WithPassword(m.password))
	}
	return o
}

// deliver passes a message to the server. A permanent refusal of the message is final;
// an earlier failure, such as a wrong password, concerns the server and may be
// repaired.
func (m mailbox) deliver(ctx context.Context, client *mail.Client, msg *mail.Msg) (activities.Tried, error) {
	conn, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return activities.Tried{Class: mailClass(err)}, err
	}
	err = client.SendWithSMTPClient(conn, msg)
	_ = client.CloseWithSMTPClient(conn) // the message has been accepted, or not
	if err == nil || msg.IsDelivered() {
		return activities.Tried{}, nil
	}
	out := activities.Tried{Class: mailClass(err)}
	if refused, ok := errors.AsType[*mail.SendError](err); ok && refused.ErrorCode() != 0 {
		out = activities.Tried{Class: smtpClass(refused.ErrorCode()), Final: refused.ErrorCode()/100 == 5}
	}
	return out, err
}

// mailClass returns a word for an error, with nothing from the answer of the server
// but its code.
func mailClass(err error) string {
	var said *textproto.Error
	var network net.Error
	switch class := egress.Class(err); {
	case errors.As(err, &said):
		return smtpClass(said.Code)
	case class != egress.ClassNetwork, errors.As(err, &network):
		return class
	case strings.Contains(err.Error(), "STARTTLS"): // go-mail has no error of its own for a server without it
		return egress.ClassTLS
	}
	return egress.ClassNetwork
}

func smtpClass(code int) string { return "smtp " + strconv.Itoa(code) }
