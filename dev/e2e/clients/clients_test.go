// Package clients tests the service, as a process, with official clients: the
// unmodified Go and JavaScript SDKs of both versions. It checks only the results
// that these clients return, since that is what their users get.
package clients_test

import (
	"context"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
)

// within bounds a stop of the tour, on a busy machine.
const within = 90 * time.Second

// patience are long waits of the service, so that a slow machine does not change
// what a client sees.
var patience = []string{"--call-timeout=60s", "--blocking-wait=60s", "--reply-wait=60s", "--cancel-wait=60s"}

// everyBinding makes the service serve all bindings. The card has the port.
const everyBinding = "--grpc-addr=127.0.0.1:0"

// Bindings, by their names on a card.
const (
	overJSONRPC = "JSONRPC"
	overREST    = "HTTP+JSON"
	overGRPC    = "GRPC"
)

// A row is a client for one binding and version. Each row takes the same tour.
type row struct {
	name    string
	version string // of A2A, that it speaks
	binding string // that it must choose from the card
	start   func(t *testing.T) dial

	// The client cannot report why a stream was refused. Over JSON-RPC, Go 2.4.0
	// does not read the body of an answer with a status other than 200, and takes
	// one with 200 that is no stream for a stream without events.
	silent bool
}

var rows = []row{
	{name: "Go 2.4.0", version: "1.0", binding: overJSONRPC, start: goSDK(jsonRPC), silent: true},
	{name: "Go 2.4.0 over REST", version: "1.0", binding: overREST, start: goSDK(plainHTTP)},
	{name: "Go 2.4.0 over gRPC", version: "1.0", binding: overGRPC, start: goSDK(gRPC)},
	{name: "Go 2.4.0 in 0.3", version: "0.3", binding: overJSONRPC, start: goSDK(jsonRPC03)},
	{name: "Go 0.3.15", version: "0.3", binding: overJSONRPC, start: goSDK03},
	{name: "JS 1.3.0", version: "1.0", binding: overJSONRPC, start: jsSDK("v10", overJSONRPC)},
	{name: "JS 1.3.0 over REST", version: "1.0", binding: overREST, start: jsSDK("v10", overREST)},
	{name: "JS 0.3.14", version: "0.3", binding: overJSONRPC, start: jsSDK("v03", overJSONRPC)},
}

// tour is done with each client.
var tour = []stop{
	{name: "card", run: (*visit).card},
	{name: "send", run: (*visit).send},
	{name: "send and leave", run: (*visit).leave},
	{name: "history", run: (*visit).history},
	{name: "context", run: (*visit).context},
	{name: "stream", run: (*visit).stream},
	{name: "stream of a failure", run: (*visit).streamFailure},
	{name: "accept", run: (*visit).accept},
	{name: "accept in streams", run: (*visit).acceptInStreams},
	{name: "reject", run: (*visit).reject},
	{name: "clarify", run: (*visit).clarify},
	{name: "cancel while it works", run: (*visit).cancelWorking},
	{name: "cancel while it waits", run: (*visit).cancelWaiting},
	{name: "subscribe while it works", run: (*visit).subscribeWorking},
	{name: "subscribe while it waits", run: (*visit).subscribeWaiting},
	{name: "subscribe when it is over", run: (*visit).subscribeOver},
	{name: "list", run: (*visit).list, not03: true},
	{name: "push configs", run: (*visit).pushConfigs},
	{name: "unknown task", run: (*visit).unknown},
	{name: "task that is over", run: (*visit).over},
	{name: "bad params", run: (*visit).badParams},
	{name: "extension", run: (*visit).extension},
	{name: "many at once", run: (*visit).crowd},
}

// A stop is one use of a client.
type stop struct {
	name  string
	run   func(v *visit)
	not03 bool // 0.3 does not have it
}

// A visit is one row at one stop of the tour.
type visit struct {
	*testing.T
	row
	ctx  context.Context
	peer peer
	url  string
	at   dial
}

func TestClients(t *testing.T) {
	site := harness.NewSite(t, harness.Dev, append(patience, everyBinding)...)
	service := site.Launch(harness.AllInOne)
	starts := make([]dial, len(rows))
	for i, r := range rows {
		starts[i] = r.start(t) // also while the service starts
	}
	service.WaitReady()
	for i, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			for _, s := range tour {
				if s.not03 && r.version == "0.3" {
					continue
				}
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					ctx, cancel := context.WithTimeout(t.Context(), within)
					defer cancel()
					v := &visit{T: t, row: r, ctx: ctx, url: site.URL(), at: starts[i]}
					v.peer = v.dial()
					s.run(v)
				})
			}
		})
	}
}

// dial makes another client.
func (v *visit) dial(extensions ...string) peer {
	v.Helper()
	return v.at(v.ctx, v.T, v.url, extensions...)
}
