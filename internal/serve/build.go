package serve

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"go.temporal.io/sdk/client"
	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/agent"
	"longhaul/activities/echo"
	"longhaul/activities/elsewhere"
	"longhaul/activities/llm"
	"longhaul/activities/shell"
	"longhaul/activities/webhook"
	"longhaul/api/card"
	"longhaul/api/message"
	apiservice "longhaul/api/service"
	"longhaul/internal/process"
	"longhaul/opt"
	"longhaul/opt/rehearse"
)

// An Embedded is a Temporal server that runs in this process.
type Embedded struct {
	Addr  string // that clients dial
	UIURL string // of its Web UI; "" if it has none
	Stop  func() error
}

// An Embed starts the Temporal server that is built into the program.
type Embed func(ctx context.Context, cfg EmbedConfig) (*Embedded, error)

// An Agent decides about messages, and knows its skills.
type Agent interface {
	message.Agent
	Skills() []card.Skill // for the card
}

// A Build holds the differences between the programs that share the commands. The zero
// value is the program without a Temporal server, and so without the commands dev
// and temporal.
type Build struct {
	Name        string // of the program in its texts, and of the agent unless --agent-name is given; "" means longhaul
	Called      string // how the user has called it, as os.Args has it; "" if that is not known
	Description string // of the agent; "" describes Longhaul
	Version     string // "" means that of Longhaul

	Embed     Embed                          // of the program with a Temporal server
	Executors map[string]activities.Executor // added to those of every program, or replacing them; by kind
	Default   string                         // kind of tasks that name no executor; "" means echo if it is on, else they are refused
	Planners  map[string]activities.Planner  // by the names for --planner
	Skills    []card.Skill                   // of the agent that the executor served runs; nil for one that takes every message
	Playbooks fs.FS                          // replace the bundled one, unless --playbooks is given; nil for none
	Agents    map[string]Agent               // added to that of the playbooks, by the names for --agent; Executors has the executors that they need

	// Wrappers around parts of processes that serve or work, for programs that test failures. Nil: no
	// wrapper. Pushes in the journal have none.
	Engine   func(apiservice.Engine) apiservice.Engine
	Journal  func(apiservice.Journal) apiservice.Journal
	Recorder func(activities.Recorder) activities.Recorder
	Planner  func(activities.Planner) activities.Planner
	Temporal func(*client.Options) // adjusts how Temporal is dialled
}

// Check reports mistakes in the playbooks of b, and executors that they name and the
// program does not have. others are kinds of executors that flags add.
func (b Build) Check(others ...string) error {
	if slices.Contains(others, echoKind) {
		b = b.withEcho()
	}
	books, err := workSettings{}.loadPlaybooks(b, b.Planners)
	if err != nil {
		return err
	}
	known, err := (&planning{host: newHost(zap.NewNop(), b)}).loadExecutors(workerSettings{})
	if err != nil {
		return err
	}
	return books.CheckExecutors(b.defaultExecutor(), append(slices.Sorted(maps.Keys(known)), others...)...)
}

// Rehearsing returns the planner of a process with a playbook: a file, a directory, or the name of one
// that the program has, which messages then ask for as their skill. "" is for all of the program. calendars is
// the file with these, "" for none.
func (b Build) Rehearsing(playbook, calendars string) (plan rehearse.Planner, skill string, err error) {
	settings := workSettings{Calendars: calendars}
	if _, err := os.Stat(playbook); playbook != "" && (err == nil || strings.ContainsAny(playbook, `/.\`)) {
		settings.Playbooks = []string{playbook}
	} else {
		skill = playbook
	}
	books, err := settings.loadPlaybooks(b, b.Planners)
	if err != nil {
		return nil, "", err
	}
	if skill != "" {
		if err := books.CheckSkill(skill); err != nil {
			return nil, "", process.Usagef("%v. There is no such file or directory of playbooks, either", err)
		}
	}
	return func(o opt.Objective, m *a2a.Message) rehearse.Planned { return planned(books, o, m) }, skill, nil
}

// echoKind is the kind of tasks that follow a script. The executor is part of a program only
// where an operator has turned it on: its scripts hold slots that tenants share, and ask people
// questions with any text.
const echoKind = "echo"

// withEcho returns b with the executor echo, unless b has one of its own.
func (b Build) withEcho() Build {
	own := b.Executors
	b.Executors = map[string]activities.Executor{echoKind: echo.Executor{}}
	maps.Copy(b.Executors, own)
	return b
}

// defaultExecutor returns the kind of tasks that name no executor, "" if such tasks are
// refused.
func (b Build) defaultExecutor() string {
	if b.Default == "" && b.Executors[echoKind] != nil {
		return echoKind
	}
	return b.Default
}

// checkExecutor returns why no task may have an executor, "" for tasks that name none. The
// API does not know which of the others the workers have, so it allows them.
func (b Build) checkExecutor(kind string) error {
	problem := "the task names no executor, and there is no default here"
	switch {
	case kind == "" && b.defaultExecutor() != "", kind != "" && kind != echoKind, kind == echoKind && b.Executors[echoKind] != nil:
		return nil
	case kind == echoKind:
		problem = "the executor echo is off here"
	}
	others := slices.AppendSeq([]string{agent.Kind, elsewhere.Kind, llm.Kind, shell.Kind, webhook.Kind}, maps.Keys(b.Executors))
	slices.Sort(others)
	return fmt.Errorf("%s. Others are %s, if the workers have them. An operator names one for tasks without an executor with --default-executor (LONGHAUL_DEFAULT_EXECUTOR), or turns on echo for trials, with --echo (LONGHAUL_ECHO), of the API and the workers",
		problem, strings.Join(slices.Compact(others), ", "))
}
