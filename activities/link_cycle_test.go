package activities_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"longhaul/activities"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A web is objectives with one task each, by their letters, and the letters of
// those that they follow. It is its own TaskReader, LinkReader and Watch.
type web struct {
	links map[string]string
	ended string // letters of objectives whose task has ended
	away  bool   // links cannot be read
	reads int    // of links
}

func webTask(letter string) string      { return "task-" + spread(letter) + "-1-0" }
func webObjective(letter string) string { return "obj-" + spread(letter) }

// spread makes the random part of an id from a number or a letter.
func spread(name string) string {
	out := []byte("aaaaaaaaaaaaaaaaaaaaaaaaaa")
	for i := range name {
		c := name[i]
		if c < 'a' {
			c += 'b' - '0'
		}
		out[i] = c
	}
	return string(out)
}

func (w *web) Links(_ context.Context, tenant, objectiveID string) ([]string, error) {
	w.reads++
	if w.away {
		return nil, errAway
	}
	for from, to := range w.links {
		if tenant == "t" && webObjective(from) == objectiveID {
			var out []string
			for _, letter := range to {
				out = append(out, webTask(string(letter)))
			}
			return out, nil
		}
	}
	return nil, fmt.Errorf("objective %s: %w", objectiveID, opt.ErrUnknown)
}

func (w *web) Peek(_ context.Context, _, id string) (opt.TaskState, int64, error) {
	for _, letter := range w.ended {
		if webTask(string(letter)) == id {
			return opt.TaskCompleted, 0, nil
		}
	}
	return opt.TaskWorking, 0, nil
}

func (w *web) Task(_ context.Context, _, _ string, _ shown.TaskWant) (shown.TaskView, error) {
	return shown.TaskView{State: opt.TaskCompleted}, nil
}

func (w *web) C() <-chan struct{} { return nil }
func (w *web) Close()             {}

// follow follows the task of one objective for a task of another.
func (w *web) follow(t *testing.T, from, to string) (out activities.Followed, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		acts := activities.New(activities.Config{Tasks: w, Links: w, Watch: func(string) activities.Watch { return w }})
		out, err = acts.Follow(t.Context(), activities.Link{Tenant: "t", TaskID: webTask(to), For: webTask(from)})
	})
	return out, err
}

// One link of each cycle ends, whichever task searches first. The others stay.
func TestFollow_cycle(t *testing.T) {
	for name, tt := range map[string]struct {
		links map[string]string
		ended string
		want  []string // links that end, as "from to"
	}{
		"none":              {map[string]string{"a": "b", "b": "c"}, "", nil},
		"two":               {map[string]string{"b": "c", "c": "b"}, "", []string{"c b"}},
		"three":             {map[string]string{"b": "d", "d": "c", "c": "b"}, "", []string{"c b"}},
		"beside others":     {map[string]string{"b": "xcy", "c": "zb"}, "", []string{"c b"}},
		"two that share":    {map[string]string{"b": "cd", "c": "b", "d": "b"}, "", []string{"c b", "d b"}},
		"into a cycle":      {map[string]string{"a": "b", "b": "c", "c": "b"}, "", []string{"c b"}},
		"one within a long": {map[string]string{"b": "c", "c": "bd", "d": "e", "e": "b"}, "", []string{"c b", "e b"}},
		"cut by an end":     {map[string]string{"b": "c", "c": "d", "d": "b"}, "c", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for from, to := range tt.links {
				for _, letter := range to {
					out, err := (&web{links: tt.links, ended: tt.ended}).follow(t, from, string(letter))
					if err != nil {
						t.Errorf("%s follows %c: %v", from, letter, err)
					}
					if out.Code != "" {
						got = append(got, from+" "+string(letter))
					}
				}
			}
			slices.Sort(got)
			test.Equal(t, "links that end", tt.want, got)
		})
	}
}

func TestFollow_cycleSaysWhichTasks(t *testing.T) {
	got, err := (&web{links: map[string]string{"b": "c", "c": "b"}}).follow(t, "c", "b")
	want := activities.Followed{
		State: opt.TaskFailed, Code: activities.ReasonLinkCycle,
		Message: "Links between tasks form a cycle, so none of these tasks can end: " + webTask("b") + ", " + webTask("c") + ".",
	}
	test.OK(t, err)
	test.Equal(t, "followed", want, got)
}

// A search ends, however many objectives are linked.
func TestFollow_cycleSearchIsBounded(t *testing.T) {
	w := &web{links: map[string]string{}}
	chain := endless{w}
	synctest.Test(t, func(t *testing.T) {
		acts := activities.New(activities.Config{Tasks: w, Links: chain, Watch: func(string) activities.Watch { return w }})
		out, err := acts.Follow(t.Context(), activities.Link{Tenant: "t", TaskID: webTask("1"), For: webTask("z")})
		if err != nil || out.State != "" || w.reads != 1000 {
			t.Errorf("%+v after %d objectives, error %v", out, w.reads, err)
		}
	})
}

// endless has each objective follow another one.
type endless struct{ *web }

func (e endless) Links(context.Context, string, string) ([]string, error) {
	e.reads++
	return []string{webTask(fmt.Sprint(e.reads + 1))}, nil
}

func TestFollow_cycleUnknown(t *testing.T) {
	w := &web{links: map[string]string{"b": "c", "c": "b"}, away: true}
	test.Error(t, "without a journal", errAway, test.Err(w.follow(t, "c", "b")))
}
