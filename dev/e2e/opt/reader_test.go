package opt_test

import (
	"encoding/json"
	"maps"
	"strings"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// read checks that all readers of a root task have seen the same, and what clients
// are shown if it is the last.
func (s *schedule) read(root string, last bool) {
	whole, err := s.c.All(s.ctx, root, 0)
	if err != nil || len(whole) == 0 {
		s.Fatalf("%s: %d events, %v", root, len(whole), err)
	}
	for _, f := range s.readers[root] {
		events, err := f.Wait(s.ctx)
		if f.fresh && len(events) == 0 && harness.Code(err) == -32004 {
			continue // it began to follow too late
		}
		if err != nil {
			s.Errorf("%s: %v", root, err)
		}
		if diff := harness.Differ(whole, events); diff != "" {
			s.Errorf("%s: another sequence (-whole +followed):\n%s", root, diff)
		}
	}
	after := whole[s.r.IntN(max(1, len(whole)-1))].ID
	rest, err := s.c.All(s.ctx, root, after)
	if want := harness.After(whole, after); err != nil || harness.Differ(want, rest) != "" {
		s.Errorf("%s, resumed after %d: %v, %d events of %d", root, after, err, len(rest), len(want))
	}
	is := s.statuses(whole)
	if !last {
		return
	}
	o := s.get(s.id)
	for id, got := range is {
		if want := statusIn(o, id); got != want {
			s.Errorf("the stream of %s leaves %s %s, which is %s", root, id, got, want)
		}
	}
}

// A streamed is the change in an event of a stream.
type streamed struct {
	Result struct {
		StatusUpdate struct {
			Metadata struct {
				Event struct {
					Kind, ID, From, To string
					Revision           int64
				} `json:"opt/v1/event"`
			}
		}
	}
}

// statuses checks that the changes in the events of a stream are consistent, and returns
// the resulting statuses.
func (s *schedule) statuses(whole []harness.Event) map[string]string {
	is := map[string]string{}
	revision := int64(0)
	for _, e := range whole {
		var t streamed
		test.OK(s, json.Unmarshal([]byte(e.Data), &t))
		event := t.Result.StatusUpdate.Metadata.Event
		if event.ID == "" {
			continue
		}
		if was, ok := is[event.ID]; ok && event.From != was {
			s.Errorf("event %d of %s says that %s was %s, which was %s", e.ID, s.id, event.ID, event.From, was)
		}
		if event.Revision < revision {
			s.Errorf("event %d of %s has revision %d after %d", e.ID, s.id, event.Revision, revision)
		}
		is[event.ID], revision = event.To, event.Revision
		if event.Kind == "plan" && event.From == "failed" && event.To == "pending" { // its tasks go with it
			maps.DeleteFunc(is, func(id, _ string) bool {
				return strings.HasPrefix(id, strings.Replace(event.ID, "plan-", "task-", 1)+"-")
			})
		}
	}
	return is
}
