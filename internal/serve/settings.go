package serve

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"longhaul/api/read"
	"longhaul/internal/process"
	"longhaul/opt"
	"longhaul/opt/access"
	"longhaul/worker"
)

// logSettings configure the log.
type logSettings struct {
	LogLevel  string `help:"What to log: debug, info, warn or error." enum:"debug,info,warn,error" default:"info" env:"LONGHAUL_LOG_LEVEL" common:""`
	LogFormat string `help:"How to log: text or json." enum:"text,json" default:"text" env:"LONGHAUL_LOG_FORMAT"`
}

// apiSettings say how the API serves.
type apiSettings struct {
	authSettings   `group:"Callers"`
	cardSettings   `group:"Agent card"`
	linkSettings   `group:"Notices"`
	pushSettings   `group:"Push notifications"`
	limitSettings  `group:"Limits"`
	Addr           string        `help:"Address at which to serve A2A." default:"127.0.0.1:7420" env:"LONGHAUL_ADDR" placeholder:"HOST:PORT" common:""`
	GRPCAddr       string        `name:"grpc-addr" help:"Address at which to serve A2A 1.0 over gRPC; empty for none." default:"" env:"LONGHAUL_GRPC_ADDR" placeholder:"HOST:PORT"`
	PublicGRPCAddr string        `name:"public-grpc-addr" help:"Address of gRPC on the agent card; the default is made from --grpc-addr and --public-url." env:"LONGHAUL_PUBLIC_GRPC_ADDR" placeholder:"HOST:PORT"`
	Agent          string        `help:"Agent that decides about messages: playbooks, or another agent that is built into the program." default:"playbooks" env:"LONGHAUL_AGENT"`
	Triggers       string        `help:"File with the triggers by which events of GitHub, Stripe, Alertmanager and others start work; see docs/doors.md. SIGHUP reloads it." env:"LONGHAUL_TRIGGERS" placeholder:"FILE"`
	Idempotency    string        `help:"Which sends are repeats: those with the same message id or Idempotency-Key header (message-id), those with the same header (header), or none (off)." enum:"message-id,header,off" default:"message-id" env:"LONGHAUL_IDEMPOTENCY"`
	NoStreaming    bool          `help:"Refuse streaming calls, for networks that cut streams and for conformance kits." env:"LONGHAUL_NO_STREAMING"`
	NoConsole      bool          `name:"no-console" help:"Do not serve the pages for people under /console." env:"LONGHAUL_NO_CONSOLE"`
	TestSeams      bool          `name:"test-seams" help:"Serve the seams of the OpenWOP conformance suite under /v1/host/sample. Only for tests." env:"OPENWOP_TEST_SEAMS"`
	Lenient        bool          `name:"lenient-version" help:"Accept A2A 1.0 method names without an A2A-Version header." env:"LONGHAUL_LENIENT_VERSION"`
	Origins        []string      `help:"Origins of web pages that may call the API, such as https://app.example.com, or *." env:"LONGHAUL_ORIGINS" placeholder:"ORIGIN"`
	Hosts          []string      `help:"Host names under which clients reach the API, beside those of --addr and --public-url, localhost, and all IP addresses; * for any." env:"LONGHAUL_HOSTS" placeholder:"NAME"`
	Required       []string      `name:"require-extension" help:"URIs of required extensions: calls that do not name them are refused." env:"LONGHAUL_REQUIRE_EXTENSION" placeholder:"URI"`
	BlockingWait   time.Duration `help:"How long a blocking send waits for the work." default:"25s" env:"LONGHAUL_BLOCKING_WAIT"`
	ReplyWait      time.Duration `help:"How long a reply waits for its verdict." default:"5s" env:"LONGHAUL_REPLY_WAIT"`
	CancelWait     time.Duration `help:"How long a cancel waits for the work to stop." default:"5s" env:"LONGHAUL_CANCEL_WAIT"`
	CallTimeout    time.Duration `help:"How long one call of Temporal may take." default:"10s" env:"LONGHAUL_CALL_TIMEOUT"`
	DrainDelay     time.Duration `help:"How long a process that gets a signal to stop continues to serve while it reports that it is not ready, so that load balancers send requests elsewhere before it stops." default:"0s" env:"LONGHAUL_DRAIN_DELAY"`
	TemporalUIURL  string        `name:"temporal-ui-url" help:"URL of Temporal's UI, such as https://temporal.example.com: tasks and runs then show the page of their workflow. In dev, the default is that of the embedded one." env:"LONGHAUL_TEMPORAL_UI_URL" placeholder:"URL"`
	TraceURL       string        `name:"trace-url" help:"URL that finds the traces of an objective, with {id} for its id, such as https://traces.example.com/search?tag=longhaul.objective_id%3D{id}: tasks then show it." env:"LONGHAUL_TRACE_URL" placeholder:"URL"`
}

