package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"longhaul/internal/witness"
)

const (
	firstPushWait = 15 * time.Second // for which the calm experiment waits
	maxPages      = 500
	listSlack     = 100 * time.Millisecond // by which entries of a list may be out of order
)

// check compares the present answers of the server with all that it has acknowledged.
func (r *run) check(ctx context.Context, c *column) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.Timeout+callTimeout) // the experiment may have used up its time
	defer cancel()
	kept := r.all[:0:0]
	for _, s := range r.all {
		if r.checkTask(ctx, c, s) {
			kept = append(kept, s)
		}
	}
	r.checkList(ctx, c, kept)
	for _, s := range kept {
		r.checkOnce(ctx, c, s)
	}
	r.judge(c)
	r.checkPushes(ctx, c, kept)
	r.all = kept
}

// checkTask checks one task by itself. It reports whether the task is to be checked
// again after the next experiment.
func (r *run) checkTask(ctx context.Context, c *column, s *sentTask) bool {
	id, l := s.taskID(), s.snapshot()
	if id == "" {
		return false // never acknowledged, and refused when it was repeated
	}
	c.checked("accepted")
	t, err := s.look(ctx, r.client)
	if hasCode(err, codeNotFound) {
		return false // which is judged
	}
	if err != nil {
		c.find(Lost, "accepted", s, "the task cannot be read: %v", err)
		return true
	}
	if l.final == "" {
		c.checked("finished")
		c.find(Lost, "finished", s, "still %s after %v", t.state(), r.Timeout)
		return false
	}
	c.checked("kept")
	if now := t.final(); now != l.final { // which is judged
		s.update(func(s *sentTask) { s.final = now })
		return true // its end was another one
	}
	if !l.repeated {
		r.checkEnd(c, s, t)
	}
	return true
}

// checkEnd checks a task that has ended since the last experiment.
func (r *run) checkEnd(c *column, s *sentTask, t *task) {
	l := s.snapshot()
	row := map[taskKind]string{asking: "questions", canceled: "cancels"}[s.kind]
	if row == "" || row == "cancels" && !l.cancelAcknowledged {
		row = "finished"
	}
	c.checked(row)
	if want := s.wantedState(r.usualEnds); t.state() != want {
		c.find(Lost, row, s, "it is %s, and such a task is to be %s", t.state(), want)
	}
	if s.follower != nil {
		c.checked("streams")
		for _, p := range s.follower.compare(t) {
			c.find(p.kind, "streams", s, "%s", p.seen)
		}
	}
}

// difference names the first lines that differ.
func difference(before, now string) string {
	a, b := strings.Split(before, "\n"), strings.Split(now, "\n")
	for i := range max(len(a), len(b)) {
		x, y := "nothing", "nothing"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("it had %q, and now %q", shortText(x), shortText(y))
		}
	}
	return "it has changed"
}

func shortText(s string) string {
	if len(s) > 120 {
		return s[:120] + "…"
	}
	return s
}

// checkList checks the whole list of tasks of this run: its order, that it has each known
// task once, and that no message has become several tasks.
func (r *run) checkList(ctx context.Context, c *column, known []*sentTask) {
	if r.lists != "" {
		c.skip("lists", r.lists)
		return
	}
	began := time.Now()
	tasks, err := r.listAll(ctx)
	ids := map[string]witness.Found{} // of tasks, by their messages
	last := time.Time{}
	for _, t := range tasks {
		for _, s := range known {
			if t.ID == s.taskID() || slices.ContainsFunc(t.History, func(m historyMessage) bool { return m.ID == s.message.id }) {
				ids[s.message.id] = append(ids[s.message.id], t.ID)
			}
		}
		if !last.IsZero() && t.Status.At.Sub(last) > listSlack {
			c.find(OutOfOrder, "lists", nil, "task %s of %s is behind one of %s, and the newest is to be first", t.ID, clockText(t.Status.At.Time), clockText(last))
		}
		last = t.Status.At.Time
	}
	if err != nil {
		c.find(Lost, "lists", nil, "the list cannot be read: %v", err)
		return
	}
	for _, s := range known {
		c.checked("lists")
		r.saw.Note("list", witness.Find{Key: s.message.id}, began, time.Now(), ids[s.message.id])
	}
}

