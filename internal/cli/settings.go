package cli

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"longhaul/activities/planner"
	"longhaul/opt"
)

// logSettings say what is logged.
type logSettings struct {
	LogLevel  string `help:"What to log: debug, info, warn or error." enum:"debug,info,warn,error" default:"info" env:"LONGHAUL_LOG_LEVEL"`
	LogFormat string `help:"How to log: text or json." enum:"text,json" default:"text" env:"LONGHAUL_LOG_FORMAT"`
}

// storeSettings say where the journal is.
type storeSettings struct {
	DataDir string `help:"Directory of everything that is kept." default:".longhaul" env:"LONGHAUL_DATA_DIR" type:"path"`
	Sync    string `help:"full survives a power cut; normal is faster and may lose the last moments to one." enum:"full,normal" default:"full" env:"LONGHAUL_SYNC"`
}

// temporalSettings say where Temporal is.
type temporalSettings struct {
	TemporalAddr string `help:"Address of Temporal. In dev, where the embedded one listens." default:"127.0.0.1:7233" env:"LONGHAUL_TEMPORAL_ADDR" placeholder:"HOST:PORT"`
	Namespace    string `help:"Temporal namespace." default:"default" env:"LONGHAUL_NAMESPACE"`
	MaxEvents    int    `help:"Continue workflows as new past so many events of history; 0 leaves it to Temporal." default:"0" env:"LONGHAUL_MAX_EVENTS"`
}

// apiSettings say how the API serves.
type apiSettings struct {
	Addr           string        `help:"Address to serve A2A at." default:"127.0.0.1:7420" env:"LONGHAUL_ADDR" placeholder:"HOST:PORT"`
	AllowAnyone    bool          `help:"Serve whoever can reach the address, though nobody is asked who they are. Without it the address must be on loopback." env:"LONGHAUL_ALLOW_ANYONE"`
	PublicURL      string        `help:"URL that the agent card names; the default follows from the address." env:"LONGHAUL_PUBLIC_URL" placeholder:"URL"`
	GRPCAddr       string        `name:"grpc-addr" help:"Address to serve A2A 1.0 over gRPC at, without TLS; empty for none." default:"" env:"LONGHAUL_GRPC_ADDR" placeholder:"HOST:PORT"`
	PublicGRPCAddr string        `name:"public-grpc-addr" help:"Address of gRPC that the agent card names; the default follows from where it listens and the public URL." env:"LONGHAUL_PUBLIC_GRPC_ADDR" placeholder:"HOST:PORT"`
	Agent          string        `help:"What decides about messages: playbooks, or another agent that the program carries." default:"playbooks" env:"LONGHAUL_AGENT"`
	AgentName      string        `help:"Name on the agent card." default:"Longhaul" env:"LONGHAUL_AGENT_NAME"`
	Idempotency    string        `help:"Which sends count as one: those with the same message-id or Idempotency-Key header, those with the same header, or, if off, none." enum:"message-id,header,off" default:"message-id" env:"LONGHAUL_IDEMPOTENCY"`
	NoStreaming    bool          `help:"Do not stream: for networks that cut streams, and for conformance kits." env:"LONGHAUL_NO_STREAMING"`
	NoREST         bool          `name:"no-rest" help:"Serve JSON-RPC alone, not plain HTTP too." env:"LONGHAUL_NO_REST"`
	Lenient        bool          `name:"lenient-version" help:"Take calls of A2A 1.0 that do not name their version for what they are." env:"LONGHAUL_LENIENT_VERSION"`
	Origins        []string      `help:"Origins of web pages that may call, such as https://app.example.com, or *." env:"LONGHAUL_ORIGINS" placeholder:"ORIGIN"`
	Required       []string      `name:"require-extension" help:"URIs of extensions that clients must know: calls that do not name them are refused." env:"LONGHAUL_REQUIRE_EXTENSION" placeholder:"URI"`
	BlockingWait   time.Duration `help:"How long a blocking send waits for the work." default:"25s" env:"LONGHAUL_BLOCKING_WAIT"`
	ReplyWait      time.Duration `help:"How long a reply waits to be judged." default:"5s" env:"LONGHAUL_REPLY_WAIT"`
	CancelWait     time.Duration `help:"How long a cancel waits for the work to stop." default:"5s" env:"LONGHAUL_CANCEL_WAIT"`
	CallTimeout    time.Duration `help:"How long one call of Temporal may take." default:"10s" env:"LONGHAUL_CALL_TIMEOUT"`
	MaxQueue       int           `help:"Objectives that may wait for their turn in one context." default:"9999" env:"LONGHAUL_MAX_QUEUE"`
	MaxPlans       int           `help:"Plans that one objective may have, not counting those that were skipped." default:"10" env:"LONGHAUL_MAX_PLANS"`
	MaxPlanTasks   int           `help:"Tasks that one plan may have." default:"50" env:"LONGHAUL_MAX_PLAN_TASKS"`
	MaxParallel    int           `help:"Tasks of one plan, or plans of one objective, that run at a time where dependencies are declared." default:"4" env:"LONGHAUL_MAX_PARALLEL"`
	TaskTimeout    time.Duration `help:"How long one attempt at a task may work, unless the task says otherwise." default:"30m" env:"LONGHAUL_TASK_TIMEOUT"`
	IdleTTL        time.Duration `name:"idle-ttl" help:"After how long an objective that nobody has started is canceled; 0 for never." default:"720h" env:"LONGHAUL_IDLE_TTL"`
	MaxBody        int64         `help:"Largest request, in bytes." default:"16777216" env:"LONGHAUL_MAX_BODY"`
}

