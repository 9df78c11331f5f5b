package commands

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"longhaul/internal/process"
)

// healthCommand is "longhaul health".
type healthCommand struct {
	URL     string        `arg:"" optional:"" help:"URL of the process; the default is the one that LONGHAUL_OPS_ADDR or else LONGHAUL_ADDR names on this machine." placeholder:"URL"`
	OpsAddr string        `name:"ops-addr" help:"Address of the process for operators." env:"LONGHAUL_OPS_ADDR" placeholder:"HOST:PORT"`
	Addr    string        `help:"Address of the API, for a process without one for operators." default:"127.0.0.1:7420" env:"LONGHAUL_ADDR" placeholder:"HOST:PORT"`
	TLSCert string        `name:"tls-cert" hidden:"" env:"LONGHAUL_TLS_CERT"`
	Alive   bool          `help:"Ask only whether the process is alive, not whether it is ready."`
	Timeout time.Duration `help:"How long to wait for the answer." default:"5s"`
}

// Run asks once. Its error is one line with the reason.
func (c *healthCommand) Run(p *process.Process) error {
	from, err := c.url()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(p.Ctx, c.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", from, err)
	}
	res, err := http.DefaultClient.Do(req)
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return fmt.Errorf("%w\nAsk at the address for operators, which has no TLS: set LONGHAUL_OPS_ADDR for the process and this command", err)
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("no answer: %w. Nothing serves there: start the process, or give its URL or its --ops-addr", err)
	}
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10)) // the status counts
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", from, healthText(res.Status, body))
	}
	word := "ready"
	if c.Alive {
		word = "alive"
	}
	_, err = fmt.Fprintln(p.Stdout, word)
	return err
}

// url returns the URL to ask.
func (c *healthCommand) url() (string, error) {
	path := "/readyz"
	if c.Alive {
		path = "/healthz"
	}
	if c.URL != "" {
		if !process.IsServer(c.URL) {
			return "", fmt.Errorf("%q is not the URL of a process, such as http://127.0.0.1:9420", c.URL)
		}
		u, _ := url.Parse(c.URL) // IsServer has
		if len(u.Path) <= len("/") {
			u.Path = path
		}
		return u.String(), nil
	}
	flag, addr := "--ops-addr", c.OpsAddr
	if addr == "" {
		flag, addr = "--addr", c.Addr
		if c.TLSCert != "" {
			return "", fmt.Errorf("the API uses TLS, so its own name is needed: set LONGHAUL_OPS_ADDR for the process and this command, or give the URL of the API")
		}
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("%s %q is not an address, such as 127.0.0.1:9420", flag, addr)
	}
	if host == "" || net.ParseIP(host).IsUnspecified() {
		host = "127.0.0.1" // the process listens on all addresses of this machine
	}
	return "http://" + net.JoinHostPort(host, port) + path, nil
}

// healthText returns the state in an answer of /readyz, and the parts that are not
// ready.
func healthText(status string, body []byte) string {
	var answer map[string]any
	if json.Unmarshal(body, &answer) != nil || answer["status"] == nil {
		return status
	}
	parts, ok := answer["parts"].(map[string]any)
	if !ok {
		parts = answer // of the API
	}
	var down []string
	for name, state := range parts {
		if name != "status" && state == "not ready" {
			down = append(down, name)
		}
	}
	text := fmt.Sprint(answer["status"])
	if len(down) > 0 {
		slices.Sort(down)
		text += ": " + strings.Join(down, " and ") + " cannot be reached or cannot work; the log of the process says why"
	}
	return text
}
