// Package schedule_test runs schedules of seconds against the embedded Temporal, and
// checks which objectives they start.
package schedule_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/timetable"
)

const within = 60 * time.Second

// An installation is a site with a client for its schedules.
type installation struct {
	*testing.T
	*client.Client
	site *harness.Site
}

func newInstallation(t *testing.T, program string, args ...string) installation {
	t.Helper()
	site := harness.NewSite(t, program, args...)
	return installation{t, client.New(client.Config{URL: site.URL()}), site}
}

// create makes a schedule.
func (in installation) create(id string, s client.ScheduleChange) *client.Schedule {
	in.Helper()
	x := test.Value(in.CreateSchedule(in.Context(), id, s))(in)
	return x
}

// show returns a schedule.
func (in installation) show(id string) *client.Schedule {
	in.Helper()
	x := test.Value(in.Schedule(in.Context(), id))(in)
	return x
}

// pause pauses a schedule.
func (in installation) pause(id string) {
	in.Helper()
	paused := true
	if _, err := in.UpdateSchedule(in.Context(), id, client.ScheduleChange{Paused: &paused}); err != nil {
		in.Fatal(err)
	}
}

// started returns the objectives that a schedule has started, by their times. It fails
// the test if two have the same time.
func (in installation) started(id string) map[string]client.Objective {
	in.Helper()
	out := map[string]client.Objective{}
	for list := (client.ObjectiveOptions{PageSize: 100}); ; {
		page := test.Value(in.ListObjectives(in.Context(), list))(in)
		for _, o := range page.Items {
			if of, _ := o.Metadata.String(opt.KeySchedule); of != id {
				continue
			}
			at, _ := o.Metadata.String(opt.KeyScheduledFor)
			if before, twice := out[at]; twice {
				in.Errorf("the time %s of %s has two objectives: %s and %s", at, id, before.ID, o.ID)
			}
			out[at] = o
		}
		if list.PageToken = page.NextPageToken; list.PageToken == "" {
			return out
		}
	}
}

// completes waits until a schedule has started at least n objectives and all of them
// have completed, and returns them.
func (in installation) completes(id string, n int) (all map[string]client.Objective) {
	in.Helper()
	harness.Eventually(in, within, fmt.Sprintf("%s has started %d objectives", id, n), func() error {
		all = in.started(id)
		for at, o := range all {
			if o.Status != opt.ObjectiveCompleted {
				return fmt.Errorf("that for %s is %s", at, o.Status)
			}
		}
		if len(all) < n {
			return fmt.Errorf("there are %d", len(all))
		}
		return nil
	})
	return all
}

func times(all map[string]client.Objective) []string { return slices.Sorted(maps.Keys(all)) }

// A schedule starts objectives at its times, none while it is paused, one when it is
// triggered, and again when it is resumed.
func TestSchedule(t *testing.T) {
	in := newInstallation(t, harness.Dev)
	p := in.site.Start(harness.AllInOne)
	in.create("tick", client.ScheduleChange{Text: "say tick", Every: "1s"})
	in.create("clock", client.ScheduleChange{Text: "say tock", Cron: []string{"* * * * * * *"}, TimeZone: new(string)})
	in.completes("tick", 3)
	in.pause("tick")
	paused := time.Now()                              // a run whose time is before may begin a moment later
	in.completes("clock", len(in.started("clock"))+3) // three seconds pass
	before := in.completes("tick", 3)
	if at := slices.Max(times(before)); at > paused.UTC().Format(time.RFC3339) {
		t.Errorf("it was paused at %s, and started objectives for %v", paused.UTC(), times(before))
	}
	x := in.show("tick")
	if !x.Paused || len(x.Next) > 0 || len(x.Runs) < 3 || x.Runs[0].Status != opt.ObjectiveCompleted {
		t.Errorf("paused, it is %+v", x)
	}

	triggered, err := in.TriggerSchedule(t.Context(), "tick", "")
	if err != nil || triggered.Run == nil {
		t.Fatalf("the trigger: %+v, %v", triggered, err)
	}
	after := in.completes("tick", len(before)+1)
	if got := after[triggered.Run.At.Time().Format(time.RFC3339)].ID; got != triggered.Run.ObjectiveID || len(after) != len(before)+1 {
		t.Errorf("the trigger started %+v, and there are %v", triggered.Run, times(after))
	}

	test.OK(t, test.Err(in.UpdateSchedule(t.Context(), "tick", client.ScheduleChange{Paused: new(bool)})))
	in.completes("tick", len(after)+2)
	if list, err := in.Schedules(t.Context()); err != nil || len(list.Items) != 2 || list.Items[0].ID != "clock" || list.Items[1].ID != "tick" || len(list.Items[1].Next) == 0 {
		t.Errorf("the list: %+v, %v", list, err)
	}
	test.Error(t, "the call", nil, test.Err(in.DeleteSchedule(t.Context(), "tick")))
	var gone *client.Error
	if _, err := in.Schedule(t.Context(), "tick"); !errors.As(err, &gone) || gone.Status != 404 {
		t.Errorf("after it was deleted: %v", err)
	}
	_, err = in.CreateSchedule(t.Context(), "odd", client.ScheduleChange{Text: "say x", Cron: []string{"0 25 * * *"}})
	if err == nil || !strings.Contains(err.Error(), "Hour is not in range") {
		t.Errorf("a cron expression that only Temporal refuses: %v", err)
	}
	p.Stop()
}

