package operation_test

import (
	"slices"
	"strings"
	"testing"

	"longhaul/api/operation"
)

// Each line has what its family needs, and no id, method or route twice.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	once := func(what string) {
		if seen[what] {
			t.Errorf("%s is there twice", what)
		}
		seen[what] = true
	}
	for _, o := range operation.All() {
		once(o.ID)
		if o.V03 != "" && o.V03 != o.ID {
			once(o.V03)
		}
		for _, r := range o.Routes {
			once(r)
		}
		described := o.When != operation.Codec && o.When != operation.Seams
		switch {
		case len(o.Scopes) == 0:
			t.Errorf("%s needs no scope", o.ID)
		case o.Family == operation.Page && described && (o.Text == "" || o.Gives == ""):
			t.Errorf("%s is not described", o.ID)
		case o.Family != operation.OPT && o.Family != operation.Inner && len(o.Routes) == 0:
			t.Errorf("%s has no route", o.ID)
		}
		if o.Takes != "" && !slices.ContainsFunc(o.Routes, func(r string) bool { return strings.HasPrefix(r, "P") }) {
			t.Errorf("%s takes a body, and has no route with one", o.ID)
		}
	}
}

// An operation that is not in the table is refused to every caller.
func TestRight_unknown(t *testing.T) {
	if r := operation.Right("GetEverything"); len(r.Scopes) > 0 {
		t.Errorf("it needs one of %v", r.Scopes)
	}
}
