package agent

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/internal/signing"
	"longhaul/opt"
)

// Bindings that are spoken here: JSON-RPC in both versions, plain HTTP in 1.0.
const (
	jsonRPC  = codec.BindingRPC
	httpJSON = "HTTP+JSON"
)

// An endpoint is an interface of an agent, as the memo of a task keeps it: a task stays
// with the interface and the version with which it began.
type endpoint struct {
	URL     string        `json:"url"`
	Binding string        `json:"binding"`
	Version codec.Version `json:"version"`
	Tenant  string        `json:"tenant,omitempty"`
	Stream  bool          `json:"stream,omitempty"` // the agent offers streams
	Push    bool          `json:"push,omitempty"`   // the agent offers push notifications
	Budget  bool          `json:"budget,omitempty"` // the agent keeps budgets, and says what it has spent
	Counts  bool          `json:"counts,omitempty"` // budgets of the agent limit more than tokens and cost
	Reason  bool          `json:"reason,omitempty"` // the agent takes reasons of cancellations
}

// extensions lists those of this server that the agent has, too.
func (e endpoint) extensions() (uris []string) {
	if e.Budget {
		uris = append(uris, a2a.ExtensionBudget)
	}
	if e.Reason {
		uris = append(uris, a2a.ExtensionCancel)
	}
	return uris
}

// limits returns those of l that the agent keeps.
func (e endpoint) limits(l opt.SpendLimit) opt.SpendLimit {
	if !e.Counts {
		return opt.SpendLimit{Tokens: l.Tokens, Cost: l.Cost}
	}
	return l
}

// endpoints lists the interfaces of a card that are spoken here, those of 1.0 first, and
// within a version in the order of the card.
func endpoints(c codec.Card) []endpoint {
	var found [2][]endpoint
	declares := func(uri string) bool {
		return slices.ContainsFunc(c.Capabilities.Extensions, func(x codec.Extension) bool { return x.URI == uri })
	}
	for _, i := range c.Interfaces {
		version, _ := codec.ParseVersion(i.Version)
		e := endpoint{URL: strings.TrimRight(i.URL, "/"), Binding: i.Binding, Version: version, Tenant: i.Tenant, Stream: c.Capabilities.Streaming, Push: c.Capabilities.Push}
		e.Budget, e.Reason = declares(a2a.ExtensionBudget), declares(a2a.ExtensionCancel)
		e.Counts = slices.ContainsFunc(c.Capabilities.Extensions, func(x codec.Extension) bool {
			units, _ := x.Params["units"].([]any)
			return x.URI == a2a.ExtensionBudget && slices.Contains(units, any("calls"))
		})
		switch {
		case version == codec.V10 && (e.Binding == jsonRPC || e.Binding == httpJSON):
			found[0] = append(found[0], e)
		case version == codec.V03 && e.Binding == jsonRPC:
			found[1] = append(found[1], e)
		}
	}
	return append(found[0], found[1]...)
}

// chooseEndpoint returns the best interface of a card that the operator allows. problem
// says, for clients, why there is none.
func (a *Agent) chooseEndpoint(c codec.Card) (e endpoint, problem string) {
	problem = "The card of agent " + a.name + " offers no interface of A2A 1.0 or 0.3 over HTTP that is spoken here."
	for _, e := range endpoints(c) {
		switch {
		case a.Version != "" && a.Version != e.Version:
			problem = "The card of agent " + a.name + " offers no interface of A2A " + string(a.Version) + ", which its version in the file of --agents demands."
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
	card  codec.Card
	until time.Time
}

// Card returns the card of one of the agents, which may have been read a while ago.
func (e *Executor) Card(ctx context.Context, name string) (codec.Card, error) {
	return e.cardCache.get(ctx, remote{http: e.cfg.HTTP, agent: e.cfg.Agents.List[name], log: e.cfg.Log})
}

// get returns the card of an agent.
func (c *cardCache) get(ctx context.Context, r remote) (codec.Card, error) {
	at := r.agent.card
	c.mu.Lock()
	k, ok := c.known[at]
	c.mu.Unlock()
	if ok && c.now().Before(k.until) {
		return k.card, nil
	}
	read, header, err := r.card(ctx, at)
	if err != nil || len(endpoints(read)) == 0 {
		return read, err // without an endpoint, the agent may be mended at once
	}
	fresh := knownCard{read, c.now().Add(freshFor(header))}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]knownCard{}
	}
	c.known[at] = fresh
	return fresh.card, nil
}

// card reads the card at a URL.
func (r remote) card(ctx context.Context, at string) (codec.Card, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return codec.Card{}, nil, &callError{kind: refused, text: "The URL of the card cannot be read."}
	}
	req.Header.Set("Accept", "application/json")
	res, body, err := r.do(ctx, req)
	if failed, ok := errors.AsType[*callError](err); ok && failed.kind == refused { // it may have a card later
		return codec.Card{}, nil, &callError{kind: unreachable, text: "Its agent card cannot be read. " + failed.text}
	}
	if err != nil {
		return codec.Card{}, nil, err
	}
	if len(body) > cardSize {
		return codec.Card{}, nil, errCard
	}
	if body, err = r.proven(ctx, body); err != nil {
		return codec.Card{}, nil, err
	}
	read, err := codec.ReadCard(body)
	switch {
	case err != nil:
		return codec.Card{}, nil, errCard
	case read.Name == "" && len(read.Interfaces) == 0: // such as an error of JSON-RPC
		return codec.Card{}, nil, &callError{kind: unreachable, text: "The answer at the URL of its agent card is no card: it has no name and no interface."}
	}
	return read, res.Header, nil
}

var errCard = &callError{kind: unreachable, text: "The card is not a JSON object of up to 1 MiB."}

// proven returns the part of a card that is signed with a key that the operator trusts, or
// the whole card if the operator demands no signature.
func (r remote) proven(ctx context.Context, card []byte) ([]byte, error) {
	keys := r.agent.keys
	switch {
	case r.agent.CardKeys == "":
		return card, nil
	case keys == nil:
		var err error
		if keys, err = r.fetchKeys(ctx); err != nil {
			return nil, err
		}
	}
	signed, err := signing.VerifyCard(keys, card)
	if err != nil {
		return nil, &callError{kind: unproven, text: "card-keys in the file of --agents demands a card that is signed with a known key, and " + err.Error() + "."}
	}
	return signed, nil
}

// fetchKeys reads the keys at a URL, without the credentials of the agent. A repeat may succeed after
// any failure.
func (r remote) fetchKeys(ctx context.Context) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.agent.CardKeys, nil)
	if err != nil {
		return nil, err
	}
	_, keys, err := remote{http: r.http, agent: &Agent{name: r.agent.name}, log: r.log}.do(ctx, req)
	if failed, ok := errors.AsType[*callError](err); ok {
		return nil, &callError{kind: unreachable, text: "The keys of its card cannot be read. " + failed.text}
	}
	return keys, err
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
