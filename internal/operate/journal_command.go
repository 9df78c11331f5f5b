package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"go.uber.org/zap"
	"golang.org/x/time/rate"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/namespace"
	"longhaul/internal/process"
	"longhaul/internal/rebuild"
	"longhaul/internal/reconcile"
	"longhaul/internal/serve"
	"longhaul/opt"
	"longhaul/workflows"
)

// journalCommand is "longhaul journal".
type journalCommand struct {
	Verify  journalVerifyCommand  `cmd:"" help:"Compare the journal with Temporal, and check the chains of decisions and the file. Exit code 1 if they differ."`
	Rebuild journalRebuildCommand `cmd:"" help:"Restore in the journal what it lacks and Temporal still has. Work may continue meanwhile."`
	Close   journalCloseCommand   `cmd:"" help:"End objectives in the journal whose workflows Temporal does not have any more, or that were terminated there. The API does so by itself, unless many are gone at once."`
	Compact journalCompactCommand `cmd:"" help:"Give free space in the journal back: of a file to the disk, while work waits; in PostgreSQL to new data."`
}

// bothSettings say where the journal and Temporal are.
type bothSettings struct {
	serve.Store
	namespace.Temporal
	namespace.Elsewhere
	namespace.Payloads
}

// compareSettings say how the journal is compared with Temporal.
type compareSettings struct {
	bothSettings
	namespace.Retention
	Rate     float64 `help:"Requests to Temporal per second, at the most." default:"100" env:"LONGHAUL_REBUILD_RATE"`
	Parallel int     `help:"Objectives that are read at a time." default:"4" env:"LONGHAUL_REBUILD_PARALLEL"`
	JSON     bool    `help:"Print the result as JSON."`
}

// journalVerifyCommand is "longhaul journal verify".
type journalVerifyCommand struct{ compareSettings }

func (c *journalVerifyCommand) Run(p *process.Process) error {
	if !c.Exists() {
		return fmt.Errorf("there is no journal in %s; %s journal rebuild makes it", c.Location(), p.Command)
	}
	return c.compare(p, func(ctx context.Context, j *journal.Journal, cfg rebuild.Config) error {
		broken, err := j.Maintenance.Damage(ctx)
		if err != nil {
			return fmt.Errorf("check the journal: %w", err)
		}
		s, err := rebuild.Verify(ctx, cfg)
		if err != nil {
			return fmt.Errorf("compare the journal with Temporal: %w", err)
		}
		wrong, err := j.Maintenance.Miscounts(ctx)
		if err != nil {
			return fmt.Errorf("count what the journal has: %w", err)
		}
		v := verification{s, broken, wrong}
		if err := c.print(p, v, v.print); err != nil {
			return err
		}
		return v.problem(p.Command)
	})
}

// A verification is what verify prints as JSON.
type verification struct {
	rebuild.Summary
	Store     []string           `json:"store,omitempty"`     // damage of the store
	Miscounts []journal.Miscount `json:"miscounts,omitempty"` // totals of lists that are wrong
}

func (v verification) print(out io.Writer) {
	for _, line := range v.Store {
		fmt.Fprintf(out, "the store is damaged: %s\n", a2a.Visible(line))
	}
	for _, m := range v.Miscounts {
		fmt.Fprintf(out, "lists count %d %s %s of the tenant %s, and there are %d\n", m.Tallied, a2a.Visible(m.State), m.Subject, a2a.VisibleLine(m.Tenant), m.Counted)
	}
	printProblems(out, v.Summary)
	fmt.Fprintf(out, "Objectives in Temporal: %d. Equal in the journal: %d, removed at the end of their time: %d. Problems: %d\n", v.Objectives, v.Equal, v.Expired, v.Found)
}

// problem is nil if nothing is wrong.
func (v verification) problem(command process.Name) error {
	switch {
	case len(v.Store) > 0:
		return errors.New("the journal is damaged: stop all processes that use it, move it away and restore a copy, or let it be rebuilt")
	case v.Found > 0:
		return fmt.Errorf("the journal differs from Temporal; %s journal rebuild restores what it lacks", command)
	case len(v.Miscounts) > 0:
		return fmt.Errorf("lists show wrong totals; %s journal rebuild corrects them", command)
	}
	return nil
}

// journalRebuildCommand is "longhaul journal rebuild".
type journalRebuildCommand struct{ compareSettings }

