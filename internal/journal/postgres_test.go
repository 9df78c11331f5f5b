package journal_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"longhaul/internal/journal"
	"longhaul/internal/needs"
	"longhaul/internal/pgserver"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

// TestPostgres_restarts kills and restarts the server while two processes record and
// read. Everything acknowledged must be there, in one order, followers miss nothing,
// and the only errors are those that say to try again.
func TestPostgres_restarts(t *testing.T) {
	t.Parallel()
	needs.Tools(t, "postgres")
	server := test.Value(pgserver.Start(t.Context()))(t)
	t.Cleanup(func() {
		test.Error(t, "the call", nil, server.Close())
	})
	test.OK(t, server.Create(t.Context(), "journal"))
	url := server.URL("journal")
	journals := []*journal.Journal{openURL(t, url), openURL(t, url)}
	s := begin(t, journals[0], newObjective())
	done := make(chan struct{})
	acknowledged := make(chan struct{}) // one value for each event
	count := 0
	var failed atomic.Int64
	var wg sync.WaitGroup
	for i := range 4 {
		source := s.as(fmt.Sprint("source-", i), journals[i%2])
		wg.Go(func() { recordOn(t, source, done, acknowledged, &failed) })
	}
	await := func() {
		for range 40 {
			select {
			case <-acknowledged:
				count++
			case <-time.After(patience):
				t.Fatal("nothing is recorded")
			}
		}
	}
	for round, end := range []func() error{server.Kill, server.Stop, server.Kill} {
		await()
		for range journal.DefaultConnections { // all connections for reading are made
			s.events()
		}
		test.OK(t, end())
		var err error
		for began := time.Now(); err == nil && time.Since(began) < patience; { // sessions end a moment after a server that was killed
			_, _, err = journals[0].Peek(t.Context(), tenant, s.objective.ID)
		}
		test.Error(t, fmt.Sprintf("round %d: a read without a server", round), opt.ErrUnavailable, err)
		test.OK(t, server.Run(t.Context()))
		for _, j := range journals { // all its connections were lost
			if _, err := j.Events(t.Context(), s.objective.ID, 0, 1); err != nil {
				t.Errorf("round %d: the first read after the start: %v", round, err)
			}
		}
	}
	await()
	close(done)
	go func() { wg.Wait(); close(acknowledged) }()
	for range acknowledged {
		count++
	}
	events := s.events()
	if len(events) != count+1 {
		t.Errorf("%d events, want the opening and %d that were acknowledged", len(events), count)
	}
	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has seq %d", i, e.Seq)
		}
	}
	follow(t, journals[1], s.objective.ID, len(events))
	t.Logf("%d events, %d errors that said to try again", len(events), failed.Load())
}

// recordOn records until done, each event until it is acknowledged. The journal waits
// before it fails, so repeats need no pause.
func recordOn(t *testing.T, s *scribe, done <-chan struct{}, acknowledged chan<- struct{}, failed *atomic.Int64) {
	for {
		b := s.batch(s.rootMoved(opt.TaskWorking))
		err := s.j.Record(context.Background(), b)
		for errors.Is(err, opt.ErrUnavailable) {
			failed.Add(1)
			err = s.j.Record(context.Background(), b)
		}
		if err != nil {
			t.Error(err)
			return
		}
		acknowledged <- struct{}{}
		select {
		case <-done:
			return
		default:
		}
	}
}

// Deliveries that one process makes due are signalled in others.
func TestPostgres_pushSignal(t *testing.T) {
	t.Parallel()
	url := database(t)
	cfg := journal.Config{URL: url, Migrate: true, Channels: []outbox.Channel{{Name: "desk"}}}
	here, there := openWith(t, cfg), openWith(t, cfg)
	listens(t, there)
	s := begin(t, here, newObjective())
	s.record(planAdded(s.objective, 0, 1))
	asked := s.moved(0, 0, opt.TaskInputRequired)
	asked.Gate = &opt.Gate{ID: "g-1", Kind: opt.Approval, RequestedAt: at(5)}
	s.record(asked)
	listens(t, there)
}