// limits returns the limits of one objective.
func (s apiSettings) limits() opt.Limits {
	return opt.Limits{
		Plans: s.MaxPlans, Tasks: s.MaxPlanTasks, Parallel: s.MaxParallel, Timeout: max(1, int(s.TaskTimeout/time.Second)),
	}
}

// checkLimits refuses limits that let nothing through.
func (s apiSettings) checkLimits() error {
	var wrong []error
	for _, l := range []struct {
		flag  string
		value int
	}{{"max-plans", s.MaxPlans}, {"max-plan-tasks", s.MaxPlanTasks}, {"max-parallel", s.MaxParallel}, {"task-timeout", int(s.TaskTimeout)}} {
		if l.value <= 0 {
			wrong = append(wrong, fmt.Errorf("--%s must be above 0", l.flag))
		}
	}
	return errors.Join(wrong...)
}

// workSettings say how work is planned and done. Both the API, which knows a
// playbook at once, and the worker need them.
type workSettings struct {
	Playbooks []string `help:"Playbook files or directories, in place of the bundled one. SIGHUP has them read again." env:"LONGHAUL_PLAYBOOKS" type:"path" placeholder:"PATH"`
}

// load reads the playbooks: those that are named, else the bundled one.
func (s workSettings) load() (*planner.Playbooks, error) {
	if len(s.Playbooks) == 0 {
		return planner.Bundled()
	}
	return planner.LoadFiles(s.Playbooks...)
}

// workerSettings say how a worker works.
type workerSettings struct {
	MaxTasks  int           `help:"Tasks that one worker runs at a time." default:"200" env:"LONGHAUL_MAX_TASKS"`
	StopAfter time.Duration `help:"How long running tasks may go on when a worker stops." default:"10s" env:"LONGHAUL_STOP_AFTER"`
}

// logger returns the log, which goes to standard error.
func (s logSettings) logger() (*zap.Logger, error) {
	level, err := zapcore.ParseLevel(s.LogLevel)
	if err != nil {
		return nil, fmt.Errorf("log level: %w", err)
	}
	cfg := zap.NewProductionConfig()
	if s.LogFormat == "text" {
		cfg = zap.NewDevelopmentConfig()
		cfg.EncoderConfig.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
		cfg.DisableCaller = true
	}
	cfg.Level = zap.NewAtomicLevelAt(level)
	cfg.Sampling = nil
	cfg.DisableStacktrace = true
	return cfg.Build()
}

// journal returns the path of the journal, after making its directory.
func (s storeSettings) journal() (string, error) {
	if err := os.MkdirAll(s.DataDir, 0o700); err != nil {
		return "", fmt.Errorf("make the data directory: %w", err)
	}
	return filepath.Join(s.DataDir, "journal.db"), nil
}

// url returns the URL that the card names, given where the API listens.
func (s apiSettings) url(listening net.Addr) (string, error) {
	if s.PublicURL == "" {
		return "http://" + listening.String(), nil
	}
	u, err := url.Parse(s.PublicURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("--public-url %q is not the URL of a server, such as https://agent.example.com", s.PublicURL)
	}
	return s.PublicURL, nil
}

// reach refuses addresses that others on the network could reach, unless that is
// wanted.
func (s apiSettings) reach() error {
	err := s.mayListen("--addr", s.Addr)
	if err == nil && s.GRPCAddr != "" {
		err = s.mayListen("--grpc-addr", s.GRPCAddr)
	}
	return err
}

// hosts returns the names by which the API may be called, nil for any. Who lets
// anyone in says by that, too, that its network may call it what it likes.
func (s apiSettings) hosts() []string {
	if s.AllowAnyone {
		return nil
	}
	names := []string{"localhost"}
	if u, err := url.Parse(s.PublicURL); err == nil && u.Hostname() != "" {
		names = append(names, strings.ToLower(u.Hostname()))
	}
	return names
}

func (s apiSettings) mayListen(flag, addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%s %q is not an address, such as 127.0.0.1:7420", flag, addr)
	}
	if !s.AllowAnyone && !local(net.JoinHostPort(host, "0")) {
		return fmt.Errorf("%s %q can be reached from outside, and nobody is asked who they are: use 127.0.0.1, or --allow-anyone if the network keeps others out", flag, addr)
	}
	return nil
}
