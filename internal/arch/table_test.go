package arch_test

// A room is a package and what it may import of ours. A name that ends in "/*"
// means everything below.
type room struct {
	name    string
	imports []string
	tests   []string // what its tests may import beside that, its own package and the testers
}

// subjects are the operations of the API. Their bindings may import all of them.
var subjects = []string{"api/call", "api/card", "api/read", "api/letter", "api/push", "api/stream", "api/work", "api/message", "api/gate", "api/schedule", "api/standing", "api/absence"}

// rooms is the table of AGENTS.md with more detail: the first room that matches a
// package is its room. Data goes one way through it.
var rooms = []room{
	{name: "a2a"},
	{name: "a2a/codec", imports: []string{"a2a"}}, // its JSON, for server, clients and the agents that we call
	{name: "opt", imports: []string{"a2a", "opt/worktime"}},
	{name: "opt/worktime"},                                             // counts working time, of the calendars in gates
	{name: "opt/shown", imports: []string{"a2a", "opt"}},               // the work as readers see it
	{name: "opt/outbox", imports: []string{"a2a", "opt", "opt/shown"}}, // what goes to receivers; notices contain the gate as shown
	{name: "opt/access", imports: []string{"a2a", "opt"}},              // keys, sessions and quotas
	{name: "opt/timetable", imports: []string{"a2a", "opt"}},           // what starts objectives at times
	{name: "opt/wire", imports: []string{"a2a", "opt", "opt/access", "opt/outbox", "opt/shown", "opt/standing", "opt/timetable"}}, // their JSON, for server and client
	{name: "opt/standing", imports: []string{"a2a", "opt"}},                                                                       // decisions about gates beforehand
	{name: "opt/fork", imports: []string{"a2a", "opt"}},                                                                           // new objectives from events of others
	{name: "opt/machine", imports: []string{"a2a", "opt"}, tests: []string{"opt/worktime"}},                                       // what objectives, plans and contexts do next
	{name: "opt/machine/drive", imports: []string{"a2a", "opt", "opt/machine"}},                                                   // carries out what they want
	{name: "opt/machine/sim", imports: []string{"a2a", "opt", "opt/machine", "opt/machine/drive", "opt/fork",
		"opt/worktime"}}, // a world without Temporal for them

	{name: "opt/rehearse", imports: []string{"a2a", "opt", "opt/access", "opt/machine", "opt/machine/drive"}, // an objective before it begins
		tests: []string{"activities", "activities/planner"}}, // whose plans it runs

	{name: "activities", imports: []string{"a2a", "opt", "opt/access", "opt/outbox", "opt/shown", "opt/timetable",
		"internal/egress",   // deliveries go to URLs of others; the classes of their errors
		"internal/tracing",  // the ids of traces, in logs
		"internal/schema"}}, // of questions of executors
	{name: "activities/planner", imports: []string{"a2a", "opt", "opt/timetable", "opt/worktime", "activities", "internal/egress",
		"internal/opfile",    // playbooks are YAML files, too
		"internal/schema",    // with schemas, whose mistakes have lines
		"activities/human",   // playbooks contain its tasks
		"activities/check",   // and checks of their results
		"activities/refuse"}, // the plan for requests that no skill takes
	},
	{name: "activities/check", imports: []string{"a2a", "opt", "activities", "internal/schema", "internal/condition"}}, // checks of objects
	{name: "activities/notice/noticetest"}, // a mail server for tests
	{name: "activities/notice", imports: []string{"a2a", "opt", "opt/outbox", "opt/shown", "activities", "internal/egress",
		"internal/opfile",   // the file of channels
		"internal/chatapp"}, // those at chat platforms
		tests: []string{"activities/notice/noticetest"}},
	{name: "activities/llm/llmtest"}, // a server of models and one of tools, for tests
	{name: "activities/llm", imports: []string{"a2a", "opt", "activities", "internal/schema",
		"a2a/codec",          // reads server-sent events
		"internal/tracing",   // its requests carry their trace
		"internal/egress",    // how long a busy server asks to wait
		"internal/opfile",    // the file of models
		"activities/planner", // playbooks, from which its planner may choose
		"activities/human",   // plans contain its tasks
		"activities/refuse"}, // the plan for requests that the model refuses
		tests: []string{"activities/llm/llmtest"}},
	{name: "activities/agent", imports: []string{"a2a", "opt", "activities", "internal/egress", "internal/opfile", "internal/schema",
		"a2a/codec",        // what agents send
		"internal/signing", // who has signed their cards
		"opt/wire"},        // answers to their gates
		tests: append([]string{"api/service"}, subjects...)},
	{name: "activities/served", imports: []string{"a2a", "opt", "activities",
		"a2a/codec",   // events of the SDK are what its server sends
		"opt/shown"}}, // what the journal has of the task
	{name: "activities/*", imports: []string{"a2a", "opt", "opt/worktime", "activities", "internal/egress",
		"internal/opfile",  // files with commands, endpoints and agents
		"internal/tracing", // programs that tasks start continue their trace
		"internal/schema"}, // of questions of plans
		tests: append([]string{"api/service"}, subjects...)}, // that takes the answers at their gates

	{name: "workflows", imports: []string{"a2a", "opt", "opt/outbox", "opt/shown", "opt/timetable", "opt/machine", "opt/machine/drive", "activities"},
		tests: []string{"worker", // tests run the activities as they are registered
			"internal/seal",          // encrypts payloads
			"activities/elsewhere"}}, // whose activities plans begin
	{name: "worker", imports: []string{"workflows", "activities",
		"opt", "opt/outbox"}}, // the names of push configs, which its dispatcher hands over

	{name: "api/call", imports: []string{"a2a", "opt", "opt/shown", "a2a/codec"}}, // the ground of all operations; violations and extensions
	{name: "api/card", imports: []string{"a2a", "opt", "api/call", "a2a/codec"}},
	{name: "api/read", imports: []string{"a2a", "opt", "opt/access", "opt/outbox", "opt/shown", "opt/wire", "api/call"}},
	{name: "api/write", imports: []string{"a2a", "opt", "opt/access", "opt/shown", "api/call"}},
	{name: "api/letter", imports: []string{"a2a", "opt", "opt/shown", "api/call",
		"internal/schema"}}, // of answers
	{name: "api/receive", imports: []string{"a2a", "opt", "api/call"}},
	{name: "api/push", imports: []string{"a2a", "a2a/codec", "opt", "opt/outbox", "opt/shown", "api/call", "api/read", "api/write"}},
	{name: "api/stream", imports: []string{"a2a", "opt", "opt/shown", "api/call", "api/read"}},
	{name: "api/work", imports: []string{"a2a", "opt", "opt/shown", "api/call", "api/read", "api/write",
		"opt/machine", // what a command may ask for
		"opt/fork"}},  // what a fork begins with
	{name: "api/message", imports: []string{"a2a", "opt", "opt/access", "opt/outbox", "opt/rehearse", "opt/shown", "api/call", "api/read", "api/write", "api/letter", "api/push", "api/stream"}},
	{name: "api/gate", imports: []string{"a2a", "opt", "opt/shown", "opt/wire", "api/call", "api/read", "api/letter", "api/message"}},
	{name: "api/schedule", imports: []string{"a2a", "opt", "opt/timetable", "opt/wire", "api/call", "api/read", "api/message", "api/work"}},
	{name: "api/standing", imports: []string{"a2a", "opt", "opt/shown", "opt/standing", "opt/wire", "api/call", "api/read",
		"internal/condition"}}, // that decisions have
	{name: "api/absence", imports: []string{"a2a", "opt", "opt/wire", "api/call", "api/read"}}, // in which deputies decide
	{name: "api/service", imports: []string{"a2a", "opt", "opt/access", "opt/outbox", "api/absence", "api/call", "api/card", "api/read", "api/write", "api/receive", "api/push", "api/stream", "api/work", "api/message", "api/gate", "api/schedule", "api/standing"}, // puts them together
		tests: []string{"internal/journal"}},
	{name: "api/operation", imports: append([]string{"api/service", "api/wire"}, subjects...)},                                                   // the table of all operations
	{name: "api/agui", imports: append([]string{"a2a", "opt", "opt/shown", "opt/wire", "api/service", "api/wire", "api/gateform"}, subjects...)}, // runs of AG-UI
	{name: "api", imports: append([]string{"a2a", "opt", "api/operation", "api/service", "api/wire", "api/agui",
		"internal/tracing"}, subjects...), // a request begins a trace, or continues the trace of its sender
		tests: []string{"internal/journal", "client", "opt/access", "opt/outbox", "opt/shown", "opt/standing", "opt/timetable"}},
	{name: "api/grpc", imports: append([]string{"a2a", "opt", "opt/outbox", "api/operation", "api/service",
		"internal/tracing",        // whose spans they end
		"api/wire"}, subjects...), // the reader of 1.0, and the names of faults
		tests: []string{"internal/journal",
			"api"}}, // what JSON-RPC answers to the same call
	{name: "api/identity/identitytest"}, // an OpenID Connect provider for tests
	{name: "api/identity", imports: append([]string{"a2a", "opt", "opt/access", "api/service"}, subjects...), // who calls, for both bindings
		tests: []string{"internal/journal", "api", "api/grpc"}}, // their answers to wrong credentials
	{name: "api/service/servicetest", imports: append([]string{"a2a", "opt", "opt/shown", "opt/timetable", "opt/machine", "api/service", // an engine for tests
		"internal/condition", // of standing decisions
		"internal/journal",   // which records in the real journal
		"internal/seal",      // which has a key for secrets
		"internal/test"}, subjects...)},
	{name: "api/answerpage", imports: append([]string{"a2a", "opt", "opt/access", "opt/outbox", "api/operation", "api/service", "api/gateform"}, subjects...), // HTML for those who have an answer link
		tests: []string{"api", "opt/shown", // which serves it; what its notices contain
			"internal/journal", "internal/signing"}}, // which makes the links
	{name: "api/gateform", imports: append([]string{"a2a", "opt", "opt/access", "opt/shown", "api/service", "internal/schema"}, subjects...)}, // for all that answers gates with forms
	{name: "api/chat", imports: append([]string{"a2a", "opt", "opt/shown", "api/operation", "api/service", "api/gateform", // answers of people at chat platforms
		"internal/chatapp"}, subjects...), // whose requests these are
		tests: []string{"api", "opt/access", "opt/outbox", "internal/journal", "internal/chatapp/teamstest"}},
	{name: "api/hook", imports: append([]string{"a2a", "opt", "api/operation", "api/service", "api/wire", // events of other systems
		"internal/opfile"}, subjects...), // the file of triggers
		tests: []string{"api"}},
	{name: "api/mcp", imports: append([]string{"a2a", "opt", "opt/shown", "api/operation", "api/service", "api/wire", "api/gateform"}, subjects...), // hosts of models
		tests: []string{"api"}},
	{name: "api/console", imports: append([]string{"a2a", "opt", "opt/access", "opt/rehearse", "opt/shown", "opt/standing", "opt/wire", "api/operation", "api/service", "api/gateform",
		"api/identity"}, subjects...), // the pages for people, and with what these sign in
		tests: []string{"api", // which serves them
			"internal/journal", "api/identity/identitytest",
			"internal/seal"}}, // which seals what browsers keep meanwhile
	{name: "api/callback", imports: append([]string{"a2a", "opt", "opt/wire", "api/operation", "api/service", "api/wire"}, subjects...)},                                                   // callbacks are read like messages on the wire
	{name: "api/wire", imports: append([]string{"a2a", "opt", "opt/access", "opt/fork", "opt/outbox", "opt/shown", "opt/timetable", "a2a/codec", "opt/wire", "api/service"}, subjects...)}, // JSON of the server
	{name: "api/*", imports: append([]string{"a2a", "opt", "api/service"}, subjects...)},
	{name: "client", imports: []string{"a2a", "opt", "opt/timetable", "a2a/codec", "opt/wire"}},

	{name: "internal/journal/db", imports: []string{"opt"}},                                    // the database under it
	{name: "internal/journal/absence", imports: []string{"a2a", "opt", "internal/journal/db"}}, // absences and their deputies
	{name: "internal/journal/record", imports: []string{"a2a", "opt", "opt/outbox", "internal/journal/db", // what writes events
		"internal/journal/absence"}}, // whose deputies get notices
	{name: "internal/journal/push", imports: []string{"a2a", "opt", "opt/outbox", "internal/journal/db"}},       // push configs and deliveries
	{name: "internal/journal/standing", imports: []string{"a2a", "opt", "opt/standing", "internal/journal/db"}}, // standing decisions and their uses
	{name: "internal/journal", imports: []string{"a2a", "opt", "opt/access", "opt/outbox", "opt/shown", "internal/journal/absence", "internal/journal/db", "internal/journal/record", "internal/journal/push", "internal/journal/standing"},
		tests: []string{"opt/standing", "opt/machine/sim", // whose events it stores
			"internal/seal",       // which seals its secrets
			"internal/pgserver"}}, // on which it is kept
	{name: "internal/needs", imports: []string{"internal/pgserver"}},                      // knows where PostgreSQL is
	{name: "internal/freeport"},                                                           // for servers that tests and tools start
	{name: "internal/child"},                                                              // runs these servers
	{name: "internal/pgserver", imports: []string{"internal/child", "internal/freeport"}}, // runs PostgreSQL, for tests and a topology of processes
	{name: "internal/seal"},                                                               // encrypts stored secrets
	{name: "internal/chatapp", imports: []string{"internal/egress"}, tests: []string{"internal/chatapp/teamstest"}}, // bots at chat platforms, for those who post and those who are answered
	{name: "internal/chatapp/teamstest"},                                          // a double of Teams for tests
	{name: "internal/condition", imports: []string{"a2a", "opt", "opt/standing"}}, // conditions on objects, in CEL
	{name: "internal/schema"},                                                     // answers of people
	{name: "internal/egress", imports: []string{"internal/tracing"}},              // requests carry their trace
	{name: "internal/test"},                                                       // what tests say most often
	{name: "internal/metrics"},                                                    // for Prometheus
	{name: "internal/tracing"},                                                    // OpenTelemetry
	{name: "internal/opfile", imports: []string{"opt"}},                           // YAML files of operators; durations in days
	{name: "internal/assume", imports: []string{"opt", "opt/access", "opt/rehearse", "internal/opfile"}}, // the file of a rehearsal
	{name: "internal/signing", imports: []string{"a2a", "opt", "opt/access", "opt/outbox", // signs deliveries
		"a2a/codec"}, // and cards
		tests: []string{"internal/journal", "internal/seal"}}, // which keep its keys
	{name: "internal/rebuild", imports: []string{"a2a", "opt", "opt/shown", // the journal, compared with Temporal
		"internal/journal", "workflows"}}, // whose histories contain the recorded events
	{name: "internal/lease", imports: []string{"activities"}, // the error of a lost worker
		tests: []string{"internal/journal", "internal/pgserver"}}, // the tables, and where they are
	{name: "internal/reconcile", imports: []string{"a2a", "opt", "opt/shown", "workflows"}}, // ends work in the journal that has no workflow
	{name: "internal/arch"},
	{name: "internal/witness"}, // judges what clients have seen: it may not know the product
	{name: "internal/prove", imports: []string{"internal/witness"}, tests: []string{"internal/freeport"}}, // a client of any A2A server: it may not know ours
	{name: "internal/cli/scaffold"},                             // the source of a new program
	{name: "internal/cli/completion"},                           // scripts for shells
	{name: "internal/cli/manual"},                               // manual pages
	{name: "internal/process", imports: []string{"a2a", "opt"}}, // what all commands share
	{name: "internal/namespace", imports: []string{"a2a", "opt", "activities", "worker", "workflows", "internal/process",
		"internal/seal"}}, // the keys of payloads
	{name: "internal/serve", imports: []string{ // puts processes together
		"internal/process", "internal/namespace", "internal/reconcile", "internal/lease", "internal/opfile", "internal/condition",
		"a2a", "opt", "opt/access", "opt/outbox", "opt/rehearse", "opt/timetable", "activities", "activities/*", "workflows", "worker", "api", "api/*", "internal/journal", "internal/egress", "internal/signing", "internal/seal",
		"internal/metrics", "internal/tracing", "internal/chatapp"}},
	{name: "internal/operate", imports: []string{"a2a", "opt", "opt/access", "workflows", "internal/process", "internal/namespace", "internal/journal",
		"internal/serve", // where the journal is
		"internal/rebuild", "internal/reconcile",
		"api/call", "api/identity"}}, // the scopes and the form of API keys
	{name: "internal/commands", imports: []string{"a2a", "opt", "opt/access", "opt/shown", "opt/timetable", "client", "internal/process", "internal/prove",
		"opt/rehearse", "internal/assume", // rehearsals, and the files for them
		"internal/signing", // checks the signatures of decisions
		"internal/schema"}, // to send texts of people as JSON where a question takes no text
		tests: []string{"internal/journal", "internal/seal"}}, // that sign them
	{name: "internal/cli", imports: []string{ // all commands, and those about the program itself
		"internal/cli/scaffold", "internal/cli/completion", "internal/cli/manual",
		"internal/process", "internal/namespace", "internal/serve", "internal/operate", "internal/commands",
		"internal/opfile"}}, // mistakes in the configuration file

	{name: ".", imports: []string{"internal/cli", "internal/serve", // the public API for custom programs, on their seam
		"a2a", "activities", "api/card", "api/message", "opt/rehearse", // whose types are in it
		"activities/served"}}, // runs an agent of the official SDK
	{name: "examples/llm/standin", imports: []string{"activities/llm/llmtest"}}, // stands in for a model and a server of tools
	{name: "docs", tests: []string{"api/operation", "api/call"}},                // its tests compare the documents with the code
	{name: "docs/schemas", tests: []string{"a2a", "opt", "opt/wire"}},           // made from these types
	{name: "cmd/longhaul", imports: []string{"."}},
	{name: "examples/*", imports: []string{".", "a2a", "opt", "opt/rehearse", "activities", "activities/*", "dev/temporald"}}, // modules of their own: the packages that custom programs may import
	{name: "dev", imports: []string{".", "dev/*"}},
	{name: "dev/e2e", imports: []string{"*"}}, // the whole service against the embedded server
	{name: "dev/e2e/*", imports: []string{"*"}},
	{name: "dev/cmd/bench", imports: []string{"*"}},                                                     // measures it
	{name: "dev/cmd/record", imports: []string{"*"}},                                                    // runs every shape of work and keeps its history
	{name: "dev/cmd/recording", imports: []string{"dev/binary", "internal/child", "internal/freeport"}}, // runs the program and draws what it prints
	{name: "dev/scripted", imports: []string{"a2a", "opt", "activities", "api/card", "api/message"}, // an agent and its executor
		tests: []string{"dev/e2e/harness"}},
	{name: "deploy/release"},    // makes the published files of programs, in a module of its own
	{name: "deploy/helm/check"}, // renders the Helm chart, in a module of its own
	{name: "dev/binary"},        // builds programs
	{name: "dev/topology", imports: []string{"dev/binary", "internal/child", "internal/needs", "internal/pgserver"}}, // docker-compose.yml as plain processes
	{name: "dev/proof/power", imports: []string{"internal/needs"}, // disks that lose their power
		tests: []string{"internal/seal"}}, // the key must survive that
	{name: "dev/temporald/layout"}, // the configuration of Temporal that it shares with dev/e2e/cluster
	{name: "dev/*", imports: []string{".", "dev/*", "dev/temporald/layout", "internal/child"}},
}