// listens waits for the signal that deliveries have become due. A journal also signals once when it
// begins to listen.
func listens(t *testing.T, j *journal.Journal) {
	t.Helper()
	select {
	case <-j.Pushes.PushSignal():
	case <-time.After(patience):
		t.Fatal("it got no notification")
	}
}

// NUL characters, which PostgreSQL rejects, are replaced in texts.
func TestPostgres_nul(t *testing.T) {
	t.Parallel()
	j := openURL(t, database(t))
	o := newObjective()
	o.Name = "a\x00b"
	s := begin(t, j, o)
	got, err := j.Objective(t.Context(), tenant, o.ID)
	if err != nil || got.Name != "a\uFFFDb" {
		t.Errorf("the name is %q, %v", got.Name, err)
	}
	said := userMessage("m-2", "zero \x00 byte")
	s.record(opt.Event{Kind: opt.MessageAdded, TaskID: o.ID, Message: &said, Principal: "ann", Verdict: opt.Noted})
	test.Is(t, "the message", "zero \x00 byte", s.view(o.ID).Task.History[1].Text())
}

// Both databases have the same tables, columns and indexes, but for the leases of workers, which are
// files beside a journal in a file.
func TestMigrate_same(t *testing.T) {
	t.Parallel()
	lite, server := openFile(t, file(t)), openURL(t, database(t))
	for lists, queries := range map[string][2]string{
		"columns": {
			"SELECT t.name || '.' || c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'",
			`SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name <> 'worker_entries'`,
		},
		"indexes": {
			"SELECT name FROM sqlite_schema WHERE type = 'index' AND sql <> ''",
			`SELECT indexname::text FROM pg_indexes WHERE schemaname = current_schema() AND indexname NOT LIKE '%\_pkey'`,
		},
		"triggers": {
			"SELECT name FROM sqlite_schema WHERE type = 'trigger'",
			`SELECT tgname::text FROM pg_trigger WHERE NOT tgisinternal`,
		},
	} {
		want := test.Value(lite.Column(t.Context(), queries[0]))(t)
		if test.Equal(t, lists+" of both", want, test.Value(server.Column(t.Context(), queries[1]))(t)); len(want) == 0 {
			t.Errorf("there are no %s", lists)
		}
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	each := map[string]func(t *testing.T) journal.Config{
		"sqlite":   func(t *testing.T) journal.Config { return journal.Config{Path: t.TempDir() + "/journal.db"} },
		"postgres": func(t *testing.T) journal.Config { return journal.Config{URL: databaseLike(t, "template1")} },
	}
	for name, config := range each {
		t.Run(name, func(t *testing.T) {
			cfg := config(t)
			first, err := journal.Migrate(t.Context(), cfg)
			if err != nil || first[0] != "0014_journal" {
				t.Errorf("applied %q, %v", first, err)
			}
			if again, err := journal.Migrate(t.Context(), cfg); err != nil || len(again) > 0 {
				t.Errorf("applied %q again, %v", again, err)
			}
			begin(t, openWith(t, cfg), newObjective())
		})
	}
}

// TestNotifications sends as few texts as possible, each of a size that PostgreSQL
// takes.
func TestNotifications(t *testing.T) {
	t.Parallel()
	seqs := map[string]int64{}
	var gone []string
	for i := range 1000 {
		seqs[fmt.Sprintf("obj-%026d", i)] = 1_000_000_000 + int64(i)
		gone = append(gone, fmt.Sprintf("obj-%026d", 5000+i))
	}
	texts := test.Value(journal.Notifications(seqs, gone, true))(t)
	all := strings.Join(texts, "")
	for id := range seqs {
		test.Is(t, id+" is times", 1, strings.Count(all, id))
	}
	for _, id := range gone {
		test.Is(t, id+" is times", 1, strings.Count(all, id))
	}
	for _, text := range texts {
		if len(text) >= 8000 || len(texts) > 1 && len(text) < 1000 {
			t.Errorf("one of %d texts has %d bytes", len(texts), len(text))
		}
	}
	if none, err := journal.Notifications(nil, nil, false); len(none) > 0 || err != nil {
		t.Errorf("%q of nothing, %v", none, err)
	}
}
