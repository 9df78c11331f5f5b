package cli

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.temporal.io/sdk/client"
	"go.uber.org/zap"

	"longhaul/activities"
	apiservice "longhaul/api/service"
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
	apiservice.Agent
	Skills() []apiservice.Skill // for the card
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
	Default   string                         // kind of tasks that name no executor; "" means echo
	Planners  map[string]activities.Planner  // by the names for --planner
	Playbooks fs.FS                          // replace the bundled one, unless --playbooks is given; nil for none
	Agents    map[string]Agent               // added to that of the playbooks, by the names for --agent; Executors has the executors that they need

	// Wrappers around parts, for programs that test failures. Nil: no wrapper.
	Engine   func(apiservice.Engine) apiservice.Engine
	Journal  func(apiservice.Journal) apiservice.Journal
	Recorder func(activities.Recorder) activities.Recorder
	Planner  func(activities.Planner) activities.Planner
	Temporal func(*client.Options) // adjusts how Temporal is dialled
}

// Check reports mistakes in the playbooks of b, and executors that they name and the
// program does not have. others are kinds of executors that flags add.
func (b Build) Check(others ...string) error {
	books, err := workSettings{}.loadPlaybooks(b.Playbooks, b.Planners)
	if err != nil {
		return err
	}
	known, err := executors(newService(zap.NewNop(), b), workerSettings{})
	if err != nil {
		return err
	}
	return books.CheckExecutors(append(slices.Sorted(maps.Keys(known)), others...)...)
}

// A programName is [Build].Name.
type programName string

func (n programName) String() string { return cmp.Or(string(n), "longhaul") }

func (b Build) name() programName { return programName(b.Name) }

// command is the name in command lines that people may copy: the path of the program, if
// they wrote that, so that the shell finds it, or "go run" with its directory.
func (b Build) command() programName {
	dir, file := filepath.Split(b.Called)
	switch {
	case dir == "":
		return b.name()
	case strings.Contains(dir, "/go-build") && strings.HasSuffix(dir, "/exe/"): // of go run
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			return programName("go run ./" + file)
		}
		return "go run ."
	}
	return programName(b.Called)
}