// testers are the rooms that any test may import: what tests say most often, the programs
// that they need, the suite for executors, the executors that serve as test doubles, and
// the engine for tests of the API.
var testers = []string{"internal/test", "internal/needs", "activities/executortest", "activities/echo", "activities/human",
	"api/service/servicetest"}

// owners says which rooms may use each technology. Other rooms use those rooms.
var owners = map[string][]string{
	"go.temporal.io/sdk": {"workflows", "activities", "worker", "internal/namespace", "internal/serve", "internal/operate", "internal/rebuild", "dev", "dev/*", "examples/*",
		"internal/metrics"}, // the SDK's own
	"go.temporal.io/api":              {"workflows", "internal/namespace", "internal/lease", "internal/serve", "internal/rebuild", "dev", "dev/*", "examples/*"},
	"go.temporal.io/server":           {"dev/temporald", "dev/temporald/layout", "dev/e2e/cluster", "dev/e2e/faulty"}, // in the program, as operators run it, and with faults in its database
	"github.com/temporalio/ui-server": {"dev/temporald"},
	"go.uber.org/fx":                  {"dev/temporald", "dev/stubs/workers/wci/client", "dev/stubs/workers/wci/workercomponent"}, // the server is put together with it
	"github.com/hanwen/go-fuse":       {"dev/proof/power"},
	"github.com/compose-spec":         {"dev/topology"},    // reads docker-compose.yml
	"github.com/chromedp":             {"dev/e2e/console"}, // a browser for the console

	"github.com/google/go-containerregistry": {"deploy/release"}, // images without Docker
	"github.com/CycloneDX":                   {"deploy/release"}, // the form of SBOMs
	"golang.org/x/crypto/x509roots":          {"deploy/release"}, // the authorities in the image

	"github.com/labstack/echo": {"api"},

	"github.com/anishathalye/porcupine": {"internal/witness"}, // decides whether an order of calls explains their results

	"github.com/yuin/goldmark":         {"api/console"},                      // Markdown in objects of gates
	"github.com/aymanbagabas/go-udiff": {"api/console", "internal/commands"}, // how an object differs from the former one, and a result from that of a fork

	"database/sql":       {"internal/journal/db", "internal/journal", "dev/temporald", "dev/e2e", "dev/e2e/*", "dev/cmd/bench"}, // the server keeps its own database; tests read its remains after a crash
	"modernc.org/sqlite": {"internal/journal/db", "internal/journal", "dev/temporald", "dev/e2e", "dev/e2e/*", "dev/cmd/bench"},
	"github.com/jackc/pgx": {"internal/journal/db", "internal/pgserver", "dev/e2e/crash", "dev/e2e/operator", "dev/cmd/bench",
		"internal/lease"}, // whose lock needs a connection that does nothing else
	"github.com/pressly/goose": {"internal/journal"},
	// Alone: a configuration library beside it would be a second list of the settings.
	"github.com/alecthomas/kong": {"internal/process", "internal/cli", "internal/cli/*", // whose model of the commands scripts and pages show
		"internal/serve", "internal/operate", "internal/commands"}, // their tests, which parse their own commands
	"golang.org/x/mod":              {"internal/cli/scaffold", "internal/arch", "dev/topology"}, // reads and writes go.mod; compares versions
	"github.com/mattn/go-runewidth": {"internal/process", "internal/commands", "api/console"},   // the width of text on a terminal and in drawings
	"github.com/dustin/go-humanize": {"api/console"},                                            // sizes for people
	"golang.org/x/term":             {"internal/process"},                                       // the size of a terminal
	"github.com/creack/pty":         {"internal/serve", "internal/commands", "internal/cli"},    // pseudo-terminals in their tests

	"github.com/modelcontextprotocol/go-sdk": {"activities/*", "examples/llm/standin", "api/mcp"},
	"github.com/getkin/kin-openapi":          {"api"}, // its tests read the description of the API
	"github.com/go-jose/go-jose": {"internal/signing", "dev/e2e/push", // which verifies as a receiver does
		"internal/chatapp", "internal/chatapp/teamstest"}, // tokens of the Bot Framework, whose keys have members that an OpenID Connect client ignores
	"github.com/gowebpki/jcs":                  {"a2a"},                                    // the canonical form under digests
	"github.com/santhosh-tekuri/jsonschema":    {"internal/schema", "api", "docs/schemas"}, // of the card and the API, in tests
	"github.com/coreos/go-oidc":                {"api/identity", "api/identity/identitytest"},
	"golang.org/x/oauth2":                      {"api/identity", "internal/chatapp"},    // sign-in of people; tokens of bots
	"go.opentelemetry.io":                      {"internal/tracing", "dev/e2e/observe"}, // which receives traces
	"go.temporal.io/sdk/contrib/opentelemetry": {"internal/tracing"},
	"go.temporal.io/sdk/interceptor":           {"workflows", "internal/tracing"},
	"github.com/prometheus/client_golang":      {"internal/metrics"},
	"github.com/a2aproject/a2a-go/v2/a2apb":    {"api/grpc", "api/identity", "internal/signing", "dev/e2e", "dev/e2e/*"}, // the generated service: we use only its messages; a canonical card is made from one
	"google.golang.org/grpc":                   {"api/grpc", "api/identity", "workflows", "internal/lease", "dev/*"},     // in api/identity in tests; in workflows and internal/lease for the connection to Temporal
	"google.golang.org/grpc/codes":             {"api/grpc", "api/identity", "workflows", "internal/lease", "dev/*"},     // of Temporal's answers, not all of which have their own error
	"github.com/a2aproject/a2a-go/v2/a2asrv":   {".", "activities/served", "dev/e2e", "dev/e2e/*"},                       // agents that are written for it
	"github.com/a2aproject/a2a-go/v2/a2a":      {"activities/served", "dev/e2e", "dev/e2e/*"},                            // their types
	"github.com/a2aproject":                    {"dev/e2e", "dev/e2e/*"},                                                 // the official clients are counterparts in tests
	"github.com/google/uuid":                   {"dev/temporald"},
	"github.com/wneessen/go-mail":              {"activities/notice"}, // messages over SMTP
	"github.com/stretchr/testify":              nil,
	"github.com/golang/mock":                   nil,
}