// cardSettings are what the agent card says about the agent.
type cardSettings struct {
	AgentName     string `help:"Name on the agent card." default:"${agent}" env:"LONGHAUL_AGENT_NAME"`
	Provider      string `help:"Organization that runs the agent, for the agent card; needs --provider-url." env:"LONGHAUL_PROVIDER" placeholder:"NAME"`
	ProviderURL   string `name:"provider-url" help:"Page of that organization." env:"LONGHAUL_PROVIDER_URL" placeholder:"URL"`
	Documentation string `name:"documentation-url" help:"Page that documents the agent, for the agent card." env:"LONGHAUL_DOCUMENTATION_URL" placeholder:"URL"`
}

// check refuses settings of the card that clients cannot use.
func (s cardSettings) check() error {
	var wrong []error
	if (s.Provider == "") != (s.ProviderURL == "") {
		wrong = append(wrong, process.Usagef("--provider and --provider-url belong together: the agent card shows both"))
	}
	for flag, url := range map[string]string{"provider-url": s.ProviderURL, "documentation-url": s.Documentation} {
		if url != "" && !process.IsServer(url) {
			wrong = append(wrong, process.Usagef("--%s must be the URL of a page, such as https://example.com", flag))
		}
	}
	return errors.Join(wrong...)
}

// limitSettings bound one objective, one context and one request.
type limitSettings struct {
	MaxQueue      int           `help:"Objectives that may wait for their turn in one context." default:"9999" env:"LONGHAUL_MAX_QUEUE"`
	MaxPlans      int           `help:"Plans that one objective may have, not counting those that were skipped." default:"10" env:"LONGHAUL_MAX_PLANS"`
	MaxPlanTasks  int           `help:"Tasks that one plan may have." default:"50" env:"LONGHAUL_MAX_PLAN_TASKS"`
	MaxParallel   int           `help:"Tasks of one plan, or plans of one objective, that run at a time where dependencies are declared." default:"4" env:"LONGHAUL_MAX_PARALLEL"`
	TaskTimeout   time.Duration `help:"How long one attempt at a task may take, unless the task has a timeout." default:"30m" env:"LONGHAUL_TASK_TIMEOUT"`
	GateTimeout   time.Duration `help:"After how long a question to a person expires, unless its task says what happens while it waits: an approval counts as rejected, other tasks fail. 0 for never." default:"0" env:"LONGHAUL_GATE_TIMEOUT"`
	WorkerTimeout time.Duration `help:"After how long without a sign of life a worker counts as lost, so that its tasks run on another one. More for machines that may be overloaded for that long." default:"30s" env:"LONGHAUL_WORKER_TIMEOUT"`
	IdleTTL       time.Duration `name:"idle-ttl" help:"After how long an objective that was not started is canceled; 0 for never." default:"720h" env:"LONGHAUL_IDLE_TTL"`
	MaxBody       int64         `help:"Largest request, in bytes." default:"16777216" env:"LONGHAUL_MAX_BODY"`
}

// limits returns the limits of one objective.
func (s limitSettings) limits() opt.Limits {
	return opt.Limits{
		Plans: s.MaxPlans, Tasks: s.MaxPlanTasks, Parallel: s.MaxParallel, Timeout: max(1, int(s.TaskTimeout/time.Second)),
		GateTimeout: int(s.GateTimeout / time.Second), WorkerTimeout: int(s.WorkerTimeout / time.Second),
	}
}

// links returns the links to pages for operators. ui is the URL of the UI in this process,
// "" for none.
func (s apiSettings) links(ui, namespace string) (read.Links, error) {
	if s.TemporalUIURL != "" && !process.IsServer(s.TemporalUIURL) {
		return read.Links{}, process.Usagef("--temporal-ui-url %q is not the URL of a page, such as https://temporal.example.com", s.TemporalUIURL)
	}
	at, err := url.Parse(s.TraceURL)
	if s.TraceURL != "" && (err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" || !strings.Contains(s.TraceURL, read.TraceID)) {
		return read.Links{}, process.Usagef("--trace-url %q is not a URL with {id}, such as https://traces.example.com/search?tag=longhaul.objective_id%%3D{id}", s.TraceURL)
	}
	return read.Links{UI: cmp.Or(s.TemporalUIURL, ui), Namespace: namespace, Traces: s.TraceURL}, nil
}

