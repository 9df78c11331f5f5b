package journal_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// waitAt begins an objective whose only task waits at a gate since a time. change completes
// the gate.
func waitAt(t *testing.T, j *journal.Journal, since int64, name string, change func(*opt.Gate)) string {
	t.Helper()
	o := newObjective()
	o.Name = name
	s := begin(t, j, o)
	s.record(planAdded(s.objective, 0, 1))
	g := gate(s.task(0, 0), opt.Approval, 1)
	change(g)
	batch := s.batch(s.waits(0, 0, g))
	batch.Events[0].At = at(since)
	test.OK(t, j.Record(t.Context(), batch))
	return g.ID
}

// A filter that looks into gates selects and sorts like one that does not.
func TestInterrupts_picked(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		never := waitAt(t, j, 10, "Ship the anchor", func(*opt.Gate) {})
		late := waitAt(t, j, 11, "Paint it", func(g *opt.Gate) { g.ExpiresAt, g.Title = at(900), "Blue %_ or RED?" })
		bobs := waitAt(t, j, 12, "Sell it", func(g *opt.Gate) {
			g.Questions = []opt.Question{{ID: "which", Question: "Which lighthouse?"}}
			g.Responders = &opt.Responders{Principals: []string{"bob"}}
		})
		soon := waitAt(t, j, 13, "Burn it", func(g *opt.Gate) {
			g.ExpiresAt, g.Responders = at(500), &opt.Responders{Groups: []string{"firemen"}}
		})
		voted := waitAt(t, j, 14, "Vote", func(g *opt.Gate) {
			g.Responders = &opt.Responders{Accepts: 2}
			g.Votes = []opt.Vote{{Action: opt.Accept, DecidedBy: "ann"}}
		})
		ann := &shown.Responder{Principal: "ann", Groups: []string{"firemen"}}
		for name, tt := range map[string]struct {
			filter shown.InterruptFilter
			want   []string
			total  int
		}{
			"urgent":         {shown.InterruptFilter{Urgent: true}, []string{soon, late, never, bobs, voted}, 5},
			"of ann":         {shown.InterruptFilter{For: ann}, []string{never, late, soon}, 3},
			"of bob":         {shown.InterruptFilter{For: &shown.Responder{Principal: "bob"}, Urgent: true}, []string{late, never, bobs, voted}, 4},
			"by title":       {shown.InterruptFilter{Text: "red BLUE"}, []string{late}, 1},
			"no wildcards":   {shown.InterruptFilter{Text: "%_"}, []string{late}, 1},
			"by objective":   {shown.InterruptFilter{Text: "anchor ship"}, []string{never}, 1},
			"by question":    {shown.InterruptFilter{Text: "lighthouse"}, []string{bobs}, 1},
			"by id":          {shown.InterruptFilter{Text: soon}, []string{soon}, 1},
			"not both words": {shown.InterruptFilter{Text: "anchor paint"}, nil, 0},
			"limited":        {shown.InterruptFilter{Urgent: true, Limit: 2}, []string{soon, late}, 5},
		} {
			list, total, err := j.Interrupts(t.Context(), tenant, tt.filter)
			test.OK(t, err)
			if diff := cmp.Diff(tt.want, gatesOf(list)); diff != "" || total != tt.total {
				t.Errorf("%s: %d of %d (-want +got):\n%s", name, len(list), total, diff)
			}
		}
		var paged []string
		for f := (shown.InterruptFilter{Urgent: true, Limit: 1}); ; {
			list, _, err := j.Interrupts(t.Context(), tenant, f)
			if err != nil || len(list) == 0 {
				test.OK(t, err)
				break
			}
			last := list[0]
			paged = append(paged, last.Gate.ID)
			f.After = shown.Cursor{At: last.Since, ID: last.TaskID, Due: last.Gate.ExpiresAt}
		}
		test.Equal(t, "by page", []string{soon, late, never, bobs, voted}, paged)
		if list, total, err := j.Interrupts(t.Context(), "globex", shown.InterruptFilter{Urgent: true}); len(list) != 0 || total != 0 || err != nil {
			t.Errorf("another tenant sees %v, %d, %v", list, total, err)
		}
	})
}

func gatesOf(list []shown.Interrupt) (ids []string) {
	for _, i := range list {
		ids = append(ids, i.Gate.ID)
	}
	return ids
}

