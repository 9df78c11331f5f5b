package client

import (
	"cmp"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A Config says which agent a Client talks to and how. A field is required
// unless its comment says what the zero value means.
type Config struct {
	URL   string       // of the agent, such as http://127.0.0.1:7420: of its JSON-RPC interface, or of one below which its card names that at the same host
	Token string       // sent as a bearer token, without spaces and new lines around it; "" for none
	HTTP  *http.Client // nil: a new client. A Timeout in it would cut streams.

	Patience time.Duration // for which a call is repeated while the agent cannot be reached; zero: 1 min, negative: not at all
	Timeout  time.Duration // of one attempt at a call that is no stream; zero: 1 min
	Silence  time.Duration // after which a stream without data counts as broken; zero: 1 min

	Backoff  func(attempt int) time.Duration     // before repeat 1, 2, 3 …; nil: 0.25 s, doubling to 5 s
	Retrying func(err error, wait time.Duration) // called before the wait of each repeat; may be nil
}

// A Client talks to one agent. Its methods may be called concurrently.
type Client struct {
	caller  *caller
	pending sync.Map // ids of messages with answers that the agent has stored and not judged, by gate
}

// New returns a client. It connects when it is used.
func New(cfg Config) *Client {
	cfg.URL, cfg.Token = strings.TrimRight(cfg.URL, "/"), strings.TrimSpace(cfg.Token)
	cfg.HTTP = cmp.Or(cfg.HTTP, &http.Client{})
	cfg.Patience, cfg.Timeout, cfg.Silence = cmp.Or(cfg.Patience, time.Minute), cmp.Or(cfg.Timeout, time.Minute), cmp.Or(cfg.Silence, time.Minute)
	if cfg.Backoff == nil {
		cfg.Backoff = backoff
	}
	if cfg.Retrying == nil {
		cfg.Retrying = func(error, time.Duration) {}
	}
	return &Client{caller: &caller{cfg: cfg}}
}
