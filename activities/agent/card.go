package agent

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Versions of A2A that are spoken here.
const (
	v10 = "1.0"
	v03 = "0.3"
)

// Bindings that are spoken here: JSON-RPC in both versions, plain HTTP in 1.0.
const (
	jsonRPC  = "JSONRPC"
	httpJSON = "HTTP+JSON"
)

// An endpoint is an interface of an agent, as the memo of a task keeps it: a task stays
// with the interface and the version with which it began.
type endpoint struct {
	URL     string `json:"url"`
	Binding string `json:"binding"`
	Version string `json:"version"`
	Tenant  string `json:"tenant,omitempty"`
	Stream  bool   `json:"stream,omitempty"` // the agent offers streams
	Push    bool   `json:"push,omitempty"`   // the agent offers push notifications
}

// card has the members of agent cards of both versions that are used here.
type card struct {
	Supported []struct {
		URL     string `json:"url"`
		Binding string `json:"protocolBinding"`
		Version string `json:"protocolVersion"`
		Tenant  string `json:"tenant"`
	} `json:"supportedInterfaces"`

	URL        string `json:"url"`
	Version    string `json:"protocolVersion"`
	Transport  string `json:"preferredTransport"`
	Additional []struct {
		URL       string `json:"url"`
		Transport string `json:"transport"`
	} `json:"additionalInterfaces"`

	Capabilities struct {
		Streaming bool `json:"streaming"`
		Push      bool `json:"pushNotifications"`
	} `json:"capabilities"`
}

// endpoints lists the interfaces of c that are spoken here, those of 1.0 first, and
// within a version in the order of the card.
func (c card) endpoints() []endpoint {
	var found [2][]endpoint
	add := func(url, binding, version, tenant string) {
		e := endpoint{URL: strings.TrimRight(url, "/"), Binding: binding, Version: majorMinor(version), Tenant: tenant, Stream: c.Capabilities.Streaming, Push: c.Capabilities.Push}
		switch {
		case e.Version == v10 && (binding == jsonRPC || binding == httpJSON):
			found[0] = append(found[0], e)
		case e.Version == v03 && binding == jsonRPC:
			found[1] = append(found[1], e)
		}
	}
	for _, i := range c.Supported {
		add(i.URL, i.Binding, i.Version, i.Tenant)
	}
	if len(found[1]) == 0 && c.URL != "" {
		transport := c.Transport
		if transport == "" {
			transport = jsonRPC
		}
		add(c.URL, transport, c.Version, "")
		for _, i := range c.Additional {
			add(i.URL, i.Transport, c.Version, "")
		}
	}
	return append(found[0], found[1]...)
}

var versionForm = regexp.MustCompile(`^(\d+\.\d+)(\.\d+)?$`)

func majorMinor(version string) string {
	m := versionForm.FindStringSubmatch(version)
	if m == nil {
		return ""
	}
	return m[1]
}

// chooseEndpoint returns the best interface of a card that the operator allows. problem
// says, for clients, why there is none.
func (a *Agent) chooseEndpoint(c card) (e endpoint, problem string) {
	problem = "The card of agent " + a.name + " offers no interface of A2A 1.0 or 0.3 over HTTP that is spoken here."
	for _, e := range c.endpoints() {
		switch {
		case a.Version != "" && a.Version != e.Version:
			problem = "The card of agent " + a.name + " offers no interface of A2A " + a.Version + ", which its version in the file of --agents demands."
		case !a.allows(e.URL):
			problem = "The interface of agent " + a.name + " is at another host or port than its card, or not encrypted: if that is right, list the host, with the port if it is an unusual one, in its hosts in the file of --agents."
		default:
			return e, ""
		}
	}
	return endpoint{}, problem
}

// How long a card is used again.
const (
	cardFor    = 5 * time.Minute // without a word of the agent
	longestFor = time.Hour
	cardSize   = 1 << 20
)

// cardCache keeps the cards of agents for a while.
type cardCache struct {
	now func() time.Time

	mu    sync.Mutex
	known map[string]knownCard // by URL
}

type knownCard struct {
	card  card
	until time.Time
}

// get returns the card of an agent.
func (c *cardCache) get(ctx context.Context, r remote) (card, error) {
	at := r.agent.card
	c.mu.Lock()
	k, ok := c.known[at]
	c.mu.Unlock()
	if ok && c.now().Before(k.until) {
		return k.card, nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return card{}, &callError{kind: refused, text: "The URL of the card cannot be read."}
	}
	req.Header.Set("Accept", "application/json")
	res, body, err := r.do(ctx, req)
	fresh := knownCard{until: c.now()}
	switch {
	case err != nil:
		return card{}, err
	case len(body) > cardSize || json.Unmarshal(body, &fresh.card) != nil:
		return card{}, &callError{kind: unreachable, text: "The card is not a JSON object of up to 1 MiB."}
	}
	fresh.until = fresh.until.Add(freshFor(res.Header))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]knownCard{}
	}
	c.known[at] = fresh
	return fresh.card, nil
}

var maxAge = regexp.MustCompile(`(?i)\bmax-age="?(\d+)`)

// freshFor returns how long a card may be used again.
func freshFor(h http.Header) time.Duration {
	control := strings.ToLower(h.Get("Cache-Control"))
	if strings.Contains(control, "no-store") || strings.Contains(control, "no-cache") {
		return 0
	}
	m := maxAge.FindStringSubmatch(control)
	if m == nil {
		return cardFor
	}
	seconds, err := strconv.Atoi(m[1])
	if err != nil {
		return longestFor
	}
	return min(time.Duration(seconds)*time.Second, longestFor)
}
