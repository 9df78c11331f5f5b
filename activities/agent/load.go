package agent

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"longhaul/a2a/codec"
	"longhaul/activities"
	"longhaul/internal/opfile"
	"longhaul/internal/signing"
)

// Agents are the agents to which tasks may be handed over.
type Agents struct {
	Hops int               `yaml:"hops"` // how often a piece of work may be handed over at most, here and on its way here; 0 means 5
	List map[string]*Agent `yaml:"agents"`
}

// An Agent is another agent.
type Agent struct {
	URL       string            `yaml:"url"`       // of its card if it ends in .json, else the card is at the well-known path below
	Headers   map[string]string `yaml:"headers"`   // of every request; ${NAME} is replaced by a variable
	Version   codec.Version     `yaml:"version"`   // of A2A, "1.0" or "0.3"; "" for the best that it offers
	Hosts     []string          `yaml:"hosts"`     // where its interfaces may be, beside the host and port of the card
	CardKeys  string            `yaml:"card-keys"` // URL or file of a JSON Web Key Set, by a key of which its card must be signed; "" for any card
	NoPush    bool              `yaml:"no-push"`   // do not register for push notifications
	NoStream  bool              `yaml:"no-stream"` // do not subscribe to the remote task
	MaxWait   time.Duration     `yaml:"max-wait"`  // for the remote task; 0 means 30 days
	Poll      time.Duration     `yaml:"poll"`      // longest time between two polls of the remote task; 0 means 1 min
	Patience  time.Duration     `yaml:"patience"`  // how long the agent may be unreachable before an attempt fails; 0 means 1 h
	OnLost    OnLost            `yaml:"on-lost"`   // when it does not know a task any more; "" means resend for conversations that are handed over whole, else ask
	Operators []string          `yaml:"operators"` // groups that may say what happens to a lost task, beside those who asked for it
	Artifacts int               `yaml:"artifacts"` // of one remote task at most; 0 means 100
	Bytes     int               `yaml:"bytes"`     // of all artifacts of one remote task at most; 0 means 8 MiB

	name    string
	card    string   // its URL
	keys    []byte   // in the file of CardKeys
	secrets []string // that must not be shown
}

// Limits of an agent that sets none.
const (
	defaultHops      = 5
	defaultMaxWait   = 30 * 24 * time.Hour
	defaultPoll      = time.Minute
	defaultPatience  = time.Hour
	defaultArtifacts = 100
	defaultBytes     = 8 << 20
)

// MaxAnswer is how many bytes an answer of an agent may have, for the client that reads
// it.
const MaxAnswer = 16 << 20

// A Reader has the dependencies of [Load].
type Reader struct {
	Env     func(name string) (string, bool) // values of variables
	Allowed func(rawURL string) error        // refuses a URL that can never be reached; nil allows all
}

// Load reads a file with agents. The error lists all mistakes, without the values of
// variables.
func Load(path string, r Reader) (Agents, error) {
	var out Agents
	if err := opfile.Read(path, "agents", &out); err != nil {
		return Agents{}, err
	}
	var wrong error
	switch {
	case len(out.List) == 0:
		return Agents{}, fmt.Errorf("%s: the file needs agents", path)
	case out.Hops < 0 || out.Hops > 100:
		wrong = errors.New("hops must be 1 to 100")
	}
	out.Hops = cmp.Or(out.Hops, defaultHops)
	wrong = errors.Join(wrong, opfile.Each("agent", out.List, func(a *Agent, name string) error { return a.prepare(name, r) }))
	return out, opfile.Within(path+": ", wrong)
}

// Add adds an agent, which no file has.
func (a *Agents) Add(name string, one *Agent, r Reader) error {
	if err := one.prepare(name, r); err != nil {
		return err
	}
	if a.List == nil {
		a.List = map[string]*Agent{}
	}
	a.Hops, a.List[name] = cmp.Or(a.Hops, defaultHops), one
	return nil
}

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// wellKnown is where the card of an agent is.
const wellKnown = "/.well-known/agent-card.json"

