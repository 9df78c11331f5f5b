package api

import (
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api/wire"
)

const callKey = "call" // in echo's context

// A call is one request on its way: who sends it, what was agreed on with it and
// what it turned out to be about.
type call struct {
	Caller
	rules  wire.Rules
	key    string   // the Idempotency-Key header
	after  string   // the Last-Event-ID header
	noID   bool     // nobody waits for an answer, so nothing is done
	named  []string // extensions that its headers name
	active []string // extensions that are on
	began  time.Time

	// for the log
	requestID           string
	method              string
	code                int // of the error, 0 for none
	objectiveID, taskID string
}

// agree settles what the call goes by: the version, the method and what its headers
// say.
func (c *call) agree(v wire.Version, method string, h http.Header) {
	c.rules, c.method = v.Rules(), method
	c.key, c.after = h.Get("Idempotency-Key"), h.Get("Last-Event-ID")
	c.named = wire.ParseExtensions(slices.Concat(h.Values(headerExtensions), h.Values(headerExtensions3)))
}

// opt reports whether the client understands the extension.
func (c *call) opt() bool { return slices.Contains(c.active, a2a.ExtensionOPT) }

// optByHeader reports whether the client said so for the whole request.
func (c *call) optByHeader() bool { return slices.Contains(c.named, a2a.ExtensionOPT) }

// saw notes what the call is about. Only ids that the caller may see go in.
func (c *call) saw(objectiveID, taskID string) { c.objectiveID, c.taskID = objectiveID, taskID }

func (c *call) fields() []zap.Field {
	fields := []zap.Field{zap.String("requestId", c.requestID)}
	for _, f := range []struct{ name, value string }{
		{"method", c.method}, {"tenant", c.Tenant}, {"principal", c.Principal}, {"objectiveId", c.objectiveID}, {"taskId", c.taskID},
	} {
		if f.value != "" {
			fields = append(fields, zap.String(f.name, f.value))
		}
	}
	if c.code != 0 {
		fields = append(fields, zap.Int("code", c.code))
	}
	return fields
}
