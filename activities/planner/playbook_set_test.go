package planner_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"longhaul/activities"
	"longhaul/activities/planner"
	"longhaul/internal/test"
)

// Playbooks with mistakes are refused, and the current ones stay.
func TestPlaybookSet(t *testing.T) {
	file, unreadable := "", errors.New("no")
	set, err := planner.NewPlaybookSet(func() (*planner.Playbooks, error) {
		if file == "" {
			return nil, unreadable
		}
		return load(t, file), nil
	})
	test.Error(t, "a set without playbooks", unreadable, err)
	named := func(name, executor string) string {
		return fmt.Sprintf("name: a\ndefault: true\nplans: [{name: %s, tasks: [{name: T, executor: %s}]}]", name, executor)
	}
	check := func(when, want string) {
		t.Helper()
		test.Is(t, when, want, test.Value(set.Plan(t.Context(), activities.Request{Name: "x"}))(t).Plans[0].Name)
	}
	file = named("first", "echo")
	test.OK(t, set.Reload())
	check("at first", "first")
	if err := set.Require(func(b *planner.Playbooks) error { return b.CheckExecutors("", "htpp") }); err == nil {
		t.Error("Require accepted a check that fails")
	}
	test.Error(t, "the call", nil, set.Require(func(b *planner.Playbooks) error { return b.CheckExecutors("", "echo") }))
	file = named("second", "htpp")
	test.Is(t, "with another executor", `0.yaml:3: there is no executor "htpp"; known are echo`, fmt.Sprint(set.Reload()))
	check("with another executor", "first")
	file = ""
	test.Error(t, "without a file", unreadable, set.Reload())
	check("without a file", "first")
	file = named("third", "echo")
	test.OK(t, set.Reload())
	check("mended", "third")
}

// Playbooks are used while they are replaced.
func TestPlaybookSet_isUsedByMany(t *testing.T) {
	books := load(t, "name: a\ndefault: true\nplans: [{name: P, tasks: [{name: T}]}]")
	set := test.Value(planner.NewPlaybookSet(func() (*planner.Playbooks, error) { return books, nil }))(t)
	var ended sync.WaitGroup
	for range 4 {
		ended.Go(func() {
			for range 100 {
				test.Error(t, "the call", nil, set.Reload())
				if got, err := set.Plan(context.WithoutCancel(t.Context()), activities.Request{Name: "x"}); err != nil || len(got.Plans) != 1 {
					t.Errorf("plans %+v, error %v", got, err)
				}
			}
		})
	}
	ended.Wait()
}
