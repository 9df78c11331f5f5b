package clients_test

import (
	"slices"

	"github.com/google/go-cmp/cmp"

	"longhaul/internal/test"
)

// Every call about an unknown task fails with that error.
func (v *visit) unknown() {
	const id = "obj-aaaaaaaaaaaaaaaaaaaaaaaaaa"
	_, err := v.peer.get(v.ctx, id, nil)
	v.refused(err, errNotFound)
	_, err = v.peer.get(v.ctx, "no such thing / at all", nil)
	v.refused(err, errNotFound)
	_, err = v.peer.cancel(v.ctx, id)
	v.refused(err, errNotFound)
	_, err = v.peer.send(v.ctx, message{TaskID: id, Text: "hello"})
	v.refused(err, errNotFound)
	v.streamRefused(v.peer.subscribe(v.ctx, id), errNotFound)
	v.streamRefused(v.peer.stream(v.ctx, message{TaskID: id, Text: "hello"}), errNotFound)
}

// A call that needs an open task fails with that error after its end.
func (v *visit) over() {
	t := v.sent(message{Text: "say over"})
	_, err := v.peer.send(v.ctx, message{TaskID: t.ID, Text: "more"})
	v.refused(err, errUnsupported)
	_, err = v.peer.cancel(v.ctx, t.ID)
	v.refused(err, errNotCancelable)
	v.streamRefused(v.peer.stream(v.ctx, message{TaskID: t.ID, Text: "more"}), errUnsupported)
	test.Equal(v, "the task changed", t, v.got(t.ID))
}

// Invalid params are refused, and the task does not change.
func (v *visit) badParams() {
	_, err := v.peer.send(v.ctx, message{})
	v.refused(err, errInvalid)
	v.streamRefused(v.peer.stream(v.ctx, message{}), errInvalid)
	t := v.sent(message{Text: "approve Ship it?; say shipped"})
	gate := v.gate(t.Status, "approval")
	negative := -1
	_, err = v.peer.get(v.ctx, t.ID, &negative)
	v.refused(err, errInvalid)
	for _, m := range []message{
		{TaskID: t.ID, ContextID: "another", Text: "accept"},
		decision(t.ID, gate, "launch"),
		decision(t.ID, gate, "refine"),
	} {
		_, err := v.peer.send(v.ctx, m)
		v.refused(err, errInvalid)
	}
	_, err = v.peer.send(v.ctx, decision(t.ID, gate+"0", "accept"))
	v.refused(err, errUnsupported)
	test.Equal(v, "the task changed", t, v.got(t.ID))
	v.made(v.sent(decision(t.ID, gate, "accept")), "shipped")
}

// A client can list tasks page by page, latest change first, with the tasks of
// plans.
func (v *visit) list() {
	p, ok := v.peer.(lister)
	if !ok {
		v.Fatalf("a %T cannot list", v.peer)
	}
	t := v.sent(message{Text: "say one"})
	want := []string{t.ID}
	for _, text := range []string{"say two", "say three"} {
		t = v.sent(message{Text: text, ContextID: t.ContextID})
		want = append([]string{t.ID}, want...)
	}
	got, tasks := v.pages(p, query{ContextID: t.ContextID, PageSize: 4, State: "completed"})
	roots := slices.DeleteFunc(slices.Clone(got), func(id string) bool { return !slices.Contains(want, id) })
	if diff := cmp.Diff(want, roots); diff != "" || len(got) != 6 || len(tasks[0].Artifacts) > 0 {
		v.Errorf("listed %v with artifacts %v (-want +got):\n%s", got, tasks[0].Artifacts, diff)
	}
	_, tasks = v.pages(p, query{ContextID: t.ContextID, Artifacts: true})
	v.made(tasks[0], "three")
	if got, _ := v.pages(p, query{ContextID: t.ContextID, State: "failed"}); len(got) > 0 {
		v.Errorf("these have not failed: %v", got)
	}
	for _, q := range []query{{PageToken: "nonsense"}, {PageSize: 101}} {
		_, err := p.list(v.ctx, q)
		v.refused(err, errInvalid)
	}
}

// pages reads a list to its end.
func (v *visit) pages(p lister, q query) (ids []string, tasks []task) {
	v.Helper()
	for range 10 {
		l, err := p.list(v.ctx, q)
		if err != nil {
			v.Fatalf("list %+v: %v", q, err)
		}
		for _, t := range l.Tasks {
			ids, tasks = append(ids, t.ID), append(tasks, t)
		}
		if q.PageToken = l.Next; q.PageToken == "" {
			if l.Total != len(tasks) {
				v.Errorf("the total is %d, and %d were listed", l.Total, len(tasks))
			}
			return ids, tasks
		}
	}
	v.Fatalf("the list does not end: %v", ids)
	return nil, nil
}
