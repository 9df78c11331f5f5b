package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"longhaul/api/call"
	"longhaul/opt"
)

// While no credential can be checked, a client of 1.0 gets the details by which it knows that
// it may repeat the call. Core methods of 0.3 have none.
func TestUncheckedCredential(t *testing.T) {
	s := newService(t, func(c *config) {
		c.Authenticate = func(*http.Request) (call.Caller, error) {
			return call.Caller{}, fmt.Errorf("journal: %w", opt.ErrUnavailable)
		}
	})
	for version, method := range map[string]string{"1.0": "SendMessage", "0.3": "message/send"} {
		answer := s.callIn(t, version, method, `{}`)
		wantCode(t, answer, "-32603")
		if text := answer.String(); strings.Contains(text, `"UNAVAILABLE"`) != (version == "1.0") || strings.Contains(text, `"retryDelay"`) != (version == "1.0") {
			t.Errorf("%s answers %s", version, text)
		}
	}
}
