package activities_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"longhaul/activities"
	"longhaul/internal/test"
)

// Texts and artifacts in heartbeats are for clients, all other details for the worker.
func TestReadBeat(t *testing.T) {
	for details, want := range map[string]struct {
		text  string
		chunk bool
	}{
		``:                                      {},
		`7`:                                     {},
		`[1]`:                                   {},
		`{"row":7}`:                             {},
		`"Half of it."`:                         {"Half of it.", false},
		`{"text":"Half.","row":7}`:              {"Half.", false},
		`{"artifact":{"parts":[]}}`:             {},
		`"` + strings.Repeat("x", 16<<10) + `"`: {},
		`{"artifact":{"artifactId":"a","parts":[{"text":"x"}]}}`: {"", true},
		`{"text":3}`: {},
		`{"text":"x","artifact":{"artifactId":"a","parts":[{"ref":{"id":"0","member":"text"}}]}}`: {"x", false},
	} {
		got := activities.ReadBeat(json.RawMessage(details))
		if got.Text != want.text || (got.Chunk != nil) != want.chunk || (got.Digest != "") != (want.text != "" || want.chunk) {
			t.Errorf("%.40s: %+v", details, got)
		}
	}
}

// details are the details of heartbeats, one after another; the last one stays.
type details struct{ list []string }

func (d *details) Heartbeat(context.Context, string, string) (activities.Heartbeat, error) {
	out := d.list[0]
	if len(d.list) > 1 {
		d.list = d.list[1:]
	}
	return activities.Heartbeat{Details: json.RawMessage(out)}, nil
}

// A heartbeat that was seen is no news.
func TestActivities_WatchHeartbeats(t *testing.T) {
	a := activities.New(activities.Config{Heartbeats: &details{[]string{`"one"`, `7`, `"two"`}}})
	first := activities.ReadBeat(json.RawMessage(`"one"`))
	out := test.Value(a.WatchHeartbeats(t.Context(), activities.Watching{WorkflowID: "plan", ActivityID: "task", Seen: first.Digest}))(t)
	test.Is(t, "the result", "two", out.Text)
}

// Clients see once in each wait that no worker has taken an activity. One without
// heartbeats is watched until a worker has it.
func TestWatching_News(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	fresh, long := activities.Heartbeat{WaitsSince: now.Add(-time.Second)}, activities.Heartbeat{WaitsSince: now.Add(-time.Minute)}
	told, _ := activities.News(activities.Watching{}, long, now)
	for name, tt := range map[string]struct {
		w             activities.Watching
		latest        activities.Heartbeat
		untaken, news bool
	}{
		"just begun":          {activities.Watching{}, fresh, false, false},
		"for a minute":        {activities.Watching{}, long, true, true},
		"told already":        {activities.Watching{Seen: told.Digest}, long, true, false},
		"once, for a minute":  {activities.Watching{Once: true}, long, true, true},
		"once, just begun":    {activities.Watching{Once: true}, fresh, false, false},
		"once, taken":         {activities.Watching{Once: true}, activities.Heartbeat{}, false, true},
		"taken, no heartbeat": {activities.Watching{}, activities.Heartbeat{}, false, false},
	} {
		if out, news := activities.News(tt.w, tt.latest, now); out.Untaken != tt.untaken || news != tt.news {
			t.Errorf("%s: %+v, %v", name, out, news)
		}
	}
}
