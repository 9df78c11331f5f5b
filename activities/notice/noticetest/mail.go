// Package noticetest has a mail server for tests of notices.
package noticetest

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A MailServer is an SMTP server on loopback that keeps the mail it accepts. Its answers
// are right, until [MailServer.Behave] changes them.
type MailServer struct {
	Addr  string
	Roots *x509.CertPool // of its certificate

	tls *tls.Config

	mu        sync.Mutex
	behaviour Behaviour
	lines     []string
	accepted  []Mail
}

// A Behaviour says how a server differs from one that accepts everything.
type Behaviour struct {
	Answers map[string]string // by verb, "" for the greeting or "end of DATA"; in place of the usual ones
	Offers  []string          // extensions
	Leaves  bool              // it closes the connection after it has accepted a message
	Silent  bool              // it never greets
}

// A Mail is a message that was accepted.
type Mail struct {
	Header mail.Header
	Text   string
}

// Subject returns the subject as people see it.
func (m Mail) Subject() string {
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil {
		return err.Error()
	}
	return subject
}

// NewMailServer starts a server that ends with the test.
func NewMailServer(t testing.TB) *MailServer {
	t.Helper()
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS() // for its certificate of 127.0.0.1 and example.com
	defer web.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &MailServer{Addr: l.Addr().String(), tls: &tls.Config{Certificates: web.TLS.Certificates}, Roots: x509.NewCertPool()}
	s.Roots.AddCert(web.Certificate())
	var open sync.WaitGroup
	ended := make(chan struct{})
	open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer conn.Close()
				stop := make(chan struct{})
				open.Go(func() {
					select {
					case <-ended:
						conn.Close()
					case <-stop:
					}
				})
				defer close(stop)
				s.serveConn(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		close(ended)
		open.Wait()
	})
	return s
}

// serveConn serves one connection.
func (s *MailServer) serveConn(conn net.Conn) {
	in := bufio.NewReader(conn)
	say := func(verb, usual string) bool {
		s.mu.Lock()
		other, ok := s.behaviour.Answers[verb]
		s.mu.Unlock()
		if ok {
			usual = other
		}
		fmt.Fprintf(conn, "%s\r\n", usual)
		return !ok
	}
	s.mu.Lock()
	behaviour, offers := s.behaviour, slices.Clone(s.behaviour.Offers)
	s.mu.Unlock()
	if behaviour.Silent {
		_, _ = in.ReadString('\n') // until the client has had enough
		return
	}
	for say("", "220 ready"); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		s.mu.Lock()
		s.lines = append(s.lines, line)
		s.mu.Unlock()
		switch verb, _, _ := strings.Cut(line, " "); verb {
		case "EHLO":
			list := append([]string{"localhost"}, offers...)
			for _, x := range list[:len(list)-1] {
				fmt.Fprintf(conn, "250-%s\r\n", x)
			}
			say(verb, "250 "+list[len(list)-1])
		case "STARTTLS":
			say(verb, "220 go ahead")
			secured := tls.Server(conn, s.tls)
			conn, in = secured, bufio.NewReader(secured)
			offers = slices.DeleteFunc(offers, func(x string) bool { return x == "STARTTLS" })
		case "DATA":
			if !say(verb, "354 go ahead") {
				continue
			}
			if s.readMessage(in) {
				say("end of DATA", "250 accepted")
			}
			if behaviour.Leaves {
				return
			}
		case "AUTH":
			say(verb, "235 welcome")
		case "QUIT":
			say(verb, "221 bye")
			return
		default:
			say(verb, "250 ok")
		}
	}
}

// readMessage reads a message, and keeps it if the server accepts it.
func (s *MailServer) readMessage(in *bufio.Reader) bool {
	var text bytes.Buffer
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return false
		}
		if line == ".\r\n" {
			break
		}
		text.WriteString(strings.TrimPrefix(line, "."))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.behaviour.Answers["end of DATA"] != "" {
		return true
	}
	m, err := mail.ReadMessage(&text)
	if err != nil {
		return false
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil {
		return false
	}
	s.accepted = append(s.accepted, Mail{m.Header, strings.ReplaceAll(string(body), "\r\n", "\n")})
	return true
}

// Behave changes the server, for connections from now on.
func (s *MailServer) Behave(b Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behaviour = b
}

// Accepted returns the messages that the server has accepted, in order.
func (s *MailServer) Accepted() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.accepted)
}

// Lines returns the commands of the clients, without the content of messages.
func (s *MailServer) Lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.lines)
}