// check refuses limits that are too low, or too high.
func (s limitSettings) check() error {
	var wrong []error
	for _, l := range []struct {
		flag  string
		value int
	}{{"max-plans", s.MaxPlans}, {"max-plan-tasks", s.MaxPlanTasks}, {"max-parallel", s.MaxParallel}, {"task-timeout", int(s.TaskTimeout)}} {
		if l.value <= 0 {
			wrong = append(wrong, process.Usagef("--%s must be above 0", l.flag))
		}
	}
	if s.GateTimeout != 0 && (s.GateTimeout < time.Second || s.GateTimeout > opt.MaxStepAfter*time.Second) {
		wrong = append(wrong, process.Usagef("--gate-timeout must be 0 for never, or between 1s and 8784h (366 days)"))
	}
	if s.WorkerTimeout < 2*time.Second || s.WorkerTimeout > 10*time.Minute { // workers report once a second
		wrong = append(wrong, process.Usagef("--worker-timeout must be between 2s and 10m"))
	}
	return errors.Join(wrong...)
}

// workSettings say how work is planned and done. The API and the worker both need
// them.
type workSettings struct {
	Playbooks []string `help:"Playbook files or directories, which replace the playbooks of the program. SIGHUP reloads them." env:"LONGHAUL_PLAYBOOKS" type:"path" placeholder:"PATH" common:""`
	Calendars string   `help:"File with working hours and holidays of groups, for questions that wait in working time; see docs/decide.md. SIGHUP reloads it. The API and the workers need the same." env:"LONGHAUL_CALENDARS" placeholder:"FILE"`
	Planner   string   `help:"Planner of messages that no playbook takes: playbooks for none, llm for the one of --models, or another one that the program has. Without it, the one of --models if there is one. The API and the workers need the same." env:"LONGHAUL_PLANNER" placeholder:"NAME"`
	Agents    string   `help:"File with the agents to which tasks with the executor agent may be handed over; see docs/handoffs.md. Without it and --front there is no such executor. The API needs it for --front alone, and without the variables that it names." env:"LONGHAUL_AGENTS" placeholder:"FILE" common:""`
	Front     string   `help:"Stand in front of an A2A agent: hand over to it, as they are, all messages that no playbook takes. Its URL, or its name in the file of --agents. The API and the workers need the same." env:"LONGHAUL_FRONT" placeholder:"URL"`
	Models    string   `help:"File with the models and tools that tasks with the executor llm may use, and with the planner llm; see docs/llm.md. Without it there are none. The API and the workers need the same; only the workers need the variables that it names." env:"LONGHAUL_MODELS" placeholder:"FILE" common:""`
	MaxEvents int      `help:"Events of history after which a workflow continues as new; 0: Temporal decides." default:"0" env:"LONGHAUL_MAX_EVENTS"`
	Echo      bool     `help:"Offer the executor echo, which does what the text of a task says, with its skill and the demo playbook, unless there are other playbooks: for trials. Clients can then hold slots for an hour and send any question to the people here. In dev it is always on. The API and the workers need the same." env:"LONGHAUL_ECHO"`
	Usual     string   `name:"default-executor" help:"Executor of tasks that name none, such as those in plans of clients: llm, shell, http … or one that the program has. Without it the default of the program, else echo if it is on; if there is none, plans of clients with tasks are refused. The API and the workers need the same." env:"LONGHAUL_DEFAULT_EXECUTOR" placeholder:"NAME"`
	Fallback  string   `help:"What becomes of messages that no skill takes: they are rejected (reject), or the default executor does them (echo), which needs --echo and only repeats them: for tests. The API and the workers need the same." enum:"reject,echo" default:"reject" env:"LONGHAUL_FALLBACK"`
	Quotas    []string `name:"quota" help:"How much of something one tenant may use, as QUOTA=N, or TENANT:QUOTA=N for one tenant alone; repeatable, 0 for no limit. The quotas are open-objectives, open-gates, stored-bytes, running-tasks (in one worker), notices-per-hour, and such as cost-per-day=50, time-per-month=90h and context-calls-in-all=9; see docs/operations.md for all and the defaults. With --auth none the API has no defaults; longhaul worker always has them. The API and the workers need the same." env:"LONGHAUL_QUOTA" placeholder:"QUOTA=N"`

	sameIDs bool // several messages may have one id: it is no key of the API
}

// quotas returns the limits of tenants: those of the settings, and defaults where callers are
// authenticated. By default a tenant leaves a quarter of the tasks of a worker to others.
func (s workSettings) quotas(authenticated bool, maxTasks int) (access.Quotas, error) {
	var q access.Quotas
	var err error
	if authenticated {
		q, err = access.DefaultQuotas().With(fmt.Sprintf("%s=%d", access.RunningTasks, max(1, maxTasks*3/4)))
	}
	if err == nil {
		q, err = q.With(s.Quotas...)
	}
	if err != nil {
		return q, process.Usagef("--quota %v", err)
	}
	return q, nil
}

