package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/seal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// sealing returns cfg with encryption, or without, and with keys if there are some.
func sealing(t *testing.T, cfg journal.Config, on bool, keys ...byte) journal.Config {
	if cfg.Seal = on; len(keys) > 0 {
		cfg.Sealer = boxOf(t, keys...)
	}
	return cfg
}

// raw returns all that a thief of the database has.
func raw(t *testing.T, cfg journal.Config) (all []byte) {
	t.Helper()
	if cfg.URL != "" {
		return test.Value(exec.Command("pg_dump", "--inserts", cfg.URL).Output())(t)
	}
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(cfg.Path + end)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	return all
}

// boxOf returns a box with keys of which each is one byte over and over.
func boxOf(t testing.TB, keys ...byte) *seal.Box {
	t.Helper()
	var all [][]byte
	for _, b := range keys {
		all = append(all, bytes.Repeat([]byte{b}, 32))
	}
	box := test.Value(seal.New(all...))(t)
	return box
}

const canary = "kanarienvogel"

// sing records an objective with the canary in all its contents.
func sing(t *testing.T, j *journal.Journal) *scribe {
	t.Helper()
	o := newObjective()
	o.Name, o.Description, o.Metadata = canary+" objective", canary+" about it", a2a.Metadata{"x/y": []byte(`"` + canary + `"`)}
	m := userMessage(o.MessageID, canary+" request")
	o.Digest = m.Digest()
	s := &scribe{t: t, j: j, objective: o, source: o.ID, heads: newHeads(o)}
	plan := planAdded(o, 0, 2)
	plan.Plan.Name, plan.Plan.Description = canary+" plan", canary
	for _, task := range plan.Plan.Tasks {
		task.Name = canary + " task"
	}
	g := gate(s.task(0, 1), opt.Approval, 1)
	g.Title = canary + " title"
	said := s.moved(0, 0, opt.TaskWorking)
	said.Status = agentMessage("one", canary+" first")
	done := s.moved(0, 0, opt.TaskCompleted)
	done.Status = agentMessage("two", canary+" second")
	s.record(opt.Opening{Objective: o, Message: &m}.Event(), plan, said, s.piece(0, 0, "a", canary+" artifact", false), done, s.waits(0, 1, g),
		opt.Event{Kind: opt.ObjectiveMoved, To: "failed", Status: agentMessage("three", canary+" failure")})
	test.OK(t, j.WriteBlobs(t.Context(), o.ID, map[string][]byte{"blob": []byte(canary)}))
	return s
}

// readings returns all that is shown of the objective of s.
func readings(t *testing.T, s *scribe) string {
	t.Helper()
	ctx := t.Context()
	o := test.Value(s.j.Objective(ctx, tenant, s.objective.ID))(t)
	gates, total, listing := s.j.Interrupts(ctx, tenant, shown.InterruptFilter{Kind: opt.Approval, ObjectiveID: o.ID})
	none, _, listingNone := s.j.Interrupts(ctx, tenant, shown.InterruptFilter{Kind: opt.Clarification, ObjectiveID: o.ID})
	found, searching := s.j.SearchObjectives(ctx, tenant, shown.ObjectiveSearch{Text: "Vogel Objective", ContextID: o.ContextID})
	kept, keeping := s.j.Kept(ctx, tenant, o.ID)
	data, blob := s.j.ReadBlob(ctx, o.ID, "blob")
	if err := errors.Join(listing, listingNone, searching, keeping, blob); err != nil || total != 1 || found.Total != 1 || len(found.Objectives) != 1 || len(none) != 0 {
		t.Fatalf("%v, %d gates, %d others, %d objectives found", err, total, len(none), found.Total)
	}
	text := test.Value(json.MarshalIndent([]any{o, s.view(o.ID), s.view(s.task(0, 0)), gates, kept.Request, string(data), s.events()}, "", " "))(t)
	return string(text)
}

// With encryption, none of the contents is in the database, and all are read as without.
func TestSeal(t *testing.T) {
	eachPlace(t, func(t *testing.T, cfg journal.Config) {
		sealed := sing(t, openWith(t, sealing(t, cfg, true, 1)))
		push := config(sealed.objective.ID, "a")
		push.Token, push.Credentials = canary+" token", canary+" credentials"
		put(t, sealed.j, push)
		if raw := raw(t, cfg); bytes.Contains(raw, []byte(canary)) || len(raw) < 1000 {
			i := bytes.Index(raw, []byte(canary))
			t.Errorf("the database has the content in %q", raw[max(0, i-300):max(0, i)])
		}
		if n := strings.Count(readings(t, sealed), canary); n < 20 {
			t.Errorf("%d contents are read", n)
		}
		plain := sing(t, openWith(t, sealing(t, cfg, false)))
		if raw := raw(t, cfg); !bytes.Contains(raw, []byte(canary)) {
			t.Error("the content is not found where it is not sealed")
		}
		// Both kinds of rows are read by all that have the key.
		for _, keys := range [][]byte{{1}, {2, 1}} {
			j := openWith(t, sealing(t, cfg, true, keys...))
			for _, s := range []*scribe{plain, sealed} {
				want := readings(t, s.as(s.source, s.j))
				test.Equal(t, fmt.Sprintf("with the keys %v", keys), want, readings(t, s.as(s.source, j)))
			}
		}
	})
}

// Without the key the error says what to do, and writing is refused without any.
func TestSeal_withoutKey(t *testing.T) {
	eachPlace(t, func(t *testing.T, cfg journal.Config) {
		s := sing(t, openWith(t, sealing(t, cfg, true, 1)))
		for name, j := range map[string]*journal.Journal{"none": openWith(t, sealing(t, cfg, false)), "another": openWith(t, sealing(t, cfg, true, 2))} {
			_, err := j.Objective(t.Context(), tenant, s.objective.ID)
			if err == nil || !strings.Contains(err.Error(), "--secret-keys") || !errors.Is(err, opt.ErrUnavailable) {
				t.Errorf("%s: %v, want an advice", name, err)
			}
			test.Fails(t, fmt.Sprintf("%s: blob", name), "--secret-keys", test.Err(j.ReadBlob(t.Context(), s.objective.ID, "blob")))
		}
		o := newObjective()
		m := userMessage("m", "x")
		batch := (&scribe{t: t, objective: o, source: o.ID}).batch(opt.Opening{Objective: o, Message: &m}.Event())
		test.Fails(t, "recorded without a key", "--secret-keys", openWith(t, sealing(t, cfg, true)).Record(t.Context(), batch))
	})
}

// A text that begins as a sealed one does is a text, with encryption and without.
func TestSeal_marks(t *testing.T) {
	eachPlace(t, func(t *testing.T, cfg journal.Config) {
		for _, on := range []bool{false, true} {
			j := openWith(t, sealing(t, cfg, on, 1))
			for _, name := range []string{"\x01longhaul sealed AAAA", "\x01longhaul plain x", "\x01", "\x01longhaul"} {
				o := newObjective()
				o.Name = name
				s := begin(t, j, o)
				got, err := j.Objective(t.Context(), tenant, s.objective.ID)
				if err != nil || got.Name != name {
					t.Errorf("seal %v: %+v, %v, want the name %q", on, got, err, name)
				}
				writing := j.WriteBlobs(t.Context(), o.ID, map[string][]byte{name: []byte(name)})
				if data, err := j.ReadBlob(t.Context(), o.ID, name); string(data) != name || errors.Join(writing, err) != nil {
					t.Errorf("seal %v: blob %q, %v, %v, want %q", on, data, writing, err, name)
				}
			}
		}
	})
}
