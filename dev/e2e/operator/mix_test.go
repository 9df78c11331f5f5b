package operator_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/needs"
	"longhaul/internal/pgserver"
	"longhaul/internal/test"
)

var (
	mixFor   = flag.Duration("mix", 0, "how long installations are mixed up, one after another, each with the next seed; 0 is one of each kind")
	mixActs  = flag.Int("mix-acts", 20, "of the operator and of the machine, in each installation; fewer where they take long")
	mixKinds = flag.String("mix-kinds", "", "the kinds of TestMix to take, separated by commas; all without it")
)

// A mix is an installation with which all meddle at once: its clients, who also cancel, retry and replan, an
// operator of Temporal, and a machine that kills processes and the database.
type mix struct {
	*world
	seed     uint64
	rand     *rand.Rand // of the operator and the machine
	control  *harness.Control
	tally    string
	commands []string // of the processes
	postgres *pgserver.Server
	faults   []func() string

	mu      sync.Mutex
	running []*harness.Process // by command
	ended   map[int]time.Time  // processes, by id
	acts    []operatorAct
	acked   map[string]string // tasks, by the replies that were judged
	begun   []string          // objectives
	retried map[string]bool   // objectives
	readers []*harness.Follower
}

// An operatorAct is one of the operator, on a workflow.
type operatorAct struct {
	at   time.Time
	what string
	id   string
}

// A mixKind is a kind of installations.
type mixKind struct {
	seed    uint64
	prepare func(m *mix)
}

var mixes = map[string]mixKind{
	"in one process": {5, func(m *mix) { m.commands = []string{harness.AllInOne} }},
	"PostgreSQL": {502, func(m *mix) {
		m.commands = []string{harness.Temporal, harness.Worker, harness.API}
		m.startPostgres()
		m.faults = append(m.faults, m.killDatabase)
	}},
}

// An operator interferes at random while clients change their work and processes are killed. Some time after the
// faults everything has ended that waits for no person, what clients see agrees with Temporal, no
// acknowledged answer is lost, and nothing has run twice at a time.
// Without -seed and -mix each kind has a fixed seed; random ones are for proofs. A seed decides the acts, and not which work
// they meet.
func TestMix(t *testing.T) {
	t.Parallel()
	began := time.Now()
	for n := uint64(0); n == 0 || time.Since(began) < *mixFor; n++ {
		for kind, of := range mixes {
			if *mixKinds != "" && !strings.Contains(*mixKinds, kind) {
				continue
			}
			use := firstSeed(of) + n
			t.Run(fmt.Sprintf("%s/%d", kind, use), func(t *testing.T) {
				if *mixFor == 0 {
					t.Parallel()
				}
				newMix(t, use, of.prepare).run()
			})
		}
	}
}

// random is the first seed of -mix without -seed.
var random = rand.Uint64N(1_000_000_000)

// firstSeed returns the first seed of a kind.
func firstSeed(of mixKind) uint64 {
	switch {
	case *seed != 0:
		return *seed
	case *mixFor != 0:
		return random
	}
	return of.seed
}

func newMix(t *testing.T, seed uint64, prepare func(*mix)) *mix {
	t.Logf("-seed %d", seed)
	site := harness.NewSite(t, harness.Crashable, "--max-events", "100")
	m := &mix{
		world: &world{T: t, site: site, c: site.Client()}, seed: seed, rand: rand.New(rand.NewPCG(seed, 2)), control: harness.NewControl(t),
		tally: filepath.Join(filepath.Dir(site.Dir), "tally"), ended: map[int]time.Time{}, acked: map[string]string{}, retried: map[string]bool{},
	}
	m.operator = harness.Operator{Namespace: "default", Rand: m.rand}
	m.control.Open("replan", `[{"name": "new", "tasks": [{"name": "n", "description": "work 100ms; say new"}]}]`)
	site.Env = []string{"LONGHAUL_LOG_FORMAT=json", "LONGHAUL_SYNC=normal", "CRASHABLE_TALLY=" + m.tally, m.control.Env(), "LONGHAUL_REPLY_WAIT=2s", "LONGHAUL_CANCEL_WAIT=1s"}
	m.faults = []func() string{m.kill, m.kill}
	prepare(m)
	return m
}

// fewest is the least number of acts.
const fewest = 8

