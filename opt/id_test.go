package opt_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/internal/test"
	"longhaul/opt"
)

const u = "abcdefghijklmnopqrstuvwxyz" // in place of a unique text

var indexForm = regexp.MustCompile(`^task-\d+$`)

// A repeated send must find the objective of the first send, and no other.
func TestDerivedObjectiveID(t *testing.T) {
	const want = "obj-qbp47givzzm426rvvl3ljjbppm" // in stored histories; must not change
	test.Is(t, "DerivedObjectiveID(t, p, m)", want, opt.DerivedObjectiveID("t", "p", "m"))
	seen := map[string][]string{}
	texts := []string{"", "a", "b", "aa", "ab", "a:b", "1:a", "3:new", "new", "a\x00", "\x00a", "ä"}
	for _, tenant := range texts {
		for _, principal := range texts {
			for _, message := range texts {
				id := opt.DerivedObjectiveID(tenant, principal, message)
				if ref, ok := opt.ParseID(id); !ok || ref.ObjectiveID != id {
					t.Errorf("ParseID(%q) = %+v, %v", id, ref, ok)
				}
				if id != opt.DerivedObjectiveID(tenant, principal, message) {
					t.Errorf("%q, %q, %q have two ids", tenant, principal, message)
				}
				if other := seen[id]; other != nil {
					t.Errorf("%q and %q, %q, %q have the same id", other, tenant, principal, message)
				}
				seen[id] = []string{tenant, principal, message}
			}
		}
	}
}

func TestNewObjectiveID(t *testing.T) {
	a, b := opt.NewObjectiveID([16]byte{}), opt.NewObjectiveID([16]byte{15: 1})
	if a == b || len(a) != len("obj-")+26 || strings.ToLower(a) != a {
		t.Errorf("NewObjectiveID gave %q and %q", a, b)
	}
}

func TestParseID(t *testing.T) {
	tests := map[string]opt.Ref{
		"obj-" + u:                     {ObjectiveID: "obj-" + u, Attempt: 1},
		"obj-" + u + "~2":              {ObjectiveID: "obj-" + u, Attempt: 2},
		"obj-" + u + "~10":             {ObjectiveID: "obj-" + u, Attempt: 10},
		"plan-" + u + "-0":             {ObjectiveID: "obj-" + u, PlanID: "plan-" + u + "-0", Attempt: 1},
		"plan-" + u + "-123456":        {ObjectiveID: "obj-" + u, PlanID: "plan-" + u + "-123456", Attempt: 1},
		"task-" + u + "-1-0":           {ObjectiveID: "obj-" + u, PlanID: "plan-" + u + "-1", TaskID: "task-" + u + "-1-0", Attempt: 1},
		"task-" + u + "-10-49":         {ObjectiveID: "obj-" + u, PlanID: "plan-" + u + "-10", TaskID: "task-" + u + "-10-49", Attempt: 1},
		"task-" + u + "-1-0~3":         {ObjectiveID: "obj-" + u, PlanID: "plan-" + u + "-1", TaskID: "task-" + u + "-1-0", Attempt: 3},
		opt.RootID("obj-"+u, 0):        {ObjectiveID: "obj-" + u, Attempt: 1},
		opt.RootID("obj-"+u, 1):        {ObjectiveID: "obj-" + u, Attempt: 1},
		opt.RootID("obj-"+u, 2):        {ObjectiveID: "obj-" + u, Attempt: 2},
		opt.PlanID("obj-"+u, 7):        {ObjectiveID: "obj-" + u, PlanID: "plan-" + u + "-7", Attempt: 1},
		opt.TaskID("plan-"+u+"-7", 12): {ObjectiveID: "obj-" + u, PlanID: "plan-" + u + "-7", TaskID: "task-" + u + "-7-12", Attempt: 1},
	}
	for id, want := range tests {
		got, ok := opt.ParseID(id)
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("ParseID(%q) ok %v (-want +got):\n%s", id, ok, diff)
		}
		if indexForm.MatchString(id) {
			t.Errorf("%q looks like a reference by index", id)
		}
	}
}

func TestParseID_refuses(t *testing.T) {
	for _, id := range []string{
		"", "obj", "obj-", "task-0", "task-12", "plan-0", u, "obj-" + u[1:], "obj-" + u + "a", "obj-" + u[1:] + "A", "obj-" + u[1:] + "1", "obj-" + u[1:] + "é",
		"obj-" + u + "-1", "obj-" + u + "-1-1", "plan-" + u, "plan-" + u + "-1-1", "task-" + u, "task-" + u + "-1", "task-" + u + "-1-1-1",
		"plan-" + u + "-", "plan-" + u + "-x", "plan-" + u + "--1", "plan-" + u + "-1234567", "plan-" + u + "-01", "task-" + u + "-1-00",
		"obj-" + u + "~", "obj-" + u + "~0", "obj-" + u + "~1", "obj-" + u + "~02", "obj-" + u + "~x", "obj-" + u + "~2~3", "obj-" + u + "~1234567",
		" obj-" + u, "obj-" + u + " ", "obj-" + u + "\n", "OBJ-" + u, "run-" + u, "obj-" + u + ":1", "task-" + u + "-1-0:1",
		"123e4567-e89b-12d3-a456-426614174000",
	} {
		if ref, ok := opt.ParseID(id); ok || ref != (opt.Ref{}) {
			t.Errorf("ParseID(%q) = %+v, %v", id, ref, ok)
		}
	}
}

// FuzzParseID checks that an id that is taken apart can be put together again.
func FuzzParseID(f *testing.F) {
	for _, id := range []string{"obj-" + u, "obj-" + u + "~2", "plan-" + u + "-1", "task-" + u + "-1-2~3", "task-0"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		ref, ok := opt.ParseID(id)
		if !ok {
			return
		}
		whole := ref.ObjectiveID
		for _, part := range []string{ref.PlanID, ref.TaskID} {
			if part != "" {
				whole = part
			}
		}
		if got := opt.RootID(whole, ref.Attempt); got != id || indexForm.MatchString(id) {
			t.Errorf("%q was taken apart as %+v", id, ref)
		}
	})
}

func TestGateID(t *testing.T) {
	var seen []string
	for n := range 3 {
		id := opt.GateID("task-"+u+"-1-0", n+1)
		if slices.Contains(seen, id) || id != opt.GateID("task-"+u+"-1-0", n+1) {
			t.Errorf("gate id %q", id)
		}
		if _, ok := opt.ParseID(id); ok {
			t.Errorf("gate id %q is taken for another's", id)
		}
		seen = append(seen, id)
	}
}

// A root task shows artifacts of several tasks, whose ids must differ.
func TestArtifactID(t *testing.T) {
	seen := map[string]bool{}
	for _, task := range []string{"task-" + u + "-1-0", "task-" + u + "-1-1", "task-" + u + "-11-1", "task-" + u + "-1-11"} {
		for _, local := range []string{"a", "1-a", "0-a"} {
			id := opt.ArtifactID(task, local)
			if seen[id] {
				t.Errorf("%q twice", id)
			}
			seen[id] = true
		}
	}
}
