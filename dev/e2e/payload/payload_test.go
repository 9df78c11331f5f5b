package payload_test

import (
	"bytes"
	"errors"
	"testing"

	"longhaul/client"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

// No history, list or file of Temporal has the text of work: of its message, plans,
// tasks, questions, replies, results, heartbeats and failures, or of a schedule. The
// same work without keys shows that the test would find it.
func TestEncrypted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		keys []string
	}{{"encrypted", []string{oldKey}}, {"plain", nil}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			site := newSite(t)
			site.Env = []string{env(tt.keys...)}
			site.Start(harness.AllInOne)
			startElsewhere(t, site, tt.keys...)
			c := site.Client()
			small, large := send(t, c, "small", 1), send(t, c, "large", 100<<10) // the latter leaves the history for the journal
			schedule(t, site)
			for _, id := range []string{small, large} {
				reply(t, c, "answer-"+id, c.AwaitGate(t, within, id))
			}
			c.AwaitState(t, within, small, "COMPLETED")
			c.AwaitState(t, within, large, "COMPLETED")
			all, shown := histories(t, site)
			readable := bytes.Contains(shown, []byte(canary))
			test.Is(t, "Temporal's lists have the text", tt.keys == nil, readable)
			failed := false
			for id, h := range all {
				readable = bytes.Contains(marshal(t, h), []byte(canary))
				if readable && tt.keys != nil {
					t.Errorf("the history of %s has the text", id)
				}
				if id == small || id == opt.PlanID(small, 1) {
					if err := replay(h, cipher(t, tt.keys...)); err != nil {
						t.Errorf("replay of %s: %v", id, err)
					}
				}
				failed = failed || isFailure(h, cipher(t, tt.keys...))
			}
			if !failed {
				t.Error("no history has the failure of the other team's worker")
			}
			site.Started()[0].Kill()
			if found := filesWith(t, site, canary); (len(found) == 0) != (tt.keys != nil) {
				t.Errorf("files of Temporal with the text: %v", found)
			}
		})
	}
}

// schedule makes a schedule with the canary in its name, text and note, and reads it again.
func schedule(t *testing.T, site *harness.Site) {
	t.Helper()
	c := client.New(client.Config{URL: site.URL()})
	name, paused := "Weekly "+canary, true
	want := client.ScheduleChange{Name: &name, Text: canary, Cron: []string{"0 6 * * mon"}, Paused: &paused, Note: &name}
	test.OK(t, test.Err(c.CreateSchedule(t.Context(), "weekly", want)))
	got, err := c.Schedule(t.Context(), "weekly")
	if err != nil || got.Name != name || got.Text != canary || got.Note != name {
		t.Errorf("read the schedule again: %+v, %v", got, err)
	}
}

// Work continues with a new key while the old one still decrypts. It also continues when
// encryption is turned on.
func TestRotation(t *testing.T) {
	t.Parallel()
	site := newSite(t, "--ttl", "24h")
	process := site.Start(harness.AllInOne)
	c := site.Client()
	stop := startElsewhere(t, site)
	begun := map[string]string{"plain": send(t, c, "plain", 1)}
	gates := map[string]*harness.Gate{"plain": c.AwaitGate(t, within, begun["plain"])}
	for _, step := range []struct {
		name string
		keys []string
	}{{"old", []string{oldKey}}, {"both", []string{oldKey, newKey}}, {"new", []string{newKey, oldKey}}} {
		stop()
		process.Stop()
		process = site.Start(harness.AllInOne, env(step.keys...))
		stop = startElsewhere(t, site, step.keys...)
		id := send(t, c, step.name, 1)
		begun[step.name], gates[step.name] = id, c.AwaitGate(t, within, id)
	}
	for name, id := range begun {
		reply(t, c, "answer-"+name, gates[name])
		c.AwaitState(t, within, id, "COMPLETED")
	}
	all, _ := histories(t, site)
	for _, id := range begun {
		for _, workflowID := range []string{id, opt.PlanID(id, 1)} {
			if err := replay(all[workflowID], cipher(t, newKey, oldKey)); err != nil {
				t.Errorf("replay of %s: %v", workflowID, err)
			}
		}
	}
	if err := replay(all[begun["old"]], cipher(t, newKey)); err == nil {
		t.Error("a history that begins with the old key can be read without it")
	}
	process.Stop()
	refused(t, site, env(oldKey)) // it did not get the new key
}

// refused checks that a process with wrong keys does not start, and says why.
func refused(t *testing.T, site *harness.Site, setting string) {
	t.Helper()
	p := site.Launch(harness.AllInOne, setting)
	<-p.Ended()
	for _, want := range []string{"other processes use other keys for payloads", "--payload-keys"} {
		if err := p.Logged(want); err != nil {
			t.Errorf("the log of the refused process has no %q: %v", want, err)
		}
	}
}

// A worker with a wrong key loses nothing: signals that arrive meanwhile, tasks and
// results wait for one with the right key. Without the schedule that removes ended work,
// nothing signals the worker at the start.
func TestWrongKey(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	site.Env = []string{"LONGHAUL_TTL=0"}
	site.Start(harness.Temporal)
	site.Start(harness.API, env(oldKey))
	right := site.Start(harness.Worker, env(oldKey))
	startElsewhere(t, site, oldKey)
	c := site.Client()
	waiting := send(t, c, "waiting", 1)
	gate := c.AwaitGate(t, within, waiting)
	right.Stop()
	wrong := site.Start(harness.Worker, env(wrongKey))
	reply(t, c, "answer", gate) // is a signal
	fresh := send(t, c, "fresh", 1)
	harness.Eventually(t, within, "the worker says why it does not work", func() error {
		return errors.Join(wrong.Logged("encrypted with the key "+keyID(t, oldKey)), wrong.Logged("--payload-keys"))
	})
	right = site.Start(harness.Worker, env(oldKey)) // both at a time: some activities meet the wrong one
	other := send(t, c, "other", 1)
	reply(t, c, "answer-other", c.AwaitGate(t, within, other))
	wrong.Stop()
	reply(t, c, "answer-fresh", c.AwaitGate(t, within, fresh))
	for _, id := range []string{waiting, fresh, other} {
		c.AwaitState(t, within, id, "COMPLETED")
	}
	all, _ := histories(t, site)
	for id, h := range all {
		if err := replay(h, cipher(t, oldKey)); err != nil {
			t.Errorf("replay of %s: %v", id, err)
		}
	}
	right.Stop()
}

// keyID returns the id of a key.
func keyID(t *testing.T, key string) string {
	t.Helper()
	id, _ := cipher(t, key).Encrypt(nil)
	return id
}