// listAll returns the tasks on all pages of the list of tasks of this run. With an error
// these are the tasks on the pages before it.
func (r *run) listAll(ctx context.Context) (tasks []task, err error) {
	token := ""
	for range maxPages {
		p, err := r.client.list(ctx, r.began.Add(-time.Minute), token)
		if err != nil {
			return tasks, err
		}
		tasks = append(tasks, p.Tasks...)
		if token = p.Next; token == "" {
			break
		}
	}
	return tasks, nil
}

// checkOnce checks that a message is one task, also when it is sent again after its end.
func (r *run) checkOnce(ctx context.Context, c *column, s *sentTask) {
	if s.snapshot().repeated {
		return
	}
	defer s.update(func(s *sentTask) { s.repeated = true })
	c.checked("once")
	if s.kind == plain { // the repeat of another may ask and stream again
		_, _ = s.send(ctx, "again", r.client) // which is judged
	}
}

// judge has the calls of all tasks judged, and finds the anomalies that are new.
func (r *run) judge(c *column) {
	by := map[string]*sentTask{}
	for _, s := range r.all {
		by[s.message.id] = s
	}
	for _, a := range r.saw.Judge().Anomalies {
		s := by[a.Subject.Name]
		if s == nil || s.broken {
			continue
		}
		s.broken = true
		kind, check, seen := findingOf(a.Calls)
		c.find(kind, check, s, "%s", seen)
		if r.card.first == nil {
			r.card.first, r.card.Anomaly = &a, a.Text()
		}
	}
}

// findingOf says what the calls mean for a client that no order explains.
func findingOf(calls []witness.Call) (kind Kind, check, seen string) {
	before, last := calls[0], slices.MaxFunc(calls, func(a, b witness.Call) int { return int(a.End - b.End) })
	switch now := last.Result.(type) {
	case witness.Made:
		return Repeated, "once", fmt.Sprintf("the message became another task, %s, by the call %q", now.ID, last.Client)
	case witness.Found:
		switch unique := slices.Compact(slices.Sorted(slices.Values(now))); {
		case len(unique) == 0:
			return Lost, "lists", "get returns the task, and the list does not have it"
		case len(unique) < len(now):
			return Repeated, "lists", fmt.Sprintf("the list has the task %d times", len(now))
		default:
			return Repeated, "once", fmt.Sprintf("the message became %d tasks: %s", len(unique), strings.Join(unique, ", "))
		}
	case witness.Seen:
		if now.ID == "" {
			return Lost, "accepted", "the server had the task before, and now it says that there is no such task"
		}
		was, _ := before.Result.(witness.Seen)
		return Lost, "kept", difference(was.End, now.End)
	}
	return Lost, "kept", last.String()
}

// checkPushes waits for the ends of tasks to arrive at the webhook.
func (r *run) checkPushes(ctx context.Context, c *column, known []*sentTask) {
	if r.pushes != "" {
		c.skip("pushes", r.pushes)
		return
	}
	open := slices.DeleteFunc(slices.Clone(known), func(s *sentTask) bool { return s.message.push == "" || s.snapshot().final == "" })
	missing := func() int { return len(slices.DeleteFunc(slices.Clone(open), r.webhook.received)) }
	within := r.Timeout
	if c.Name == calmName {
		within = min(within, firstPushWait)
	}
	r.pollUntil(ctx, within, func() bool { return missing() == 0 })
	if c.Name == calmName && missing() == len(open) {
		r.pushes = "none arrived while nothing was broken: the server may refuse to call this machine"
		c.skip("pushes", r.pushes)
		return
	}
	for _, s := range open {
		c.checked("pushes")
		if !r.webhook.received(s) {
			c.find(Lost, "pushes", s, "its end, %s, has not arrived within %v", s.snapshot().last, within)
		}
		if seen := r.webhook.firstOutOfOrder(s); seen != "" {
			c.find(OutOfOrder, "pushes", s, "%s", seen)
		}
		s.update(func(s *sentTask) { s.message.push = "" }) // checked
	}
}
