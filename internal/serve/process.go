package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.uber.org/zap"

	"longhaul/api/card"
	"longhaul/internal/namespace"
	"longhaul/internal/process"
	"longhaul/opt/access"
	"longhaul/worker"
	"longhaul/workflows"
)

// API is "longhaul api".
type API struct {
	API       apiSettings         `embed:"" group:"API"`
	Notices   noticeSettings      `embed:"" group:"Notices"`
	Elsewhere namespace.Elsewhere `embed:"" group:"Temporal"`
	Shared    Shared              `embed:""`
}

func (c *API) Run(p *process.Process, b Build) error {
	target, err := c.Shared.Temporal.Target(c.Elsewhere)
	quotas, wrong := c.Shared.Work.quotas(c.API.authenticates(), 0)
	if err := errors.Join(err, wrong, c.API.check()); err != nil {
		return err
	}
	return run(p.Ctx, c.Shared.Work.executorsOf(b), c.Shared.Log, c.Shared.Ops, func(h *host) []part {
		g := c.Shared.newGround(h, c.API.linkSettings, quotas, func() namespace.Target { return target })
		g.planning.api, g.notices.file, g.notices.answers = &c.API, c.Notices.Notices, true
		g.triggers.file = c.API.Triggers
		check := &namespaceCheck{temporal: g.temporal}
		a := &apiServer{ground: g, settings: c.API, plain: check.lacksAttributes.Load}
		return append([]part{g.reach, g.notices, g.triggers, g.planning, g.store, g.temporal, check}, append(a.parts(),
			step(func(context.Context) error {
				h.log.Info("Serving A2A", zap.String("url", a.listeners.url))
				return nil
			}))...)
	})
}

// Worker is "longhaul worker".
type Worker struct {
	Worker    workerSettings          `embed:"" group:"Worker"`
	Version   namespace.WorkerVersion `embed:"" group:"Worker"`
	Notices   noticeSettings          `embed:"" group:"Notices"`
	Links     linkSettings            `embed:"" group:"Notices"`
	Retention namespace.Retention     `embed:"" group:"Journal"`
	Elsewhere namespace.Elsewhere     `embed:"" group:"Temporal"`
	Wait      namespace.Wait          `embed:"" group:"Temporal"`
	Shared    Shared                  `embed:""`
}

func (c *Worker) Run(p *process.Process, b Build) error {
	target, err := c.Shared.Temporal.Target(c.Elsewhere)
	version, wrong := c.Version.Version(b.Version)
	quotas, wrongQuota := c.Shared.Work.quotas(true, c.Worker.MaxTasks)
	memory, wrongMemory := c.Worker.workflowMemory(ownMemory())
	if err := errors.Join(err, wrong, wrongQuota, wrongMemory, c.Retention.CheckTTL()); err != nil {
		return err
	}
	return run(p.Ctx, c.Shared.Work.executorsOf(b), c.Shared.Log, c.Shared.Ops, func(h *host) []part {
		worker.LimitMemory(memory)
		g := c.Shared.newGround(h, c.Links, quotas, func() namespace.Target { return target })
		g.notices.file, g.planning.worker, g.planning.env = c.Notices.Notices, &c.Worker, os.LookupEnv
		l := newLeasePart(g)
		w := &workerPart{ground: g, settings: c.Worker, version: version, lease: l}
		return []part{
			g.reach, g.notices, g.planning, g.store, g.temporal,
			step(func(ctx context.Context) error {
				n := g.temporal.namespace()
				state, err := n.Await(ctx, c.Wait, c.Retention.NamespaceTTL())
				if err != nil {
					return err
				}
				n.LogMissing(state)
				n.WarnRetention(state, c.Retention.TTL)
				h.log.Info("Working", zap.Stringer("at", target))
				return nil
			}),
			l, w, w.dispatcher(),
			step(func(ctx context.Context) error {
				g.temporal.namespace().WarnOfNoVersion(ctx, version)
				return g.temporal.namespace().CreatePurgeSchedule(ctx, c.Retention.TTL)
			}),
		}
	})
}

// embeddedSettings say how the embedded Temporal runs.
type embeddedSettings struct {
	Sync           string `help:"full: all work survives a power cut; normal: the embedded Temporal does not wait for the disk, which is faster, but a power cut may take back the last two seconds of the work. The journal keeps what it has." enum:"full,normal" default:"full" env:"LONGHAUL_SYNC"`
	TemporalUIAddr string `name:"temporal-ui-addr" help:"Address of the Web UI of the embedded Temporal; empty for none." default:"127.0.0.1:8233" env:"LONGHAUL_TEMPORAL_UI_ADDR" placeholder:"HOST:PORT"`
}