func (c *journalRebuildCommand) Run(p *process.Process) error {
	return c.compare(p, func(ctx context.Context, j *journal.Journal, cfg rebuild.Config) error {
		s, err := rebuild.Restore(ctx, cfg)
		if err != nil {
			return fmt.Errorf("rebuild the journal (run it again: it continues where it stopped): %w", err)
		}
		corrected, err := j.Maintenance.Recount(ctx)
		if err != nil {
			return fmt.Errorf("correct the totals of lists (run it again): %w", err)
		}
		if err := c.print(p, restoration{s, corrected}, func(out io.Writer) {
			printProblems(out, s)
			if corrected > 0 {
				fmt.Fprintf(out, "Totals of lists that were wrong, and are right now: %d\n", corrected)
			}
			if s.Rewound > 0 {
				fmt.Fprintf(out, "Workflows that know less than the journal, and set it back now: %d\n", s.Rewound)
			}
			fmt.Fprintf(out, "Objectives in Temporal: %d. Restored: %d (%d events), complete before: %d, removed at the end of their time: %d. Problems: %d\n",
				s.Objectives, s.Restored, s.Events, s.Equal, s.Expired, s.Found)
		}); err != nil {
			return err
		}
		if s.Found > 0 {
			return errors.New("not all could be restored")
		}
		return nil
	})
}

// A restoration is what rebuild prints as JSON.
type restoration struct {
	rebuild.Summary
	Recounted int64 `json:"recounted,omitempty"` // totals of lists that were wrong
}

// compare calls f with the journal and what it is compared with.
func (c *compareSettings) compare(p *process.Process, f func(context.Context, *journal.Journal, rebuild.Config) error) error {
	if err := c.CheckTTL(); err != nil {
		return err
	}
	if c.Rate <= 0 || c.Parallel < 1 || c.Parallel > 64 {
		return process.Usagef("--rate must be above 0, and --parallel between 1 and 64")
	}
	return c.connect(p, c.NamespaceTTL(), func(ctx context.Context, j *journal.Journal, engine workflows.ClientConfig) error {
		limit := rate.NewLimiter(rate.Limit(c.Rate), max(1, c.Parallel))
		return f(ctx, j, rebuild.Config{
			Journal: j, Records: j.Maintenance, Rewind: workflows.NewClient(engine).Rewind, Settle: 2 * time.Second, TTL: c.TTL, Parallel: c.Parallel, Progress: progressPrinter(p.Stderr),
			Histories: workflows.NewHistories(workflows.HistoriesConfig{Temporal: engine.Temporal, Cipher: engine.Cipher, Blobs: j, Wait: limit.Wait}),
		})
	})
}