func (m *mix) run() {
	for _, command := range m.commands {
		m.running = append(m.running, m.launch(command))
	}
	m.ready()
	m.connect()
	ctx, cancel := context.WithCancel(m.Context())
	var clients sync.WaitGroup
	defer clients.Wait()
	defer cancel()
	for n := range 2 {
		clients.Go(func() { m.newClient(n).work(ctx) })
	}
	began := time.Now()
	for n := range *mixActs {
		if n >= fewest && time.Since(began) > time.Minute { // the machine has much else to do
			break
		}
		m.Log(m.meddle())
		pause(ctx, time.Duration(m.rand.IntN(1200))*time.Millisecond)
	}
	cancel()
	clients.Wait()
	m.ready()
	m.settle()
}

// pause waits until a time has passed or ctx has ended.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// meddle does an act of the operator or of the machine, and says which.
func (m *mix) meddle() string {
	m.supervise()
	if m.rand.IntN(4) > 0 { // else this comes while they start
		m.ready()
	}
	if m.rand.IntN(3) == 0 {
		return m.faults[m.rand.IntN(len(m.faults))]()
	}
	what, err := m.operate()
	if err != nil { // as Temporal does not run
		return err.Error()
	}
	return what
}

// contextActs are those on contexts.
var contextActs = []string{"reset to anywhere", "reset to first", "terminate"}

// operate does a random act to a random run of an objective, a plan or a context, which may have ended. Most are those that
// run. An operator who deletes many looks like a Temporal that has lost its data.
func (m *mix) operate() (string, error) {
	ctx, cancel := context.WithTimeout(m.Context(), 5*time.Second)
	defer cancel()
	running := ""
	if m.rand.IntN(3) > 0 {
		running = " AND ExecutionStatus = 'Running'"
	}
	runs, err := m.operator.Runs(ctx, "WorkflowType IN ('Objective', 'Plan')"+running)
	acts := acts
	if m.rand.IntN(3) == 0 {
		if contexts, _ := m.operator.Runs(ctx, "WorkflowType = 'Context'"+running); len(contexts) > 0 {
			runs, acts = contexts, contextActs
		}
	}
	if err != nil || len(runs) == 0 {
		return "nothing to act on", err
	}
	run := runs[m.rand.IntN(len(runs))]
	id := run.GetWorkflowId()
	m.mu.Lock()
	name := acts[m.rand.IntN(len(acts))]
	what := fmt.Sprintf("%s %s %s", name, id, run.GetRunId())
	m.acts = append(m.acts, operatorAct{time.Now(), name, id})
	m.mu.Unlock()
	switch name {
	case "reset to anywhere":
		err = m.operator.ResetRun(ctx, run, m.rand.IntN)
	case "reset to first":
		err = m.operator.ResetRun(ctx, run, harness.First)
	default:
		err = harness.Acts[name](m.operator, ctx, id)
	}
	return what, err
}

// launch starts a process, and notes when it ends.
func (m *mix) launch(command string) *harness.Process {
	p := m.site.Launch(command)
	go func() {
		<-p.Ended()
		m.mu.Lock()
		defer m.mu.Unlock()
		m.ended[p.PID()] = time.Now()
	}()
	return p
}

// kill kills a process, which starts again later.
func (m *mix) kill() string {
	p := m.running[m.rand.IntN(len(m.running))]
	p.Kill()
	return fmt.Sprint("kill ", p)
}

// killDatabase has PostgreSQL end at once, and start again.
func (m *mix) killDatabase() string {
	test.OK(m, m.postgres.Kill())
	pause(m.Context(), time.Duration(m.rand.IntN(2000))*time.Millisecond)
	test.OK(m, m.postgres.Run(m.Context()))
	return "kill PostgreSQL"
}

// supervise starts processes again that have ended.
func (m *mix) supervise() {
	for i, p := range m.running {
		if !p.Running() {
			m.running[i] = m.launch(p.Command)
		}
	}
}

// ready waits until all processes are ready.
func (m *mix) ready() {
	m.supervise()
	for _, p := range m.running {
		p.WaitReady()
	}
}

// startPostgres keeps the journal in PostgreSQL.
func (m *mix) startPostgres() {
	m.Helper()
	needs.Tools(m, "postgres")
	var err error
	m.postgres, err = pgserver.Start(m.Context())
	test.OK(m, err)
	m.Cleanup(func() { _ = m.postgres.Close() })
	test.OK(m, m.postgres.Create(m.Context(), "journal"))
	m.site.Env = append(m.site.Env, "LONGHAUL_JOURNAL="+m.postgres.URL("journal"), "LONGHAUL_SECRET_KEYS="+strings.Repeat("A", 43)+"=")
	m.site.Run("migrate")
}
