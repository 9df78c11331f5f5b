package commands

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
)

// credentials say how a command shows who calls, and which agents it trusts.
type credentials struct {
	Token   string `help:"API key or token for the agent, sent as a bearer token." env:"LONGHAUL_TOKEN"`
	CA      string `name:"ca" help:"File with the authorities of the agent's certificate (PEM), beside those of the system." env:"LONGHAUL_CA" placeholder:"FILE"`
	Cert    string `help:"File with the certificate to show to the agent (PEM)." env:"LONGHAUL_CERT" placeholder:"FILE"`
	CertKey string `help:"File with the key of --cert (PEM)." env:"LONGHAUL_CERT_KEY" placeholder:"FILE"`
}

// remoteSettings say which agent a command talks to.
type remoteSettings struct {
	URL string `help:"URL of the agent, or of its JSON-RPC interface." default:"http://127.0.0.1:7420" env:"LONGHAUL_URL"`
	credentials
	Patience time.Duration `help:"How long to repeat calls while the agent cannot be reached." default:"2m" env:"LONGHAUL_PATIENCE"`
	DataDir  string        `hidden:"" default:".longhaul" env:"LONGHAUL_DATA_DIR" type:"path"` // where a process on this machine has kept why it ended
}

// A remote is an agent elsewhere.
type remote struct {
	settings remoteSettings
	process  *process.Process
	client   *client.Client
	noRepeat *client.Client // does not repeat calls
	outage   *outage
	page     page // that the command reads beside A2A; the zero value for none
}

// A page is a list that Longhaul has beside A2A.
type page struct{ things, path string }

// ProvideRemote returns the agent that the settings name, for the Run methods of commands whose
// errors then have what to do about them. It does not connect yet.
func (s remoteSettings) ProvideRemote(p *process.Process) (*remote, error) {
	if !process.IsServer(s.URL) {
		return nil, process.Usagef("%q is not the URL of an agent, such as https://agent.example.com", s.URL)
	}
	http, err := s.httpClient()
	if err != nil {
		return nil, err
	}
	t := &outage{note: p.Note, program: p.Name, url: s.URL, dataDir: s.DataDir, patience: s.Patience, startHint: howToStart(p)}
	p.Ctx, t.giveUp = context.WithCancelCause(p.Ctx)
	cfg := client.Config{URL: s.URL, Token: s.Token, HTTP: http, Patience: cmp.Or(s.Patience, -1), Retrying: t.failed}
	r := &remote{settings: s, process: p, client: client.New(cfg), outage: t}
	cfg.Patience, cfg.Retrying = -1, nil
	r.noRepeat = client.New(cfg)
	p.Explain = r.explain
	return r, nil
}

// command returns the begin of a command line that reaches the same agent: its arguments
// may follow. The token is not repeated: it is a secret.
func (r *remote) command(name string) string {
	s := r.settings
	text := r.process.Command.At(s.URL, name)
	for _, f := range []struct{ name, value string }{{"ca", s.CA}, {"cert", s.Cert}, {"cert-key", s.CertKey}} {
		if f.value != "" {
			text += " --" + f.name + " " + f.value
		}
	}
	return text
}

// explain returns err with what to do about it, if that is known and was not
// printed before.
func (r *remote) explain(err error) error {
	if _, done := errors.AsType[*process.Advised](err); done || err == nil {
		return err
	}
	refused, answered := errors.AsType[*client.Error](err)
	switch {
	case answered && hasNoPage(refused) && r.page.path != "":
		return &process.Advised{Err: fmt.Errorf("the agent has no list of %s: only a Longhaul server has it, at %s below --url: %w", r.page.things, r.page.path, err), Code: refused.Status}
	case errors.Is(err, syscall.ECONNREFUSED) && !r.outage.wasPrinted():
		return &process.Advised{Err: fmt.Errorf("nothing serves at %s: %w", r.outage.url, err), Hint: r.outage.startHint, Reason: reasonUnreachable}
	case answered:
		return &process.Advised{Err: err, Hint: r.refusalHint(refused), Code: cmp.Or(refused.Code, refused.Status), Reason: refused.Reason}
	}
	advised := &process.Advised{Err: err, Hint: r.connectionHint(err)}
	if _, failed := errors.AsType[net.Error](err); failed {
		advised.Reason = reasonUnreachable
	}
	return advised
}

// hasNoPage reports whether a server without the path or the method of a call has refused it.
func hasNoPage(refused *client.Error) bool {
	return refused.Reason == "" && slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed}, refused.Status)
}

// reasonUnreachable is the reason of errors of calls without an answer.
const reasonUnreachable = "UNREACHABLE"

// connectionHint returns what to do about a failed connection, "" if that is not known.
func (r *remote) connectionHint(err error) string {
	_, untrusted := errors.AsType[x509.UnknownAuthorityError](err)
	switch {
	case client.IsOtherProtocol(err):
		return "The URL of an agent has its HTTP port, which is 7420 by default. The ports of gRPC and of Temporal answer so"
	case errors.Is(err, client.ErrToken):
		return "Give the key or token alone, on one line, with LONGHAUL_TOKEN or --token"
	case untrusted:
		return "To trust the authority of this certificate, name a file with it: --ca or LONGHAUL_CA"
	case errors.Is(err, http.ErrSchemeMismatch):
		return "A server without TLS answers so: try http instead of https in --url or LONGHAUL_URL"
	}
	return ""
}