// Settings are the settings of all processes together.
type Settings struct {
	API       apiSettings         `embed:"" group:"API"`
	Worker    workerSettings      `embed:"" group:"Worker"`
	Notices   noticeSettings      `embed:"" group:"Notices"`
	Retention namespace.Retention `embed:"" group:"Journal"`
	Embedded  embeddedSettings    `embed:"" group:"Temporal"`
	Shared    Shared              `embed:""`
}

// check refuses settings that are wrong by themselves, and returns the limits of tenants and the
// memory for workflows.
func (s Settings) check() (quotas access.Quotas, memory int64, err error) {
	quotas, wrong := s.Shared.Work.quotas(s.API.authenticates(), s.Worker.MaxTasks)
	memory, wrongMemory := s.Worker.workflowMemory(ownMemory())
	return quotas, memory, errors.Join(wrong, wrongMemory, s.API.check(), s.Retention.CheckTTL())
}

// ground returns the ground of a process that serves and works.
func (s *Settings) ground(h *host, quotas access.Quotas, target func() namespace.Target) *ground {
	g := s.Shared.newGround(h, s.API.linkSettings, quotas, target)
	g.notices.file, g.triggers.file = s.Notices.Notices, s.API.Triggers
	g.planning.api, g.planning.worker, g.planning.env = &s.API, &s.Worker, os.LookupEnv
	return g
}

// Dev is "longhaul dev".
type Dev struct {
	Settings Settings `embed:""`
}

// Run keeps the error that it ends with, for commands that look for it.
func (d *Dev) Run(p *process.Process, b Build) error {
	dir := d.Settings.Shared.Store.DataDir
	process.ForgetEnd(dir)
	err := d.serve(p, b)
	if err != nil {
		process.End{Addr: d.Settings.API.Addr, Reason: err.Error(), At: time.Now()}.Keep(dir)
	}
	return err
}

func (d *Dev) serve(p *process.Process, b Build) error {
	c := d.Settings
	quotas, memory, err := c.check()
	if err != nil {
		return err
	}
	return run(p.Ctx, c.Shared.Work.executorsOf(b.withEcho()), c.Shared.Log, c.Shared.Ops, func(h *host) []part {
		worker.LimitMemory(memory)
		inside := newTemporalServer(h, embedConfig(c.Shared.Store.dataSettings, c.Shared.Temporal, c.Embedded, c.Retention.NamespaceTTL()))
		g := c.ground(h, quotas, func() namespace.Target { return c.Shared.Temporal.Embedded(inside.running.Addr) })
		g.store.migrates, g.store.alone = true, true
		l := newLeasePart(g)
		w := &workerPart{ground: g, settings: c.Worker, lease: l}
		a := &apiServer{ground: g, settings: c.API, temporalUI: inside.uiURL}
		parts := []part{
			g.reach, g.notices, g.triggers, g.planning, inside, g.store, g.temporal,
			step(func(ctx context.Context) error { return g.temporal.namespace().CheckKeys(ctx) }),
			l, w, w.dispatcher(),
		}
		return append(append(parts, a.parts()...), step(func(ctx context.Context) error {
			greeting{
				p.Name, p.Command, a.listeners.url, inside.uiURL(), c.API.authenticates(), c.newKey(p.Command), !c.API.NoConsole, example(a.agent.Skills()),
			}.print(p.Stdout)
			return g.temporal.namespace().CreatePurgeSchedule(ctx, c.Retention.TTL)
		}))
	})
}

// newKey is a command that prints a new API key, "" if callers need none.
func (s Settings) newKey(program process.Name) string {
	if !slices.Contains(s.API.Auth, "keys") {
		return ""
	}
	text := program.String() + " keys create me --scopes all"
	if usual, err := filepath.Abs(".longhaul"); err != nil || s.Shared.Store.DataDir != usual {
		text += " --data-dir " + process.ShellQuoted(s.Shared.Store.DataDir)
	}
	if s.Shared.Store.Journal != "" {
		text += " --journal \"$LONGHAUL_JOURNAL\"" // it may have a password
	}
	return text
}

// TemporalServer is "longhaul temporal".
type TemporalServer struct {
	Retention namespace.Retention `embed:"" group:"Temporal"`
	Data      dataSettings        `embed:"" group:"Temporal"`
	Temporal  namespace.Temporal  `embed:"" group:"Temporal"`
	Embedded  embeddedSettings    `embed:"" group:"Temporal"`
	Ops       opsSettings         `embed:"" group:"Log and operation"`
	Log       logSettings         `embed:"" group:"Log and operation"`
}

