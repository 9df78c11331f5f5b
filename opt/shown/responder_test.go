package shown_test

import (
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

func TestWho(t *testing.T) {
	for want, r := range map[string]*opt.Responders{
		"":                       nil,
		"ann":                    {Principals: []string{"ann"}},
		"ann or the group legal": {Principals: []string{"ann"}, Groups: []string{"legal"}, Accepts: 1},
		"ann, bob or the group legal, but not who asked for the work": {Principals: []string{"ann", "bob"}, Groups: []string{"legal"}, NotRequester: true},
		"ann, bob, the group legal; 2 have to accept":                 {Principals: []string{"ann", "bob"}, Groups: []string{"legal"}, Accepts: 2},
		"everyone; 2 have to accept":                                  {Accepts: 2},
	} {
		test.Is(t, "who may answer", want, shown.Who(r))
	}
}
