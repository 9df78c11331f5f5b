package console_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

func TestOverview(t *testing.T) {
	s := beginWork(t, planning{})
	b := s.signedIn(t, "acme/ann")
	empty := b.get("/console/")
	if empty.status != http.StatusOK || !strings.Contains(empty.text, "Nothing has been asked for yet") || strings.Contains(empty.text, "longest") {
		t.Fatalf("the empty overview: %d %s", empty.status, empty.text)
	}
	s.send(t, "acme/ann", "Approve it")
	s.send(t, "acme/ann", "Plan it")
	s.end(t, "acme", opt.TaskCompleted, time.Hour)
	s.end(t, "acme", opt.TaskCompleted, time.Hour)
	s.end(t, "acme", opt.TaskFailed, 2*time.Hour)
	s.end(t, "acme", opt.TaskCanceled, 2*time.Hour)
	s.end(t, "acme", opt.TaskFailed, 30*time.Hour)
	for range 3 {
		s.send(t, "umbrella/eve", "Approve a secret")
		s.end(t, "umbrella", opt.TaskFailed, time.Hour)
	}
	s.later()
	p := b.get("/console/")
	for _, part := range []string{"1 waits for an answer", "Really? for anyone who may answer", "under an hour 2", "2 completed in the last 24 hours", "1 failed in", "1 canceled in", "planning 1", "waiting or paused 1", "working 0", "main 4,800 136 0.20"} {
		if !strings.Contains(p.text, part) {
			t.Errorf("the overview does not show %q: %s", part, p.text)
		}
	}
	if !strings.Contains(p.html, "A bar for each hour, at most 2.") {
		t.Errorf("the picture has no description: %s", p.html)
	}
	bars := regexp.MustCompile(`<rect class="(completed|failed|canceled)"(?: fill="url\(#hatch-hour\)")? x="\d+" y="(\d+)" width="10" height="(\d+)"/>`).FindAllStringSubmatch(p.html, -1)
	if len(bars) != 3 {
		t.Fatalf("the picture has the bars %v", bars)
	}
	if one := b.get("/console/objectives/" + opt.NewObjectiveID([16]byte{2, 1})); !strings.Contains(one.text, "1,234 tokens, cost 0.05") {
		t.Errorf("the objective does not show what it has used: %s", one.text)
	}
	if again := b.get("/console/"); again.html != p.html {
		t.Error("the page differs though nothing has happened")
	}
}

func TestOverview_isOfOneTenant(t *testing.T) {
	s := beginWork(t, planning{})
	s.send(t, "umbrella/eve", "Approve it")
	s.end(t, "umbrella", opt.TaskCompleted, time.Hour)
	s.signedIn(t, "umbrella/eve").get("/console/")
	if p := s.signedIn(t, "acme/ann").get("/console/"); !strings.Contains(p.text, "Nothing has been asked for yet") || strings.Contains(p.text, "main 1,200") {
		t.Errorf("the overview counts the work of others: %s", p.text)
	}
}

// end records an objective that ended a time ago.
func (s *workplace) end(t *testing.T, tenant string, as opt.TaskState, ago time.Duration) {
	t.Helper()
	s.ended++
	id := opt.NewObjectiveID([16]byte{2, byte(s.ended)})
	at := a2a.At(s.world.Now().Add(-ago))
	o := opt.Objective{
		ID: id, ContextID: id, Tenant: tenant, Principal: "ann", Name: "Ended", Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted,
		CreatedAt: at, UpdatedAt: at, Attempt: 1, Revision: 1,
	}
	opened := opt.Opening{Objective: o, Idle: true}.Event()
	head := *o.Head()
	head.Status = opt.ObjectiveStatus(as)
	moved := opt.Event{N: 2, Kind: opt.ObjectiveMoved, At: at, To: string(as), Head: &head}
	root := opt.Event{N: 3, Kind: opt.TaskMoved, At: at, TaskID: id, From: string(opt.TaskSubmitted), To: string(as)}
	used := opt.Event{N: 4, Kind: opt.UsageAdded, At: at, Usage: &opt.Usage{Input: 1200, Output: 34, Cost: 50_000, Model: "main"}}
	if err := s.world.Journal().Record(t.Context(), opt.Batch{ObjectiveID: id, Source: id, Events: []opt.Event{opened, moved, root, used}}); err != nil {
		t.Fatal(err)
	}
}