// refusalHint returns what to do about an answer of the agent, "" if that is not known.
func (r *remote) refusalHint(refused *client.Error) string {
	if refused.Status == http.StatusUnauthorized {
		return "Give a valid key or token with LONGHAUL_TOKEN or --token; the command keys create makes one"
	}
	switch refused.Reason {
	case "":
		return r.statusHint(refused)
	case "TASK_NOT_FOUND", "OBJECTIVE_NOT_FOUND":
		return "The id may be wrong, or the work was removed. To list what there is: " + r.command("list")
	case "SCHEDULE_EXISTS":
		return "Choose another id, or change that schedule: " + r.command("schedule change")
	case "SCHEDULE_NOT_FOUND":
		return "To list the schedules: " + r.command("schedule list")
	case "PERMISSION_DENIED":
		if scope := refused.Info["scope"]; scope != "" {
			return fmt.Sprintf("A key has the scopes that it was made with. To make one, where the server runs: %s keys create NAME --scopes %s, and what else it needs",
				r.process.Command, strings.Fields(scope)[0])
		}
	}
	return ""
}

// statusHint is refusalHint for an answer without a reason: by its HTTP status, unless it is one of A2A.
func (r *remote) statusHint(refused *client.Error) string {
	switch {
	case refused.Code != 0:
		return ""
	case refused.Status == http.StatusBadRequest && strings.HasPrefix(r.outage.url, "http:"):
		return "A server with TLS answers so: try https instead of http in --url or LONGHAUL_URL"
	case hasNoPage(refused):
		return "The card of an agent has the URLs of its interfaces. To see them: " + r.command("card")
	}
	return ""
}

// howToStart returns how to start an agent with this program, for people.
func howToStart(p *process.Process) string {
	name := p.Command
	if p.Embeds {
		return fmt.Sprintf("To start everything in one process: %[1]s dev. With a Temporal elsewhere: %[1]s api and %[1]s worker.\n", name)
	}
	return fmt.Sprintf("To start one with a Temporal elsewhere: %[1]s api and %[1]s worker. Everything in one process, from the source of Longhaul: go run ./dev dev.\n", name)
}

// httpClient returns a client that trusts the authorities of the settings too, and shows
// their certificate.
func (s credentials) httpClient() (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	transport.TLSClientConfig = cfg
	if s.CA != "" {
		text, err := os.ReadFile(s.CA)
		if err != nil {
			return nil, fmt.Errorf("read --ca: %w", err)
		}
		if cfg.RootCAs, err = x509.SystemCertPool(); err != nil {
			cfg.RootCAs = x509.NewCertPool()
		}
		if !cfg.RootCAs.AppendCertsFromPEM(text) {
			return nil, errors.New("read --ca: it has no certificate in PEM form")
		}
	}
	if s.Cert != "" || s.CertKey != "" {
		pair, err := tls.LoadX509KeyPair(s.Cert, s.CertKey)
		if err != nil {
			return nil, fmt.Errorf("read --cert and --cert-key: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return &http.Client{Transport: transport}, nil
}

// An outage prints that an agent cannot be reached and until when calls are repeated, and
// later that it can be reached again.
type outage struct {
	note      func(text string)
	giveUp    context.CancelCauseFunc // ends the command
	dataDir   string                  // of a process on this machine
	program   process.Name
	url       string
	patience  time.Duration
	startHint string // how to start an agent; a line

	mu       sync.Mutex
	reached  bool // the agent has answered at least once
	printed  bool // the present outage was printed
	advised  bool // and then where to look
	failures int  // of failures in a row
	since    time.Time
}

// failed records a failure. It prints nothing for a single failure after an answer of the
// agent, since proxies cut streams now and then.
func (t *outage) failed(err error, _ time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failures++; t.failures == 1 {
		t.since = time.Now()
	}
	if end, ended := process.EndOf(t.dataDir, t.url); ended && !t.reached && errors.Is(err, syscall.ECONNREFUSED) {
		t.ended(end)
		return
	}
	switch {
	case !t.printed && !(t.reached && t.failures < 2):
		t.printed = true
		text := fmt.Sprintf("%s: no answer from %s, trying until %s: %v\n", t.program, t.url, t.since.Add(t.patience).Format(time.TimeOnly), a2a.Visible(err.Error()))
		if !t.reached && errors.Is(err, syscall.ECONNREFUSED) {
			text += t.startHint
		}
		t.note(text)
	case t.printed && !t.reached && !t.advised && time.Since(t.since) >= adviceAfter:
		t.advised = true
		t.note("Still no answer. Look at what the server has printed: a file that it refuses ends its start, which the command check finds. Or this is not its address: --url names another.\n")
	}
}

// ended ends the command if the server has ended while it waited, or if no start of another one
// has removed the end since.
func (t *outage) ended(end process.End) {
	if end.At.Before(t.since) && time.Since(t.since) < endCounts {
		return
	}
	t.giveUp(&process.Advised{
		Err:  fmt.Errorf("nothing serves at %s: the server has ended at %s: %s", t.url, end.At.Local().Format(time.TimeOnly), a2a.Visible(end.Reason)),
		Hint: "Correct that, and start it again. The command check finds mistakes in files before a start", Reason: reasonUnreachable,
	})
}

// endCounts is how long a server that has just been started may take until it has removed the end
// of the one before.
const endCounts = 1500 * time.Millisecond

// adviceAfter is how long an agent that was never reached may be silent until it is said where to
// look.
const adviceAfter = 3 * time.Second

// recovered records that the agent has answered.
func (t *outage) recovered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.printed {
		t.note(fmt.Sprintf("%s: connected to %s\n", t.program, t.url))
	}
	t.reached, t.printed, t.failures = true, false, 0
}

// wasPrinted reports whether the present outage was printed.
func (t *outage) wasPrinted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.printed
}