// pure are the rooms without side effects: they import only the standard library
// and pureToo, and nothing from the former that reads a clock, makes random numbers, shares memory or
// does input or output.
var pure = []string{"a2a", "opt", "opt/worktime", "opt/shown", "opt/outbox", "opt/access", "opt/standing", "opt/timetable", "opt/fork", "opt/machine", "opt/machine/drive"}

// pureToo are packages of others without side effects.
var pureToo = []string{"github.com/gowebpki/jcs"}

// outside are the packages of the standard library that pure rooms may not
// import.
var outside = []string{
	"bufio", "context", "crypto/rand", "database/*", "embed", "io/*", "log", "log/*", "math/rand", "math/rand/*", "net", "net/*", "os", "os/*", "plugin",
	"runtime", "runtime/*", "sync", "sync/*", "syscall", "testing", "unsafe",
}

// deterministic are the rooms whose code runs in workflows, where a replay must
// do the same.
var deterministic = []string{"a2a", "opt", "opt/worktime", "opt/shown", "opt/outbox", "opt/access", "opt/standing", "opt/timetable", "opt/fork", "opt/machine", "opt/machine/drive", "workflows"}

// clocks are the functions of package time that deterministic rooms may not use.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// chance are the packages that deterministic rooms may not import.
var chance = []string{"math/rand", "math/rand/*", "crypto/rand", "github.com/google/uuid", "github.com/gofrs/uuid", "github.com/a2aproject/*"}

// vague are names that do not say what a package is for.
var vague = []string{"util", "utils", "common", "types", "models", "helpers", "pkg", "misc", "base"}

// Sizes in lines.
const (
	maxFile     = 600
	maxFunction = 60
)

// A type with methods in more files does too much; a function with more parameters needs
// a struct.
const (
	maxFiles      = 3
	maxParameters = 5
)
