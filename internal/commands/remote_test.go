package commands

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"longhaul/internal/test"
)

// The port of gRPC or of Temporal ends a command at once, which says which port it wants.
func TestRun_otherProtocol(t *testing.T) {
	l := test.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil { // before it was asked, the client would take this for noise, and try again
				_, _ = io.Copy(io.Discard, r.Body)
			}
			_, _ = c.Write([]byte("\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00\x40\x00")) // the settings of HTTP/2, with which gRPC begins
			_ = c.Close()
		}
	}()
	for _, args := range [][]string{{"get", rootID}, {"watch", rootID}, {"send", "hi"}} {
		var stderr strings.Builder
		code := run(t.Context(), append(args, "--url", "http://"+l.Addr().String()), io.Discard, &stderr)
		if said := stderr.String(); code != 1 || !strings.Contains(said, "has its HTTP port, which is 7420 by default") || strings.Contains(said, "trying until") {
			t.Errorf("%s: exit code %d\n%s", args, code, said)
		}
	}
}

// A token that cannot be sent ends a command at once, which says so.
func TestRun_badToken(t *testing.T) {
	f := newFakeAgent(t)
	var stderr strings.Builder
	code := run(t.Context(), []string{"send", "hi", "--url", f.URL, "--token", "first\nsecond"}, io.Discard, &stderr)
	if said := stderr.String(); code != 1 || !strings.Contains(said, "on one line, with LONGHAUL_TOKEN") || strings.Contains(said, "second") {
		t.Errorf("exit code %d\n%s", code, said)
	}
}

// A URL without an agent, and without a card that names its interface, ends a command with where to look.
func TestRun_noInterface(t *testing.T) {
	nothing := httptest.NewServer(http.NotFoundHandler())
	defer nothing.Close()
	var stderr strings.Builder
	code := run(t.Context(), []string{"send", "hi", "--url", nothing.URL}, io.Discard, &stderr)
	if said := stderr.String(); code != 1 || !strings.Contains(said, "which is not A2A") || !strings.Contains(said, "URLs of its interfaces. To see them: longhaul card --url "+nothing.URL) {
		t.Errorf("exit code %d\n%s", code, said)
	}
}

// A command trusts the authority that it is given, and shows its certificate.
func TestCredentials_http(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) == 0 {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	srv.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		test.OK(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	private := test.Value(x509.MarshalPKCS8PrivateKey(srv.TLS.Certificates[0].PrivateKey))(t)
	cert, key := write("cert.pem", "CERTIFICATE", srv.Certificate().Raw), write("key.pem", "PRIVATE KEY", private)
	for _, tc := range []struct {
		name     string
		settings credentials
		want     int // 0 for no connection
	}{
		{"nothing", credentials{}, 0},
		{"authority", credentials{CA: cert}, http.StatusUnauthorized},
		{"authority and certificate", credentials{CA: cert, Cert: cert, CertKey: key}, http.StatusOK},
	} {
		c := test.Value(tc.settings.httpClient())(t)
		got := 0
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, nil)
		r.RequestURI = ""
		if res, err := c.Do(r); err == nil {
			_ = res.Body.Close()
			got = res.StatusCode
		}
		c.CloseIdleConnections()
		test.Is(t, tc.name+": status", tc.want, got)
	}
	for want, s := range map[string]credentials{
		"read --ca":                  {CA: "missing.pem"},
		"it has no certificate":      {CA: key},
		"read --cert and --cert-key": {Cert: cert},
	} {
		test.Fails(t, "the call", want, test.Err(s.httpClient()))
	}
}