// workerSettings say how a worker works.
type workerSettings struct {
	Queues         []string      `help:"What this worker serves: work (workflows and their tasks), record (events, for the journal), push (deliveries). Each needs a worker somewhere." enum:"work,record,push" default:"work,record,push" env:"LONGHAUL_QUEUES" placeholder:"QUEUE"`
	MaxTasks       int           `help:"Tasks that one worker runs at a time." default:"200" env:"LONGHAUL_MAX_TASKS"`
	Limits         []string      `name:"limit" help:"Tasks of one kind of executor that one worker runs at a time, such as llm=5; repeatable. Others of the kind wait in the worker, in the time that their attempt has." env:"LONGHAUL_LIMIT" placeholder:"KIND=N"`
	MaxPushes      int           `help:"Deliveries to webhooks that one worker makes at a time." default:"100" env:"LONGHAUL_MAX_PUSHES"`
	WorkflowMemory string        `help:"Memory for workflows that wait, such as 100MiB; those beyond it are replayed when something arrives. Without it a quarter of the limit of the process (GOMEMLIMIT, its container, the machine), 192MiB at most. All is given back after 30 s without work." env:"LONGHAUL_WORKFLOW_MEMORY" placeholder:"BYTES"`
	Commands       string        `help:"File with the commands that tasks with the executor shell may run; see docs/executors.md. Without it there is no such executor." env:"LONGHAUL_COMMANDS" placeholder:"FILE" common:""`
	Endpoints      string        `help:"File with the web services that tasks with the executor http may call; see docs/executors.md. Without it there is no such executor." env:"LONGHAUL_ENDPOINTS" placeholder:"FILE"`
	StopAfter      time.Duration `help:"How long running tasks may continue when a worker stops." default:"10s" env:"LONGHAUL_STOP_AFTER"`
}

// queues returns the queues that the worker serves.
func (s workerSettings) queues() []worker.Queue {
	var out []worker.Queue
	for _, q := range s.Queues {
		out = append(out, worker.Queue(q))
	}
	return out
}

// limits returns how many tasks of each kind of executor run at a time. known lists all kinds.
func (s workerSettings) limits(known []string) (map[string]int, error) {
	out := map[string]int{}
	for _, limit := range s.Limits {
		kind, text, _ := strings.Cut(limit, "=")
		n, err := strconv.Atoi(text)
		switch {
		case err != nil || n <= 0:
			return nil, process.Usagef("--limit %q is not KIND=N with N above 0, such as llm=5", limit)
		case !slices.Contains(known, kind):
			return nil, process.Usagef("--limit %q: this worker has the executors %s", limit, strings.Join(known, ", "))
		}
		out[kind] = n
	}
	return out, nil
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

// url returns the URL for the card, given the address at which the API listens.
func (s apiSettings) url(listening net.Addr) (string, error) {
	if s.PublicURL == "" {
		return s.scheme() + "://" + listening.String(), nil
	}
	if !process.IsServer(s.PublicURL) {
		return "", errPublicURL(s.PublicURL)
	}
	return s.PublicURL, nil
}

func errPublicURL(rawURL string) error {
	return process.Usagef("--public-url %q is not the URL of a server, such as https://agent.example.com", rawURL)
}

// check refuses settings that cannot be meant.
func (s apiSettings) check() error {
	return errors.Join(s.checkAccess(), s.cardSettings.check(), s.limitSettings.check())
}

// checkAccess refuses settings of authentication that contradict each other, and
// addresses outside loopback at which callers are not authenticated.
func (s apiSettings) checkAccess() error {
	if err := s.checkAuth(); err != nil {
		return err
	}
	if s.OIDCClientID != "" && s.PublicURL == "" && allInterfaces(s.Addr) {
		return process.Usagef("--oidc-client-id needs --public-url: the provider sends browsers back to it")
	}
	err := s.checkListen("--addr", s.Addr)
	if err == nil && s.GRPCAddr != "" {
		err = s.checkListen("--grpc-addr", s.GRPCAddr)
	}
	return err
}

// hosts returns the host names that requests may use, nil for any.
func (s apiSettings) hosts() []string {
	names := []string{"localhost"}
	if u, err := url.Parse(s.PublicURL); err == nil {
		names = append(names, u.Hostname())
	}
	if name, _, err := net.SplitHostPort(s.Addr); err == nil {
		names = append(names, name)
	}
	names = append(names, s.Hosts...)
	if slices.Contains(names, "*") {
		return nil
	}
	for i, name := range names {
		names[i] = strings.ToLower(strings.TrimSuffix(name, "."))
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
