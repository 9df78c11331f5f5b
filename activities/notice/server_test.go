package notice_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"mime"
	"net"
	"net/http/httptest"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A mailServer is an SMTP server on loopback that keeps what it accepts.
type mailServer struct {
	addr  string
	tls   *tls.Config
	roots *x509.CertPool

	mu       sync.Mutex
	answers  map[string]string // by verb, or "" for the greeting; replaces the usual answer
	leaves   bool              // closes the connection after it has accepted a message
	silent   bool              // never greets
	offers   []string          // extensions
	lines    []string          // of the clients
	accepted []*mail.Message
	bodies   []string
}

func newMailServer(t *testing.T) *mailServer {
	t.Helper()
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS() // for its certificate of 127.0.0.1 and example.com
	defer web.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &mailServer{addr: l.Addr().String(), tls: &tls.Config{Certificates: web.TLS.Certificates}, roots: x509.NewCertPool(), answers: map[string]string{}}
	s.roots.AddCert(web.Certificate())
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
				s.talk(conn)
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

// talk serves one connection.
func (s *mailServer) talk(conn net.Conn) {
	in := bufio.NewReader(conn)
	say := func(verb, usual string) bool {
		s.mu.Lock()
		other, ok := s.answers[verb]
		s.mu.Unlock()
		if ok {
			usual = other
		}
		fmt.Fprintf(conn, "%s\r\n", usual)
		return !ok
	}
	s.mu.Lock()
	silent, leaves, offers := s.silent, s.leaves, slices.Clone(s.offers)
	s.mu.Unlock()
	if silent {
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
			if s.take(in) {
				say("end of DATA", "250 accepted")
			}
			if leaves {
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

// take reads a message, and keeps it if the server accepts it.
func (s *mailServer) take(in *bufio.Reader) bool {
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
	if s.answers["end of DATA"] != "" {
		return true
	}
	raw := text.String()
	m, err := mail.ReadMessage(&text)
	if err != nil {
		return false
	}
	s.accepted, s.bodies = append(s.accepted, m), append(s.bodies, raw)
	return true
}

// subjects returns those of the accepted messages.
func (s *mailServer) subjects() (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.accepted {
		subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
		if err != nil {
			subject = err.Error()
		}
		list = append(list, subject)
	}
	return list
}

// set changes the server between connections.
func (s *mailServer) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}
