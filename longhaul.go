// Package longhaul is the API for programs with executors of their own: all of Longhaul,
// an A2A agent server with durable tasks, as one function.
//
//	//go:embed playbooks
//	var playbooks embed.FS
//
//	func main() {
//		longhaul.Main(longhaul.Program{
//			Name:      "press",
//			Executors: map[string]longhaul.Executor{"publish": publish.Executor{Dir: "public"}},
//			Playbooks: playbooks,
//			Embed:     temporald.Embed,
//		})
//	}
//
// The program has every command of longhaul: "dev" runs everything in one process, "api"
// and "worker" the parts beside a Temporal that runs elsewhere, and "send", "inbox" and
// "answer" are a client.
//
// Work is done by executors, of package [longhaul/activities], and playbooks say which
// messages lead to which work: see docs/executors.md and docs/playbooks.md. Package
// [longhaul/activities/executortest] tests an executor. Only a program with Embed has
// "dev", and is large; package [longhaul/dev/temporald], a module of its own, has the
// Temporal server for it. The command "new" of longhaul writes such a program.
package longhaul

import (
	"context"
	"io"
	"io/fs"
	"maps"
	"os"

	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/served"
	"longhaul/api/card"
	"longhaul/api/message"
	"longhaul/internal/cli"
	"longhaul/internal/serve"
	"longhaul/opt/rehearse"
)

// A Program has the settings of a custom program. The zero value is longhaul itself.
type Program struct {
	Name        string // of the program in its texts, and of the agent unless --agent-name is given; "" means longhaul
	Version     string // of the program and on the agent card; "" means Longhaul's
	Description string // of the agent, on its card; "" describes Longhaul

	Executors map[string]Executor  // added to shell and the others of every program, or in place of those; by the name for playbooks
	Serves    a2asrv.AgentExecutor // an agent for the server of the official Go SDK: does all messages that no playbook takes, as the executor "served"; nil for none
	Skills    []Skill              // of Serves, for the card; nil for one skill that takes every message
	Default   string               // name of the executor of tasks that name none; "" means echo where that is on (dev, --echo), and elsewhere such tasks are refused
	Playbooks fs.FS                // whose *.yaml files replace the bundled playbook, unless --playbooks is given; nil for none
	Planners  map[string]Planner   // plan messages that no playbook takes, if --planner names one of them
	Agents    map[string]Agent     // decide about messages in place of playbooks, if --agent names one of them

	Embed Embed // starts a Temporal server in the process, for the commands dev and temporal; nil for a program without them
}

// An Executor runs one kind of task.
type Executor = activities.Executor

// A Planner turns a message that no playbook takes into plans. If it has the method
// Skills() [][Skill], the agent card has those, too.
type Planner = activities.Planner

// An Agent decides about messages that begin tasks, and knows the skills for the agent
// card. Many goroutines use an Agent at once.
type Agent interface {
	Decide(ctx context.Context, m a2a.Message) (Decision, error)
	Skills() []Skill
}

// A Decision is the decision of an agent about a message: an answer, or plans. Without either
// the planner of the workers makes the plans.
type Decision = message.Decision

// A Skill is an entry of the agent card.
type Skill = card.Skill

// An Embed starts a Temporal server in the process. Package longhaul/dev/temporald has
// one.
type (
	Embed       = serve.Embed
	EmbedConfig = serve.EmbedConfig
	Embedded    = serve.Embedded
)

// Serve runs an agent that was written for the server of the official Go SDK of A2A, as it is: it is
// Main for a program with nothing else. See docs/handoffs.md.
func Serve(agent a2asrv.AgentExecutor) { Main(Program{Serves: agent}) }

// Main runs the program with the arguments of the process and ends the process with its
// exit code. SIGINT and SIGTERM stop it in order, a second one at once; SIGHUP reloads the
// files of --playbooks.
func Main(p Program) {
	b := p.build()
	b.Called = os.Args[0]
	os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdout, os.Stderr, b))
}

// Run runs the program with args until it has ended or ctx is done, and returns its exit
// code. It is Main for tests.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer, p Program) int {
	return cli.Run(ctx, args, stdout, stderr, p.build())
}

// Check returns the mistakes in the playbooks of p, by file and line, and executors that
// they name and the program does not have. It starts nothing, so it is for tests.
// others are executors that flags add, such as shell or echo.
func (p Program) Check(others ...string) error { return p.build().Check(others...) }

// Rehearse runs the work of a message with the text as it is assumed to go, in no time: the real planner
// and rules, without executors, people and a server. It is for tests of playbooks.
func (p Program) Rehearse(text string, a rehearse.Assumptions) (*rehearse.Report, error) {
	plan, _, err := p.build().Rehearsing("", "")
	if err != nil {
		return nil, err
	}
	return rehearse.Run(plan, a2a.Message{MessageID: "rehearsal", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(text)}}, a)
}

func (p Program) build() serve.Build {
	agents := map[string]serve.Agent{}
	for name, agent := range p.Agents {
		agents[name] = agent
	}
	executors := p.Executors
	if p.Serves != nil {
		executors = map[string]Executor{served.Kind: served.Executor{Agent: p.Serves}}
		maps.Copy(executors, p.Executors)
	}
	return serve.Build{
		Name: p.Name, Version: p.Version, Description: p.Description, Skills: p.Skills,
		Executors: executors, Default: p.Default, Playbooks: p.Playbooks, Planners: p.Planners, Agents: agents,
		Embed: p.Embed,
	}
}
