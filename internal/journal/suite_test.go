package journal_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/needs"
	"longhaul/internal/pgserver"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// eachPlace runs a test on every database, beside other tests, with the config of an empty
// journal there.
func eachPlace(t *testing.T, run func(t *testing.T, cfg journal.Config)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		run(t, journal.Config{Path: file(t), Sync: "normal"})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		run(t, journal.Config{URL: database(t), Migrate: true})
	})
}

// each is eachPlace for tests that need no more than a journal. open opens the same journal each
// time, as another process would.
func each(t *testing.T, run func(t *testing.T, open func() *journal.Journal)) {
	eachPlace(t, func(t *testing.T, cfg journal.Config) {
		run(t, func() *journal.Journal { return openWith(t, cfg) })
	})
}

// inFile runs a test that looks into SQLite, beside other tests.
func inFile(t *testing.T, run func(t *testing.T, open func() *journal.Journal)) {
	t.Parallel()
	path := file(t)
	run(t, func() *journal.Journal { return openFile(t, path) })
}

func openURL(t testing.TB, url string) *journal.Journal {
	t.Helper()
	return openWith(t, journal.Config{URL: url, Migrate: true})
}

// The tables are made once, and each test gets a copy.
var (
	emptyFile = sync.OnceValues(func() ([]byte, error) {
		dir, err := os.MkdirTemp("", "longhaul-journal-")
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, "journal.db")
		err = makeTables(journal.Config{Path: path})
		data, reading := os.ReadFile(path)
		return data, errors.Join(err, reading, os.RemoveAll(dir))
	})
	inMemory = sync.OnceValues(func() (*journal.Template, error) { return journal.NewTemplate(context.Background()) })
	// server is the PostgreSQL server of all tests, started by the first that needs it.
	server = sync.OnceValues(func() (*pgserver.Server, error) {
		s, err := pgserver.Start(context.Background(), "fsync=off", "max_connections=300")
		if err == nil {
			err = s.Create(context.Background(), emptyDatabase)
		}
		if err == nil {
			err = makeTables(journal.Config{URL: s.URL(emptyDatabase), Migrate: true})
		}
		return s, err
	})
	serverUsed atomic.Bool
	databases  atomic.Int64
)

const emptyDatabase = "empty" // has the tables alone

func makeTables(cfg journal.Config) error {
	_, err := journal.Migrate(context.Background(), cfg)
	return err
}

// file returns the path of an empty journal.
func file(t testing.TB) string {
	t.Helper()
	data, err := emptyFile()
	path := filepath.Join(t.TempDir(), "journal.db")
	test.OK(t, errors.Join(err, os.WriteFile(path, data, 0o600)))
	return path
}

// database returns the URL of an empty journal.
func database(t testing.TB) string { return databaseLike(t, emptyDatabase) }

// databaseLike returns the URL of a copy of a database.
func databaseLike(t testing.TB, like string) string {
	t.Helper()
	needs.Tools(t, "postgres")
	serverUsed.Store(true)
	s := test.Value(server())(t)
	name := fmt.Sprint("journal_", databases.Add(1))
	test.OK(t, s.Copy(t.Context(), like, name))
	return s.URL(name)
}

func openFile(t testing.TB, path string) *journal.Journal {
	t.Helper()
	cfg := journal.Config{Path: path, Sync: "normal"}
	if path == "" {
		var err error
		if cfg.Template, err = inMemory(); err != nil {
			t.Fatal(err)
		}
	}
	return openWith(t, cfg)
}

// openWith opens a journal that is closed at the end of the test.
func openWith(t testing.TB, cfg journal.Config) *journal.Journal {
	t.Helper()
	j := test.Value(journal.Open(t.Context(), cfg))(t)
	t.Cleanup(func() {
		preparedOnce(t, j)
		test.Error(t, "close", nil, j.Close())
	})
	return j
}

// preparedOnce reports the statements that SQLite has prepared again, which
// costs more than running them. It does so at each run of a statement in which
// the planner could use the value of a parameter: with LIKE, with LIMIT, or where
// a condition on a parameter looks like that of a partial index.
func preparedOnce(t testing.TB, j *journal.Journal) {
	t.Helper()
	list, err := j.Statements(context.Background())
	if errors.Is(err, journal.ErrClosed) || errors.Is(err, errors.ErrUnsupported) {
		return
	}
	if err != nil {
		t.Errorf("statements: %v", err)
	}
	for _, s := range list {
		checkPlan(t, j, s.SQL)
		exempt := slices.ContainsFunc(changing, func(first string) bool { return strings.HasPrefix(s.SQL, first) })
		if s.Prepared > 0 && !exempt {
			t.Errorf("prepared again %d times in %d runs: %s", s.Prepared, s.Runs, s.SQL)
		}
	}
}

