package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"longhaul/internal/process"
	"longhaul/internal/prove"
)

// proveCommand is "longhaul prove".
type proveCommand struct {
	Agent string `arg:"" name:"url" help:"URL of the agent: its card is at /.well-known/agent-card.json below it. Any A2A server over JSON-RPC will do."`

	Run_  string `name:"run" help:"Command line that runs the server in the foreground. prove starts it, kills it with all that it has started, and starts it again." placeholder:"COMMAND"`
	Kill  string `help:"Command line that kills the server, which runs elsewhere; with --start." placeholder:"COMMAND"`
	Start string `help:"Command line that starts the server again; with --kill." placeholder:"COMMAND"`
	Stop  string `help:"Command line that asks the server to stop; with --kill and --start. Without it there are no restarts." placeholder:"COMMAND"`

	Message string        `help:"Message that leads to a task which takes some seconds and ends by itself. {token} is another word each time." default:"work 1s; stream 6 200ms; say {token}"`
	Ask     string        `name:"ask-message" help:"Message that leads to a task which asks for input. Without a question its checks are left out." default:"ask Which color?; say {token}"`
	Answer  string        `help:"Answer to the question of --ask-message." default:"blue"`
	Rounds  int           `help:"How many times to kill the server, and how many times to break the network." default:"3"`
	Tasks   int           `help:"How many tasks each of these has at work." default:"10"`
	Down    time.Duration `help:"How long the server stays down, and the network broken." default:"1s"`
	Timeout time.Duration `help:"How long the tasks of one experiment may take to end." default:"1m"`

	PushAddr string `help:"Address to listen at for push notifications; empty leaves them out." default:"127.0.0.1:0"`
	PushURL  string `name:"push-url" help:"URL by which the server reaches --push-addr, if it is another." placeholder:"URL"`
	Protocol string `help:"Version of A2A: 0.3 or 1.0. The newest of the card if empty." enum:",0.3,1.0" default:""`
	Seed     uint64 `help:"Repeats the random moments of an earlier run." placeholder:"N"`

	credentials

	Log     string `help:"File for what the server of --run prints." placeholder:"FILE"`
	JSON    string `name:"json" help:"File for the scorecard as JSON; - is standard output, in place of the text." placeholder:"FILE"`
	Picture string `help:"File for the scorecard as a picture (SVG)." placeholder:"FILE"`
}

// Limits of a run, so that it stays bounded.
const (
	maxProveRounds = 100
	maxProveTasks  = 500
)

func (c *proveCommand) Run(p *process.Process) error {
	cfg, err := c.config(p)
	if err != nil {
		return err
	}
	printed, err := c.openLog()
	if err != nil {
		return fmt.Errorf("open the file for what the server prints: %w", err)
	}
	defer func() { _ = printed.Close() }() // it is a log
	if c.Run_ != "" {
		cfg.Server, cfg.Runs = &prove.Process{Line: c.Run_, Log: printed}, true
	}
	ctx, stop := process.Interruptible(p.Ctx)
	defer stop()
	card, err := prove.Run(ctx, cfg)
	if err != nil {
		if tail := lastPrinted(printed); tail != "" {
			err = fmt.Errorf("%w\nThe server printed at last:\n%s", err, tail)
		}
		if errors.Is(err, context.Canceled) {
			err = &process.ExitError{Code: process.ExitInterrupted, Text: "stopped"}
		}
	}
	if card == nil {
		return err
	}
	if err := errors.Join(err, c.write(p, card)); err != nil {
		return err
	}
	if !card.Clean() {
		return &process.ExitError{Code: 1, Text: "the server lost, repeated or reordered what it had acknowledged"}
	}
	return nil
}

// check refuses values out of bounds, and flags that contradict each other.
func (c *proveCommand) check() error {
	for _, f := range []struct {
		name           string
		n, least, most int
	}{{"rounds", c.Rounds, 1, maxProveRounds}, {"tasks", c.Tasks, 2, maxProveTasks}} {
		if f.n < f.least || f.n > f.most {
			return process.Usagef("--%s must be between %d and %d", f.name, f.least, f.most)
		}
	}
	switch {
	case c.Timeout <= 0 || c.Down < 0:
		return process.Usagef("--timeout must be above zero, and --down not below it")
	case c.Kill+c.Start+c.Stop == "":
		return nil
	case c.Run_ != "":
		return process.Usagef("--run starts and kills the server itself: leave out --kill, --start and --stop")
	case c.Kill == "" || c.Start == "":
		return process.Usagef("--kill and --start belong together: prove kills the server and has to start it again")
	}
	return nil
}

func (c *proveCommand) config(p *process.Process) (prove.Config, error) {
	http, err := c.httpClient()
	if err != nil {
		return prove.Config{}, err
	}
	cfg := prove.Config{
		URL: c.Agent, Protocol: c.Protocol, Token: c.Token, HTTP: http,
		Kills: c.Rounds, Restarts: 1, Partitions: c.Rounds, Tasks: c.Tasks, Down: c.Down, Timeout: c.Timeout,
		Message: c.Message, Ask: c.Ask, Answer: c.Answer, PushAddr: c.PushAddr, PushURL: c.PushURL, Seed: c.Seed,
		Note: func(format string, args ...any) { fmt.Fprintf(p.Stderr, format+"\n", args...) },
	}
	if err := c.check(); err != nil {
		return cfg, err
	}
	switch {
	case c.Kill != "":
		cfg.Server = prove.Commands{StartLine: c.Start, KillLine: c.Kill, StopLine: c.Stop}
	case c.Run_ == "":
		fmt.Fprintln(p.Stderr, "Without --run, or --kill and --start, the server is not killed: only the network is broken.")
	}
	return cfg, nil
}

// write writes the scorecard in all its forms.
func (c *proveCommand) write(p *process.Process, card *prove.Scorecard) error {
	asJSON, err := json.MarshalIndent(card, "", "  ")
	if err != nil {
		return fmt.Errorf("write the scorecard: %w", err)
	}
	asJSON = append(asJSON, '\n')
	switch c.JSON {
	case "-":
		_, err = p.Stdout.Write(asJSON)
	case "":
		err = card.WriteText(p.Stdout)
	default:
		err = errors.Join(card.WriteText(p.Stdout), os.WriteFile(c.JSON, asJSON, 0o644))
	}
	if c.Picture == "" || err != nil {
		return err
	}
	var picture bytes.Buffer
	if err := card.WritePicture(&picture); err != nil {
		return err
	}
	return os.WriteFile(c.Picture, picture.Bytes(), 0o644)
}

// openLog opens the file for what the server of --run prints, nil without one. Without --log it
// has no name any more, so that nothing is left of it.
func (c *proveCommand) openLog() (*os.File, error) {
	switch {
	case c.Run_ == "":
		return nil, nil
	case c.Log != "":
		return os.Create(c.Log)
	}
	f, err := os.CreateTemp("", "prove-*.log")
	if err == nil {
		err = os.Remove(f.Name())
	}
	return f, err
}

// lastPrinted returns the end of a log, "" if there is none.
func lastPrinted(log *os.File) string {
	const most = 2000 // bytes
	size, _ := log.Seek(0, io.SeekEnd)
	text := make([]byte, min(size, most))
	n, _ := log.ReadAt(text, size-int64(len(text)))
	return string(bytes.TrimSpace(text[:n]))
}