// A backfill starts exactly the objectives for its times, both ends included, and none
// for a time that had one before.
func TestSchedule_backfill(t *testing.T) {
	in := newInstallation(t, harness.Dev)
	in.site.Start(harness.AllInOne)
	paused := true
	in.create("hourly", client.ScheduleChange{Text: "say done", Cron: []string{"30 * * * *"}, Paused: &paused})
	last := time.Now().UTC().Truncate(time.Hour).Add(-30 * time.Minute)
	hours := func(from, until int) (out []string) {
		for n := from; n <= until; n++ {
			out = append(out, last.Add(time.Duration(n)*time.Hour).Format(time.RFC3339))
		}
		return out
	}
	backfill := func(from, until int) (known int) {
		t.Helper()
		at := func(n int) a2a.Time { return a2a.At(last.Add(time.Duration(n) * time.Hour)) }
		runs, err := in.BackfillSchedule(t.Context(), "hourly", at(from), at(until), "")
		if err != nil || len(runs) != until-from+1 {
			t.Fatalf("backfill: %+v, %v", runs, err)
		}
		for _, run := range runs {
			if run.Status != "" {
				known++
			}
		}
		return known
	}
	if known := backfill(-3, -1); known != 0 {
		t.Errorf("%d are known", known)
	}
	if got := times(in.completes("hourly", 3)); !slices.Equal(got, hours(-3, -1)) {
		t.Errorf("started for %v, want %v", got, hours(-3, -1))
	}
	if known := backfill(-5, 0); known != 3 {
		t.Errorf("%d are known, want 3", known)
	}
	if got := times(in.completes("hourly", 6)); !slices.Equal(got, hours(-5, 0)) {
		t.Errorf("started for %v, want %v", got, hours(-5, 0))
	}
}

// While an objective waits for a person, a schedule that skips starts no other, and
// says so. A policy that cancels cancels the objective first.
func TestSchedule_overlap(t *testing.T) {
	in := newInstallation(t, harness.Dev)
	in.site.Start(harness.AllInOne)
	in.create("gate", client.ScheduleChange{Text: "approve Go on?; say done", Every: "1s"})
	harness.Eventually(t, within, "times are left out", func() error {
		if x := in.show("gate"); x.Skipped < 3 || len(x.Runs) != 1 {
			return fmt.Errorf("%d were left out, and there are %d runs", x.Skipped, len(x.Runs))
		}
		return nil
	})
	in.pause("gate")
	if triggered, err := in.TriggerSchedule(t.Context(), "gate", ""); err != nil || !triggered.Skipped {
		t.Errorf("a trigger: %+v, %v", triggered, err)
	}
	all := in.started("gate")
	if len(all) != 1 || all[times(all)[0]].Status != opt.ObjectiveBlocked {
		t.Fatalf("started: %+v", all)
	}
	first := all[times(all)[0]]

	canceling, err := in.TriggerSchedule(t.Context(), "gate", timetable.OverlapCancel)
	test.OK(t, err)
	harness.Eventually(t, within, "the other is canceled, and the next one waits", func() error {
		all := in.started("gate")
		states := map[opt.ObjectiveStatus]int{}
		for _, o := range all {
			states[o.Status]++
			if o.Status == opt.ObjectiveCanceled && o.ID != first.ID {
				return fmt.Errorf("%s is canceled", o.ID)
			}
		}
		if len(all) != 2 || states[opt.ObjectiveCanceled] != 1 || states[opt.ObjectiveBlocked] != 1 {
			return fmt.Errorf("%v after %+v", states, canceling)
		}
		return nil
	})

	harness.Eventually(t, within, "one starts beside the other", func() error {
		beside, err := in.TriggerSchedule(t.Context(), "gate", timetable.OverlapAllow)
		if err == nil && beside.Run == nil {
			err = fmt.Errorf("%+v", beside) // in the same second as the trigger before
		}
		return err
	})
	if all := in.started("gate"); len(all) != 3 {
		t.Errorf("there are %v", times(all))
	}
}