// checkPlan reports a statement that reads a whole table, or sorts rows that an index has in order:
// its cost grows with the journal. It looks at each statement once.
func checkPlan(t testing.TB, j *journal.Journal, statement string) {
	t.Helper()
	kind, _, _ := strings.Cut(statement, " ")
	if !slices.Contains([]string{"SELECT", "WITH", "INSERT", "UPDATE", "DELETE"}, strings.TrimSpace(kind)) {
		return
	}
	if _, known := plans.LoadOrStore(statement, true); known {
		return
	}
	steps, err := j.Explain(context.Background(), statement)
	if err != nil {
		t.Errorf("explain %s: %v", statement, err)
	}
	for _, step := range steps {
		scans := strings.HasPrefix(step, "SCAN") && step != "SCAN CONSTANT ROW"
		sorts := strings.Contains(step, "TEMP B-TREE") && !strings.Contains(statement, "objective_id = $1")
		if (scans || sorts) && !slices.ContainsFunc(small, func(table string) bool { return strings.Contains(statement, table) }) {
			t.Errorf("%s in the plan of %s", step, statement)
		}
	}
}

// small are parts of statements that read few rows, such as those of open work, or that only
// operators or tests run.
var small = []string{
	"purges", "probes", "leftovers", "sqlite_schema", "pragma_", "migrations", "sessions", "_keys", "tall",
	"deliveries", "places", "AS found", "GROUP BY 1, 2", "p.started = 1", "active = 1", "queued_at", "stuck <> ''",
	"gate <> '' AND plan_id <> '' AND status_at",
	"ORDER BY SUM(cost)", // sums of what it selects
}

// plans are the statements at whose plans a test has looked.
var plans sync.Map

// sound reports damage of the database.
func sound(t testing.TB, j *journal.Journal) {
	t.Helper()
	if found := test.Value(j.Maintenance.Damage(context.Background()))(t); len(found) > 0 {
		t.Errorf("damage: %q", found)
	}
}

// runs returns how often statements that begin with a text have run.
func runs(t testing.TB, j *journal.Journal, first string) (n int) {
	t.Helper()
	list := test.Value(j.Statements(t.Context()))(t)
	for _, s := range list {
		if strings.HasPrefix(s.SQL, first) {
			n += s.Runs
		}
	}
	return n
}

// changing is how the statements begin that run before all tables are there,
// and those that only tests run.
var changing = []string{"BEGIN IMMEDIATE", "INSERT INTO migrations", "PRAGMA", "EXPLAIN"}

