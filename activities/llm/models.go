package llm

import (
	"crypto/tls"
	"errors"
	"maps"
	"net/http"
	"time"

	"go.yaml.in/yaml/v3"

	"longhaul/internal/tracing"
	"longhaul/opt"
)

// Models are the models and tool servers of a file. They do not change, and many
// goroutines may use them at once.
type Models struct {
	Models  map[string]*Model  `yaml:"models"`
	Servers map[string]*Server `yaml:"servers"` // of tools
	Budget  Budgets            `yaml:"budget"`  // of tasks that set none
	Planner *PlannerForm       `yaml:"planner"` // nil for no planner
}

// A Model is a model that tasks may use.
type Model struct {
	Provider  string        `yaml:"provider"`  // openai or anthropic: whose API its server speaks
	URL       string        `yaml:"url"`       // of the API; "" for the provider's
	Model     string        `yaml:"model"`     // its id at the server
	Key       string        `yaml:"key"`       // name of the variable with the API key; "" for none
	Price     Price         `yaml:"price"`     // of its use
	MaxOutput int64         `yaml:"maxOutput"` // tokens of one turn at most; 0 means 4096
	Timeout   time.Duration `yaml:"timeout"`   // of one turn; 0 means 5 minutes

	name   string // in the file
	key    string
	client *http.Client
	chat   chat
}

// A Price is the price of a million tokens, in the operator's currency.
type Price = opt.Price

// A Server is an MCP server with tools: a program, or one at a URL.
type Server struct {
	Run     []string             `yaml:"run"`     // the program and its arguments
	Env     []string             `yaml:"env"`     // names of the variables that the program inherits
	URL     string               `yaml:"url"`     // of a server over streamable HTTP
	Headers map[string]string    `yaml:"headers"` // for the URL; ${NAME} is the value of a variable
	Tools   map[string]yaml.Node `yaml:"tools"`   // policies by tool, "*" for those without one
	Repeat  []string             `yaml:"repeat"`  // tools that may be called again when it is unknown what became of a call
	Timeout time.Duration        `yaml:"timeout"` // of one call; 0 means 1 minute
	Output  int                  `yaml:"output"`  // bytes of a result at most; 0 means 32 KiB

	policies map[string]policy
	env      []string
	client   *http.Client
}

// policy returns the policy of a tool.
func (s *Server) policy(function string) policy {
	for _, name := range []string{function, "*"} {
		if p, ok := s.policies[name]; ok {
			return p
		}
	}
	return policy{does: ask, by: byOthers}
}

// newClient returns a client for a URL of the operator, which may be on this machine or
// in a private network. It follows no redirects, which could take a key elsewhere.
func newClient(header http.Header) *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	t.MaxResponseHeaderBytes = 64 << 10
	return &http.Client{
		Transport:     headers{header, t},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}
}

var errRedirect = errors.New("the server redirects to another URL: name that one in the file")

// headers sends headers with every request, and its trace.
type headers struct {
	header http.Header
	to     http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	maps.Copy(r.Header, h.header)
	ctx, span := tracing.Send(r.Context(), r.Header, r.Method+" "+r.URL.Hostname())
	answer, err := h.to.RoundTrip(r.WithContext(ctx))
	span.End(err != nil || answer.StatusCode >= http.StatusInternalServerError)
	return answer, err
}