func (c *TemporalServer) Run(p *process.Process, b Build) error {
	if err := c.Retention.CheckTTL(); err != nil {
		return err
	}
	return run(p.Ctx, b, c.Log, c.Ops, func(h *host) []part {
		inside := newTemporalServer(h, embedConfig(c.Data, c.Temporal, c.Embedded, c.Retention.NamespaceTTL()))
		return []part{
			inside,
			&connection{host: h, find: func() namespace.Target { return c.Temporal.Embedded(inside.running.Addr) }},
			step(func(context.Context) error {
				h.log.Info("Temporal is up", zap.String("addr", inside.running.Addr), zap.String("ui", inside.uiURL()))
				return nil
			}),
		}
	})
}

// EmbedConfig configures the embedded Temporal.
type EmbedConfig struct {
	Dir              string // of its files; "" keeps everything in memory
	Addr             string
	UIAddr           string
	Namespace        string
	Retention        time.Duration
	Sync             string
	SearchAttributes map[string]enumspb.IndexedValueType
	Log              *zap.Logger
}

func embedConfig(data dataSettings, temporal namespace.Temporal, inside embeddedSettings, retention time.Duration) EmbedConfig {
	return EmbedConfig{
		Dir: data.DataDir, Addr: temporal.ServerAddr(), UIAddr: inside.TemporalUIAddr, Namespace: temporal.NamespaceName(),
		Retention: retention, Sync: inside.Sync, SearchAttributes: workflows.SearchAttributes(),
	}
}

// A temporalServer is the Temporal server in this process.
type temporalServer struct {
	stopper
	host    *host
	cfg     EmbedConfig
	running *Embedded
}

func newTemporalServer(h *host, cfg EmbedConfig) *temporalServer {
	h.listensAt("--temporal-addr", cfg.Addr)
	h.listensAt("--temporal-ui-addr", cfg.UIAddr)
	return &temporalServer{host: h, cfg: cfg}
}

func (t *temporalServer) Start(ctx context.Context) (err error) {
	if addr := os.Getenv("TEMPORAL_ADDRESS"); addr != "" {
		t.host.log.Warn("TEMPORAL_ADDRESS has no effect: this command uses the embedded Temporal; api and worker use others", zap.String("address", addr))
	}
	if err := os.MkdirAll(t.cfg.Dir, 0o700); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	t.cfg.Log = t.host.log
	if t.running, err = t.host.build.Embed(ctx, t.cfg); err == nil {
		t.onStop(t.running.Stop)
	}
	return err
}

// uiURL returns the URL of its Web UI, "" for none.
func (t *temporalServer) uiURL() string { return t.running.UIURL }

// A greeting is the text that an all-in-one process prints when it is ready.
type greeting struct {
	name, command process.Name
	url, uiURL    string // of A2A, and of Temporal's Web UI; "" for none
	authenticated bool   // callers need a credential
	newKey        string // command that prints a new API key; "" if there are only other credentials
	console       bool   // its pages are served
	example       string // a message for a skill; "" for none
}

// example returns a message for the first skill that has one, "" if none has.
func example(skills []card.Skill) string {
	for _, s := range skills {
		if len(s.Examples) > 0 {
			return s.Examples[0]
		}
	}
	return ""
}

// print prints the URLs and a first example.
func (g greeting) print(out io.Writer) {
	fmt.Fprintf(out, `
%[1]s is up.

  A2A          %[2]s
  Agent card   %[2]s/.well-known/agent-card.json
`, strings.ToUpper(g.name.String()[:1])+g.name.String()[1:], g.url)
	if g.console {
		fmt.Fprintf(out, "  Console      %s/console/\n", g.url)
	}
	if g.uiURL != "" {
		fmt.Fprintf(out, "  Temporal UI  %s\n", g.uiURL)
	}
	if g.example == "" {
		return
	}
	credential, note := "", ""
	if g.authenticated {
		credential = ` -H "Authorization: Bearer $LONGHAUL_TOKEN"`
		note = "  export LONGHAUL_TOKEN=TOKEN    # an access token of the OpenID Connect provider\n"
	}
	if g.newKey != "" {
		note = "  export LONGHAUL_TOKEN=$(" + g.newKey + ")    # a new API key; commands send what this variable has\n"
	}
	text, err := json.Marshal(g.example)
	if err != nil {
		return // it has no text form
	}
	fmt.Fprintf(out, `
Try it, from another terminal:

%s  %s %s

or with any client:

  curl -s %s%s -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' -d '{
    "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {
      "message": {"messageId": "hello-1", "role": "ROLE_USER", "parts": [{"text": %s}]},
      "configuration": {"returnImmediately": true}}}'

`, note, g.command.At(g.url, "send"), process.ShellQuoted(g.example), g.url, credential, strings.ReplaceAll(string(text), "'", `\u0027`))
}