// connect calls f with the journal and with Temporal. A namespace that is missing should keep
// workflows for retention.
func (s *bothSettings) connect(p *process.Process, retention time.Duration, f func(context.Context, *journal.Journal, workflows.ClientConfig) error) error {
	target, err := s.Target(s.Elsewhere)
	if err != nil {
		return err
	}
	cipher, err := s.Cipher()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(p.Ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	temporal, err := target.Dial(workflows.DialConfig{Log: namespace.SDKLog(zap.NewNop()), Cipher: cipher})
	if err != nil {
		return err
	}
	defer temporal.Close()
	n := namespace.New(temporal, cipher, target, zap.NewNop())
	state, err := n.Examine(ctx)
	if err != nil {
		return n.WithAdvice(err, retention)
	}
	engine := workflows.ClientConfig{Temporal: temporal, Cipher: cipher, Plain: func() bool { return len(state.Missing) > 0 }}
	return s.WithJournal(p, func(j *journal.Journal) error {
		engine.Blobs = j
		return f(ctx, j, engine)
	})
}

// progressPrinter returns a function that shows progress in one line of a terminal. It prints
// nothing if out is no terminal.
func progressPrinter(out io.Writer) func(rebuild.Summary) {
	if _, _, ok := process.TerminalOf(out); !ok {
		return nil
	}
	return func(s rebuild.Summary) {
		fmt.Fprintf(out, "\r%d objectives, %d restored, %d problems ", s.Objectives, s.Restored, s.Found)
	}
}

// print prints a result as JSON, or as text.
func (c *compareSettings) print(p *process.Process, result any, text func(io.Writer)) error {
	if _, _, ok := process.TerminalOf(p.Stderr); ok {
		fmt.Fprintln(p.Stderr)
	}
	if !c.JSON {
		text(p.Stdout)
		return nil
	}
	return process.PrintJSON(p.Stdout, result)
}

func printProblems(out io.Writer, s rebuild.Summary) {
	for _, x := range s.Problems {
		fmt.Fprintf(out, "%s  %s: %s\n", x.ObjectiveID, x.Kind, a2a.VisibleLine(x.Detail))
	}
	if more := s.Found - len(s.Problems); more > 0 {
		fmt.Fprintf(out, "and %d more\n", more)
	}
}

// journalCompactCommand is "longhaul journal compact".
type journalCompactCommand struct{ serve.Store }

func (c *journalCompactCommand) Run(p *process.Process) error {
	if !c.Exists() {
		return fmt.Errorf("there is no journal in %s: name its directory with --data-dir", c.Location())
	}
	return c.WithJournal(p, func(j *journal.Journal) error {
		before, err := j.Maintenance.Size(p.Ctx)
		if err != nil {
			return fmt.Errorf("measure the journal: %w", err)
		}
		if c.Journal != "" {
			fmt.Fprintf(p.Stderr, "The journal has %s. PostgreSQL keeps the room of removed rows for new ones.\n", bytesText(before.Bytes))
		} else {
			fmt.Fprintf(p.Stderr, "The journal has %s, of which %s are free. Work waits until this is done.\n", bytesText(before.Bytes), bytesText(before.Free))
		}
		if err := j.Maintenance.Compact(p.Ctx); err != nil {
			if errors.Is(err, opt.ErrUnavailable) {
				return fmt.Errorf("compact the journal (nothing has changed; it needs as much free disk as the journal has in use, twice): %w", err)
			}
			return fmt.Errorf("compact the journal: %w", err)
		}
		after, err := j.Maintenance.Size(p.Ctx)
		if err != nil {
			return fmt.Errorf("measure the journal: %w", err)
		}
		fmt.Fprintf(p.Stdout, "%s before, %s now.\n", bytesText(before.Bytes), bytesText(after.Bytes))
		return nil
	})
}

// bytesText returns a number of bytes for people.
func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", (n+1023)/1024)
}

// journalCloseCommand is "longhaul journal close".
type journalCloseCommand struct {
	bothSettings
	Objectives []string `arg:"" optional:"" name:"id" help:"The objectives to end."`
	Lost       bool     `help:"All objectives that are open in the journal and that Temporal does not have, or that were terminated there."`
	Yes        bool     `help:"With --lost: end them. Without this they are listed."`
}

func (c *journalCloseCommand) Run(p *process.Process) error {
	if c.Lost == (len(c.Objectives) > 0) {
		return process.Usagef("name objectives, or use --lost")
	}
	if !c.Exists() {
		return fmt.Errorf("there is no journal in %s: name its directory with --data-dir", c.Location())
	}
	return c.connect(p, namespace.Week, func(ctx context.Context, j *journal.Journal, engine workflows.ClientConfig) error {
		r := reconcile.New(reconcile.Config{
			Temporal: workflows.NewClient(engine), Journal: j, Log: zap.NewNop(),
		})
		ids, closes := c.Objectives, true
		if c.Lost {
			lost, err := r.Lost(ctx)
			if err != nil {
				return fmt.Errorf("compare the journal with Temporal: %w", err)
			}
			ids, closes = slices.Concat(lost.Stopped, lost.Objectives), c.Yes
			fmt.Fprintf(p.Stderr, "%d of %d open objectives have no workflow.\n", len(ids), lost.Open)
		}
		for _, id := range ids {
			if closes {
				if err := end(ctx, r, id); err != nil {
					return err
				}
			}
			fmt.Fprintln(p.Stdout, id)
		}
		switch {
		case !closes && len(ids) > 0:
			fmt.Fprintln(p.Stderr, "Nothing was changed: add --yes to end them.")
		case len(ids) > 0:
			fmt.Fprintln(p.Stderr, "A worker ends them now; run one if none runs.")
		}
		return nil
	})
}

// end ends an objective.
func end(ctx context.Context, r *reconcile.Reconciler, id string) error {
	err := r.Close(ctx, id)
	switch {
	case errors.Is(err, opt.ErrConflict):
		return fmt.Errorf("%s has a workflow that runs: cancel the objective, or terminate the workflow in Temporal before", id)
	case errors.Is(err, opt.ErrUnknown):
		return fmt.Errorf("%s is not an open objective of this journal", id)
	case err != nil:
		return fmt.Errorf("end %s: %w", id, err)
	}
	return nil
}
