package opt_test

import (
	"fmt"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
)

// Those who shaped the work may not decide where the rule says so, unless callers are not known
// and the rule leaves that case out.
func TestResponders_Allow_requesters(t *testing.T) {
	strict, unlessUnknown := &opt.Responders{NotRequester: true}, &opt.Responders{NotRequester: true, AnonymousMay: true, Groups: []string{"ops"}}
	for _, tt := range []struct {
		r          *opt.Responders
		who        string
		requesters []string
		want       bool
	}{
		{strict, "ann", []string{"bob"}, true},
		{strict, "ann", []string{"bob", "ann"}, false},
		{strict, "ann", []string{""}, false},
		{strict, opt.Anonymous, []string{opt.Anonymous}, false},
		{unlessUnknown, "ann", []string{"bob"}, true},
		{unlessUnknown, "ann", []string{"bob", "ann"}, false},
		{unlessUnknown, opt.Anonymous, []string{opt.Anonymous}, true},
	} {
		test.Is(t, fmt.Sprintf("%+v: %s for %q", *tt.r, tt.who, tt.requesters), tt.want, tt.r.Allow(tt.who, []string{"ops"}, tt.requesters...))
	}
	if unlessUnknown.Allow("ann", nil, "bob") {
		t.Error("one who is in no group may decide")
	}
}