// prepare checks a and sets its defaults.
func (a *Agent) prepare(name string, r Reader) error {
	switch {
	case !nameForm.MatchString(name):
		return errors.New("the name must be 1 to 63 of a-z, 0-9 and -")
	case a == nil || a.URL == "":
		return errors.New("needs a url: of the agent, or of its card")
	case !slices.Contains([]codec.Version{"", codec.V10, codec.V03}, a.Version):
		return fmt.Errorf(`version must be "1.0" or "0.3", not %q`, a.Version)
	case min(a.MaxWait, a.Poll, a.Patience) < 0 || min(a.Artifacts, a.Bytes) < 0:
		return errors.New("has a limit below 0")
	case cmp.Or(a.Poll, defaultPoll) < firstPoll:
		return fmt.Errorf("poll must be at least %v", firstPoll)
	}
	a.name = name
	if err := a.locate(r.Allowed); err != nil {
		return err
	}
	if err := a.readKeys(r.Allowed); err != nil {
		return opfile.Within("card-keys: ", err)
	}
	a.MaxWait, a.Poll, a.Patience = cmp.Or(a.MaxWait, defaultMaxWait), cmp.Or(a.Poll, defaultPoll), cmp.Or(a.Patience, defaultPatience)
	a.Artifacts, a.Bytes = cmp.Or(a.Artifacts, defaultArtifacts), cmp.Or(a.Bytes, defaultBytes)
	return a.headers(r.Env)
}

// locate sets the URL of the card.
func (a *Agent) locate(allowed func(rawURL string) error) error {
	a.card = strings.TrimRight(a.URL, "/")
	if !strings.HasSuffix(a.card, ".json") {
		a.card += wellKnown
	}
	if !opfile.IsURL(a.card) {
		return errors.New("url must be the URL of an agent, such as https://agent.example.com")
	}
	if allowed == nil {
		return nil
	}
	return opfile.Within("url ", allowed(a.card))
}

// readKeys reads the file of the keys that sign the card, or checks their URL.
func (a *Agent) readKeys(allowed func(rawURL string) error) (err error) {
	switch {
	case a.CardKeys == "":
		return nil
	case strings.Contains(a.CardKeys, "://"):
		if !opfile.IsURL(a.CardKeys) {
			return errors.New("must be a file, or a URL such as https://agent.example.com/.well-known/jwks.json")
		}
		if allowed != nil {
			err = allowed(a.CardKeys)
		}
		return err
	}
	if a.keys, err = os.ReadFile(a.CardKeys); err == nil {
		_, err = signing.ReadKeys(a.keys)
	}
	return err
}

// headers fills in the variables of the headers.
func (a *Agent) headers(env opfile.Env) error {
	filled := env.Headers(a.Headers, "Accept", "User-Agent", codec.HeaderVersion)
	if env == nil { // of a process that reads the card alone
		a.Headers = nil
		return opfile.Within("headers: ", errors.Join(filled.Wrong...))
	}
	a.Headers, a.secrets = filled.Headers, activities.Secrets(filled.Values)
	return opfile.Within("headers: ", errors.Join(filled.Wrong...))
}

// allows reports whether requests with the credentials of a may go to a URL: to the host
// and port of its card or another of its hosts, and not unencrypted if the card was
// encrypted.
func (a *Agent) allows(rawURL string) bool {
	card, err := url.Parse(a.card)
	if err != nil {
		return false
	}
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "https" && (u.Scheme != "http" || card.Scheme != "http") {
		return false
	}
	to := address(u.Host, u.Scheme)
	return to == address(card.Host, card.Scheme) || slices.ContainsFunc(a.Hosts, func(h string) bool { return address(h, u.Scheme) == to })
}

// address returns a host with its port, that of the scheme if it names none.
func address(host, scheme string) string {
	name, port, err := net.SplitHostPort(host)
	if err != nil { // it has no port
		name = strings.Trim(host, "[]")
	}
	return strings.ToLower(net.JoinHostPort(name, cmp.Or(port, map[string]string{"http": "80", "https": "443"}[scheme])))
}

const firstPoll = time.Second

// repeatWait returns how long to wait before the n-th repeat.
func (a *Agent) repeatWait(n int) time.Duration {
	return min(firstPoll<<min(max(n-1, 0), 20), a.Poll)
}
