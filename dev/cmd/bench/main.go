// Bench measures Longhaul, each figure beside a baseline in the same run. Rounds of both
// sides alternate, so that noise of the machine affects both equally. It prints one table
// for docs/performance.md and writes one JSON file. All servers are processes of this
// same program on loopback, except in part a, where both sides share one process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// settings say what to run.
type settings struct {
	only             string
	rounds, parallel int
	alone, together  time.Duration
	dir, sync        string
	stored           int
	subscribers      sizes
	gates            int
	day              sizes
	postgres, peers  bool
	restate          string // directory of its packages; "" without peers
	kills            int
	within           time.Duration
	json             string
}

// A part is a group of figures.
type part struct {
	name, title string
	run         func(context.Context, settings, *report) error
}

var parts = []part{
	{"a", "one plan of three no-op tasks, beside bare Temporal", measureOverhead},
	{"b", "get, list and a send that returns at once, beside the official Go server in memory", besideOfficial(measureCalls)},
	{"c", "from a change of state to the byte at a subscriber", besideOfficial(measureStreams)},
	{"d", "from an answer to the work that continues", besideOfficial(measureAnswers)},
	{"e", "open gates", besideOfficial(measureGates)},
	{"f", "kill -9 of the worker and of the API", measureKills},
	{"g", "a growing day", measureDay},
}

func main() {
	if len(os.Args) > 1 && (os.Args[1] == serveLonghaul || os.Args[1] == serveOfficial) {
		serve(os.Args[1], os.Args[2:])
		return
	}
	s := settings{subscribers: sizes{1, 100, 1000}, day: sizes{1000, 20000}}
	flag.StringVar(&s.only, "only", "", "parts to run, such as a,c; all if empty")
	flag.IntVar(&s.rounds, "rounds", 4, "number of rounds; each runs both sides")
	flag.DurationVar(&s.alone, "alone", time.Second, "a, b: how long a side runs one at a time, in each round")
	flag.DurationVar(&s.together, "together", time.Second, "a, b: how long a side runs in parallel, in each round")
	flag.IntVar(&s.parallel, "parallel", 50, "a: number of objectives in parallel")
	flag.IntVar(&s.stored, "stored", 100, "b: number of stored tasks; a quarter as many are sent in each round")
	flag.Var(&s.subscribers, "subscribers", "c: numbers of subscribers")
	flag.IntVar(&s.gates, "gates", 100, "e: number of open gates; memory for each needs thousands")
	flag.IntVar(&s.kills, "kills", 3, "f: how often each process is killed")
	flag.Var(&s.day, "day", "g: numbers of stored tasks; the first is the baseline of the others")
	flag.BoolVar(&s.postgres, "postgres", false, "Temporal and the journal in PostgreSQL, a server of its own, in place of SQLite, in g the journal alone; a: with 1, 2 and 4 workers")
	flag.BoolVar(&s.peers, "peers", false, "a without -postgres, f: beside Restate, too, if npm has installed it")
	flag.StringVar(&s.dir, "dir", os.TempDir(), "directory for the databases, for example /dev/shm to leave out the disk")
	flag.StringVar(&s.sync, "sync", "full", "what the databases wait for: full or normal")
	flag.DurationVar(&s.within, "within", 30*time.Minute, "end after this time, with the results so far")
	flag.StringVar(&s.json, "json", "bench.json", "file for the figures; empty for none")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run runs the parts. A part that fails does not end the others.
func run(ctx context.Context, s settings) error {
	chosen, err := choose(s.only)
	if err != nil {
		return err
	}
	if min(s.rounds, s.parallel, s.stored/4, s.gates, s.kills) < 1 {
		return errors.New("--rounds, --parallel, --gates and --kills must be 1 or more, --stored 4 or more")
	}
	if s.peers {
		if s.restate, err = findRestate(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	if s.dir, err = os.MkdirTemp(s.dir, "longhaul-bench-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(s.dir) }()
	r := newReport()
	if s.postgres {
		r.System += ", PostgreSQL"
	}
	var failed error
	for _, p := range chosen {
		fmt.Fprintf(os.Stderr, "%s: %s\n", p.name, p.title)
		if err := p.run(ctx, s, r); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.name, err))
		}
	}
	return errors.Join(failed, r.write(s.json))
}

// choose returns the parts of a list of their names.
func choose(only string) ([]part, error) {
	if only == "" {
		return parts, nil
	}
	var chosen []part
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("--only %s: there is no part %q, only a to g", only, name)
		}
		chosen = append(chosen, parts[i])
	}
	return chosen, nil
}