// A backfill of a schedule that allows overlaps starts one objective after another, and a trigger
// may leave out its own while one of them is open.
func TestSchedule_backfillBesideOverlaps(t *testing.T) {
	in := newInstallation(t, harness.Dev)
	in.site.Start(harness.AllInOne)
	paused := true
	in.create("gate", client.ScheduleChange{Text: "approve Go on?; say done", Every: "1h", Paused: &paused, Overlap: timetable.OverlapAllow})
	now := time.Now()
	if runs, err := in.BackfillSchedule(t.Context(), "gate", a2a.At(now.Add(-3*time.Hour)), a2a.At(now), ""); err != nil || len(runs) < 3 {
		t.Fatalf("backfill: %+v, %v", runs, err)
	}
	harness.Eventually(t, within, "the first one waits for a person", func() error {
		all := in.started("gate")
		if len(all) == 0 || all[times(all)[0]].Status != opt.ObjectiveBlocked {
			return fmt.Errorf("started: %+v", all)
		}
		return nil
	})
	if triggered, err := in.TriggerSchedule(t.Context(), "gate", timetable.OverlapSkip); err != nil || !triggered.Skipped {
		t.Errorf("a trigger: %+v, %v", triggered, err)
	}
	if all := in.started("gate"); len(all) != 1 {
		t.Errorf("there are %v", times(all))
	}
}

// Processes are killed while they start objectives. Each time of a schedule has one
// objective nevertheless, and none is missing.
func TestSchedule_crash(t *testing.T) {
	in := newInstallation(t, harness.Crashable)
	api := in.site.Launch(harness.API) // it waits for Temporal
	in.site.Start(harness.Temporal)
	worker := in.site.Start(harness.Worker)
	api.WaitReady()
	in.create("tick", client.ScheduleChange{Text: "say tick", Every: "1s", Overlap: timetable.OverlapAllow})
	in.completes("tick", 2)
	api.Stop()
	for _, point := range []string{"engine-started:2", "accepted:3"} {
		killed := in.site.Launch(harness.API, "CRASHABLE_POINT="+point)
		if killed.AwaitEnd(within); !killed.Killed() {
			t.Fatalf("the point %s was not reached", point)
		}
	}
	worker.Kill()
	api = in.site.Start(harness.API)
	worker = in.site.Start(harness.Worker)
	in.completes("tick", len(in.started("tick"))+2)
	in.pause("tick")
	harness.Eventually(t, within, "each time has an objective", func() error {
		var before time.Time
		for _, text := range times(in.completes("tick", 6)) {
			at, err := time.Parse(time.RFC3339, text)
			if err != nil || !before.IsZero() && at.Sub(before) != time.Second {
				return fmt.Errorf("%s follows %v: %v", text, before, err)
			}
			before = at
		}
		return nil
	})
	worker.Stop()
	api.Stop()
}

const declaring = `
name: tea
plans: [{name: Brew, tasks: [{name: Boil, description: say boiled}]}]
schedules:
  - name: daily
    text: Brew some tea
    cron: 0 5 * * *
    time-zone: Asia/Tokyo
`

// A playbook declares schedules. A reload changes them, a pause survives it, and those
// that are not declared any more are removed.
func TestSchedule_playbook(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tea.yaml")
	write := func(text string) {
		t.Helper()
		test.OK(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write(declaring)
	in := newInstallation(t, harness.Dev, "--playbooks", file)
	p := in.site.Start(harness.AllInOne)
	in.create("mine", client.ScheduleChange{Text: "say mine", Every: "24h"})
	lists := func(what string, want ...string) {
		t.Helper()
		harness.Eventually(t, within, what, func() error {
			list, err := in.Schedules(t.Context())
			if err != nil {
				return err
			}
			var got []string
			for _, x := range list.Items {
				line := fmt.Sprint(x.ID, " ", x.Cron, x.Every, " ", x.TimeZone, " by ", x.Principal)
				if x.Paused {
					line += " paused"
				}
				got = append(got, line)
			}
			if !slices.Equal(got, want) {
				return fmt.Errorf("there are %q, want %q", got, want)
			}
			return nil
		})
	}
	reload := func(text string) {
		t.Helper()
		write(text)
		test.OK(t, syscall.Kill(p.PID(), syscall.SIGHUP))
	}
	const mine = "mine []24h0m0s  by local"
	lists("the schedule is declared", mine, "playbook:tea:daily [0 5 * * *] Asia/Tokyo by longhaul:schedules")
	triggered, err := in.TriggerSchedule(t.Context(), "playbook:tea:daily", "")
	if err != nil || triggered.Run == nil {
		t.Fatalf("the trigger: %+v, %v", triggered, err)
	}
	in.completes("playbook:tea:daily", 1)
	in.pause("playbook:tea:daily")
	reload(strings.Replace(declaring, "0 5", "0 6", 1))
	lists("it is changed", mine, "playbook:tea:daily [0 6 * * *] Asia/Tokyo by longhaul:schedules paused")
	reload(strings.Replace(declaring, "name: daily", "name: weekly\n    principal: ann", 1))
	lists("another one is in its place", mine, "playbook:tea:weekly [0 5 * * *] Asia/Tokyo by ann")
	reload(strings.Split(declaring, "schedules:")[0] + "default: true\n")
	lists("none is declared", mine)
	p.Stop()
}
