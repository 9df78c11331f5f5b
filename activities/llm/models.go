package llm

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"longhaul/internal/opfile"
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

	key    string
	client *http.Client
	chat   chat
}

// A Price is the price of a million tokens, in the operator's currency.
type Price struct {
	Input  float64 `yaml:"input"`
	Output float64 `yaml:"output"`
}

// A Budget limits tokens and costs. 0 is no limit.
type Budget struct {
	Tokens int64   `yaml:"tokens" json:"tokens,omitempty"` // of input and output together
	Cost   float64 `yaml:"cost" json:"cost,omitempty"`     // by the prices of the models
}

// Budgets are the budgets of one task and of all tasks of its objective.
type Budgets struct {
	Task      Budget `yaml:"task" json:"task,omitzero"`
	Objective Budget `yaml:"objective" json:"objective,omitzero"`
}

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

// Limits of models and servers that set none.
const (
	defaultMaxOutput   = 4096
	defaultTurnTimeout = 5 * time.Minute
	defaultCallTimeout = time.Minute
	defaultToolOutput  = 32 << 10
)

// Load reads a file with models. env returns the value of a variable that the file
// names; nil leaves all out, for a process that asks no model. The error lists
// everything that is wrong, and has no value of a variable.
func Load(path string, env func(name string) (string, bool)) (*Models, error) {
	m := &Models{}
	if err := opfile.Read(path, "models", m); err != nil {
		return nil, err
	}
	wrong := mistakes{path: path, env: env}
	if len(m.Models) == 0 {
		wrong.add("the file needs models")
	}
	for _, name := range slices.Sorted(maps.Keys(m.Models)) {
		m.Models[name].prepare(wrong.part("model " + name))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Servers)) {
		if !serverForm.MatchString(name) {
			wrong.add("server %q: a name has 1 to 32 of a-z, 0-9 and -", name)
		}
		m.Servers[name].prepare(wrong.part("server " + name))
	}
	m.Budget.Task.check(wrong.part("budget: task"))
	m.Budget.Objective.check(wrong.part("budget: objective"))
	if len(wrong.list) == 0 {
		m.checkCost(&wrong)
		m.Planner.prepare(m, wrong.part("planner"))
	}
	return m, errors.Join(wrong.list...)
}

var serverForm = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// checkCost refuses a budget of costs for models without prices.
func (m *Models) checkCost(wrong *mistakes) {
	if m.Budget.Task.Cost == 0 && m.Budget.Objective.Cost == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m.Models)) {
		if m.Models[name].Price == (Price{}) {
			wrong.add("model %s: needs a price, since the budget has a cost", name)
		}
	}
}

// mistakes are the mistakes in a file.
type mistakes struct {
	path, at string
	env      opfile.Env
	list     []error
	all      *mistakes // of the whole file; nil if this is it
}

// part returns the mistakes of a part of the file, or of a part of that.
func (w *mistakes) part(part string) *mistakes {
	return &mistakes{path: w.path, at: w.at + part + ": ", env: w.env, all: w.root()}
}

// root returns the mistakes of the whole file.
func (w *mistakes) root() *mistakes {
	if w.all == nil {
		return w
	}
	return w.all
}

func (w *mistakes) add(format string, args ...any) {
	all := w.root()
	all.list = append(all.list, fmt.Errorf("%s: %s%s", w.path, w.at, fmt.Sprintf(format, args...)))
}

// value returns the value of a variable, which must be set.
func (w *mistakes) value(name string) string {
	value, err := w.env.Value(name)
	if err != nil {
		w.add("%v", err)
	}
	return value
}

// isURL reports whether a text is the URL of a server.
func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

func (b Budget) check(wrong *mistakes) {
	if b.Tokens < 0 || b.Cost < 0 {
		wrong.add("a limit must not be below 0")
	}
}

// prepare checks m and makes its chat.
func (m *Model) prepare(wrong *mistakes) {
	switch {
	case m == nil || m.Model == "":
		wrong.add("needs model: its id at the server")
		return
	case m.Provider != "openai" && m.Provider != "anthropic":
		wrong.add("provider must be openai or anthropic: whose API its server speaks")
		return
	case m.URL != "" && !isURL(m.URL):
		wrong.add("url must be that of an API, such as https://api.example.com/v1")
	case m.URL == "" && m.Key == "":
		wrong.add("needs key: the name of the variable that has the API key")
	case m.MaxOutput < 0 || m.Timeout < 0 || m.Price.Input < 0 || m.Price.Output < 0:
		wrong.add("has a limit or a price below 0")
	}
	if m.Key != "" {
		m.key = wrong.value(m.Key)
	}
	if m.MaxOutput == 0 {
		m.MaxOutput = defaultMaxOutput
	}
	if m.Timeout == 0 {
		m.Timeout = defaultTurnTimeout
	}
	m.client = newClient(nil)
	m.chat = newOpenAI(m)
	if m.Provider == "anthropic" {
		m.chat = newClaude(m)
	}
}

// cost returns what u costs with m.
func (m *Model) cost(u opt.Usage) float64 {
	return (float64(u.Input)*m.Price.Input + float64(u.Output)*m.Price.Output) / 1e6
}

// prepare checks s.
func (s *Server) prepare(wrong *mistakes) {
	switch {
	case s == nil || (len(s.Run) == 0) == (s.URL == ""):
		wrong.add("needs run, a program and its arguments, or url")
		return
	case s.URL != "" && !isURL(s.URL):
		wrong.add("url must be that of an MCP server, such as https://tools.example.com/mcp")
	case s.URL != "" && len(s.Env) > 0, s.URL == "" && len(s.Headers) > 0:
		wrong.add("env is for a program, headers are for a url")
	case s.Timeout < 0 || s.Output < 0:
		wrong.add("has a limit below 0")
	}
	s.policies = map[string]policy{}
	for _, name := range slices.Sorted(maps.Keys(s.Tools)) {
		s.policies[name] = readPolicy(s.Tools[name], wrong.part("tool "+name))
	}
	if s.Timeout == 0 {
		s.Timeout = defaultCallTimeout
	}
	if s.Output == 0 {
		s.Output = defaultToolOutput
	}
	for _, name := range s.Env {
		if wrong.env == nil {
			break
		}
		if value, ok := wrong.env(name); ok {
			s.env = append(s.env, name+"="+value)
		}
	}
	header := http.Header{}
	filled := wrong.env.Headers(s.Headers, "Accept", "Mcp-Session-Id", "Mcp-Protocol-Version")
	for name, value := range filled.Headers {
		header.Set(name, value)
	}
	for _, err := range filled.Wrong {
		wrong.add("headers: %v", err)
	}
	s.client = newClient(header)
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

// isObject reports whether data is a JSON object.
func isObject(data json.RawMessage) bool {
	var object map[string]any
	return json.Unmarshal(data, &object) == nil && object != nil
}

// listNames lists names for an error.
func listNames[T any](of map[string]T) string {
	if len(of) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(of)), ", ")
}
