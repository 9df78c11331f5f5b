package serve

import (
	"sync/atomic"

	"longhaul/activities"
	"longhaul/api"
	"longhaul/internal/signing"
	"longhaul/opt"
)

// callbacks makes callback URLs.
type callbacks struct {
	tokens signing.Callbacks
	base   string                 // of the URLs, from --public-url; "" if it is not set
	ownURL atomic.Pointer[string] // base of the API in this process, used if base is ""; nil for none
}

// setOwnURL sets the URL of the API in this process.
func (c *callbacks) setOwnURL(url string) { c.ownURL.Store(&url) }

// URLs implements [activities.Callbacks]. A worker that does not know the URL of the
// API has none.
func (c *callbacks) URLs(w activities.Work) (callback, wake string) {
	base := c.base
	if own := c.ownURL.Load(); base == "" && own != nil {
		base = *own
	}
	if base == "" {
		return "", ""
	}
	ref := opt.CallbackRef{Tenant: w.Tenant, TaskID: w.TaskID, Round: w.Round}
	callback = base + api.CallbackPath + c.tokens.Token(ref)
	ref.Wake = true
	return callback, base + api.CallbackPath + c.tokens.Token(ref)
}