// A gate is read as it was shown last, also when it is closed, with its replies.
func TestGate(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s, want, _ := ledger(t, open())
		id := opt.GateID(s.task(0, 0), 1)
		read := func(tenant, id string) (shown.GateRecord, error) {
			r, err := s.j.Gate(t.Context(), tenant, id)
			if err != nil && !errors.Is(err, opt.ErrUnknown) {
				t.Fatal(err)
			}
			return r, err
		}
		r, _ := read(tenant, id)
		var decisions []opt.Decision
		for _, x := range r.Replies {
			if x.Reply == nil || x.Reply.DecidedBy != x.Decision.DecidedBy {
				t.Errorf("the reply of %s is %+v", x.Decision.DecidedBy, x.Reply)
			}
			decisions = append(decisions, x.Decision)
		}
		test.Equal(t, "decisions", []opt.Decision{want[0], want[2], want[3], want[4]}, decisions)
		if !r.Open || r.Gate.Title != "Sure?" || r.ObjectiveID != s.objective.ID || r.Principal != s.objective.Principal || r.Closed().Decision.DecidedBy != "ann" {
			t.Errorf("the open gate is %+v", r)
		}
		second := gate(s.task(0, 0), opt.Approval, 2)
		second.Object = []a2a.Part{a2a.TextPart("new")}
		s.record(s.waits(0, 0, second))
		if r, _ := read(tenant, id); r.Open || r.Later != second.ID || r.Gate.Title != "Sure?" || len(r.Replies) != 4 || len(r.Gate.Object) != 0 {
			t.Errorf("the closed gate is %+v", r)
		}
		if r, _ := read(tenant, second.ID); !r.Open || len(r.Replies) != 0 {
			t.Errorf("the second gate is %+v", r)
		}
		s.record(s.moved(0, 0, opt.TaskCompleted))
		if r, _ := read(tenant, second.ID); r.Open || r.Later != "" || r.TaskState != opt.TaskCompleted || cmp.Diff(second.Object, r.Gate.Object) != "" {
			t.Errorf("the second gate, closed, is %+v", r)
		}
		for _, unknown := range [][2]string{{"globex", id}, {tenant, opt.GateID(s.task(0, 0), 3)}, {tenant, opt.GateID(s.task(1, 0), 1)}, {tenant, "nothing"}, {tenant, opt.GateID(s.objective.ID, 1)}} {
			if r, err := read(unknown[0], unknown[1]); err == nil {
				t.Errorf("%v is %+v", unknown, r)
			}
		}
	})
}

// The gate at which an object was sent back last is known, also if its plan was set back in
// Temporal, after which ids of gates begin at a higher number.
func TestGate_sentBack(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		first, again := gate(s.task(0, 0), opt.Approval, 1), gate(s.task(0, 0), opt.Approval, 1002)
		refined := s.decided(&opt.Chain{}, 0, 0, "ann", opt.Accepted)
		refined.Decision.Action = opt.Refine
		s.record(planAdded(s.objective, 0, 1), s.waits(0, 0, first))
		s.record(refined)
		s.record(s.waits(0, 0, again))
		s.record(s.waits(0, 0, gate(s.task(0, 0), opt.Approval, 1003)))
		for id, want := range map[string]string{first.ID: "", again.ID: first.ID} {
			test.Is(t, fmt.Sprintf("before %s it was sent back at", id), want, test.Value(s.j.Gate(t.Context(), tenant, id))(t).SentBack)
		}
	})
}

// Who has shaped the work of another is kept with it, and a gate that requesters may not answer
// does not wait for them.
func TestInterrupts_shapers(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		s := begin(t, j, newObjective()) // by ann
		note, head := said(s.objective.ID, "", "m-1", opt.Noted), *s.objective.Head()
		head.Shapers = []string{"bob", "carol"}
		note.Head = &head
		g := gate(s.task(0, 0), opt.Approval, 1)
		g.Responders = &opt.Responders{NotRequester: true}
		s.record(planAdded(s.objective, 0, 1), note)
		s.record(s.waits(0, 0, g))
		test.Equal(t, "kept shapers", head.Shapers, test.Value(j.Kept(t.Context(), tenant, s.objective.ID))(t).Objective.Shapers)
		record := test.Value(j.Gate(t.Context(), tenant, g.ID))(t)
		for who, waits := range map[string]bool{"ann": false, "bob": false, "carol": false, "dave": true} {
			r := shown.Responder{Principal: who}
			list, _, err := j.Interrupts(t.Context(), tenant, shown.InterruptFilter{For: &r})
			if err != nil || (len(list) == 1) != waits || record.WaitsFor(r) != waits {
				t.Errorf("%s has %d gates in a list, and alone %v, error %v", who, len(list), record.WaitsFor(r), err)
			}
		}
	})
}