// fails returns a function that reports a last result that is not the error that is wanted.
func fails(t testing.TB, what string, want error) func(results ...any) {
	return func(results ...any) {
		t.Helper()
		if err, _ := results[len(results)-1].(error); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
}

// purge removes the objectives that did not change since n milliseconds into the test.
func purge(t testing.TB, j *journal.Journal, n int64, want int) {
	t.Helper()
	if n, err := j.Purge(t.Context(), at(n).Time(), 100); n != want || err != nil {
		t.Fatalf("%d were removed, %v, want %d", n, err, want)
	}
}

const tenant = "acme"

var epoch = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// at returns the time n milliseconds into the test.
func at(n int64) a2a.Time { return a2a.At(epoch.Add(time.Duration(n) * time.Millisecond)) }

// A scribe records events as one source of an objective, and numbers them.
type scribe struct {
	t         testing.TB
	j         *journal.Journal
	objective opt.Objective
	source    string
	heads     *heads

	mu sync.Mutex
	n  int64
}

func newObjective() opt.Objective {
	var unique [16]byte
	rand.Read(unique[:])
	id := opt.NewObjectiveID(unique)
	return opt.Objective{
		ID: id, ContextID: id, Tenant: tenant, Principal: "ann", Name: "Ship it", Status: opt.ObjectiveSubmitted,
		CreatedAt: at(0), UpdatedAt: at(0), Attempt: 1, MessageID: "m-open", Root: opt.TaskSubmitted,
	}
}

// begin records the opening of o with a message.
func begin(t testing.TB, j *journal.Journal, o opt.Objective) *scribe {
	t.Helper()
	m := userMessage(o.MessageID, "Ship it, please")
	o.Digest = m.Digest()
	s := &scribe{t: t, j: j, objective: o, source: o.ID, heads: newHeads(o)}
	s.record(opt.Opening{Objective: o, Message: &m}.Event())
	return s
}

// as returns another source of the same objective, that records in j.
func (s *scribe) as(source string, j *journal.Journal) *scribe {
	return &scribe{t: s.t, j: j, objective: s.objective, source: source, heads: s.heads}
}

// batch numbers events and puts them in a batch, without recording it. An event
// without a time gets its number in milliseconds, and each gets what its owner
// would have arrived at.
func (s *scribe) batch(events ...opt.Event) opt.Batch {
	if s.heads == nil {
		s.heads = newHeads(s.objective)
	}
	for i := range events {
		s.n++
		events[i].N = s.n
		if events[i].At.IsZero() {
			events[i].At = at(s.n)
		}
		s.heads.fill(&events[i])
	}
	return opt.Batch{ObjectiveID: s.objective.ID, Source: s.source, Events: events}
}

func (s *scribe) record(events ...opt.Event) {
	s.t.Helper()
	test.OK(s.t, s.j.Record(s.t.Context(), s.batch(events...)))
}

func (s *scribe) plan(n int) string    { return opt.PlanID(s.objective.ID, n) }
func (s *scribe) task(n, m int) string { return opt.TaskID(s.plan(n), m) }

// moved returns the event that moves the m-th task of the n-th plan.
func (s *scribe) moved(n, m int, to opt.TaskState) opt.Event {
	return opt.Event{Kind: opt.TaskMoved, PlanID: s.plan(n), TaskID: s.task(n, m), To: string(to)}
}

// rootMoved returns the event that moves the root task.
func (s *scribe) rootMoved(to opt.TaskState) opt.Event {
	return opt.Event{Kind: opt.TaskMoved, TaskID: s.objective.RootID(), To: string(to)}
}

// view reads a task with all there is.
func (s *scribe) view(id string) shown.TaskView {
	s.t.Helper()
	v := test.Value(s.j.Task(s.t.Context(), tenant, id, shown.TaskWant{History: -1, Artifacts: true}))(s.t)
	return v
}

// events reads all events of the objective.
func (s *scribe) events() []shown.Recorded {
	s.t.Helper()
	list := test.Value(s.j.Events(s.t.Context(), s.objective.ID, 0, 0))(s.t)
	return list
}

func dump(t testing.TB, j *journal.Journal) string {
	t.Helper()
	text := test.Value(j.Dump(context.Background()))(t)
	return text
}

// agentMessage returns what the agent says with a status.
func agentMessage(id, text string) *a2a.Message {
	return &a2a.Message{MessageID: id, Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart(text)}}
}

func userMessage(id, text string) a2a.Message {
	return a2a.Message{MessageID: id, Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(text)}}
}

// planAdded returns the event that adds the n-th plan of o with some tasks.
func planAdded(o opt.Objective, n, tasks int) opt.Event {
	id := opt.PlanID(o.ID, n)
	p := &opt.Plan{ID: id, ObjectiveID: o.ID, Name: "Plan " + strconv.Itoa(n), Status: opt.PlanPending, CreatedAt: at(0), UpdatedAt: at(0)}
	for m := range tasks {
		p.Tasks = append(p.Tasks, &opt.Task{ID: opt.TaskID(id, m), Index: m, Name: "Task " + strconv.Itoa(m), State: opt.TaskPending})
	}
	return opt.Event{Kind: opt.PlanAdded, PlanID: id, Plan: p}
}

// piece returns the event that adds text to an artifact of a task.
func (s *scribe) piece(n, m int, artifact, text string, more bool) opt.Event {
	return opt.Event{Kind: opt.ArtifactAdded, PlanID: s.plan(n), TaskID: s.task(n, m), Chunk: &opt.Chunk{
		Artifact: a2a.Artifact{ArtifactID: artifact, Parts: []a2a.Part{a2a.TextPart(text)}}, Append: more,
	}}
}
