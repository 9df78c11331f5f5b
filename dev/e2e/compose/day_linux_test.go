package compose_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/dev/topology"
	"longhaul/internal/needs"
	"longhaul/internal/test"
)

// within bounds each step of the day.
const within = time.Minute

// A day of an operator: install, first keys, playbooks, a lost worker, an upgrade, a question that waits too
// long, the costs of tenants, a full disk. All commands are those of the documents.
func TestDay(t *testing.T) {
	t.Parallel()
	d := install(t)
	for _, step := range []struct {
		name string
		do   func(*day)
	}{
		{"first keys", (*day).makeKeys},
		{"playbooks", (*day).reload},
		{"lost worker", (*day).loseWorker},
		{"upgrade", (*day).upgrade},
		{"question", (*day).wait},
		{"costs", (*day).addUp},
		{"full disk", (*day).fill},
	} {
		if !t.Run(step.name, func(t *testing.T) { d.T = t; step.do(d) }) {
			return
		}
	}
}

// A day is an installation in the hands of its operator.
type day struct {
	*testing.T
	top *topology.Topology
	dir string            // the operator's files, with a directory of playbooks
	env []string          // of commands
	key map[string]string // by principal
}

// install starts the topology, with API keys and with playbooks by file.
func install(t *testing.T) *day {
	d := &day{T: t, dir: t.TempDir(), key: map[string]string{}}
	d.says("deploy.md", "scripts/topology up --scale worker=3", "replace `LONGHAUL_ALLOW_ANYONE` with `LONGHAUL_AUTH: keys`")
	t.Cleanup(func() { _ = syscall.Unmount(d.disk(), 0) }) // after the topology; it may not be mounted
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"state": "completed", "usage": {"model": "m", "inputTokens": 1000, "outputTokens": 500, "cost": 0.25}}`)
	}))
	t.Cleanup(service.Close)
	books := filepath.Join(d.dir, "playbooks")
	test.OK(t, os.Mkdir(books, 0o700))
	d.playbook("build", "executor: shell, input: {command: build}")
	api := []string{"LONGHAUL_ALLOW_ANYONE=false", "LONGHAUL_AUTH=keys", "LONGHAUL_PLAYBOOKS=" + books}
	d.top = topology.Run(t.Context(), t, topology.Options{Scale: map[string]int{"worker": 3}, Env: map[string][]string{"api-a": api, "api-b": api, "worker": {
		"LONGHAUL_PLAYBOOKS=" + books,
		"LONGHAUL_COMMANDS=" + harness.WriteFile(t, d.dir, "commands.yaml", "commands: {build: {run: [/bin/sh, -c, 'echo $PPID >>"+d.dir+"/builders; sleep 3; echo built']}}\n"),
		"LONGHAUL_ENDPOINTS=" + harness.WriteFile(t, d.dir, "endpoints.yaml", "endpoints: {model: {url: '"+service.URL+"'}}\n"),
	}}})
	t.Cleanup(func() {
		if t.Failed() {
			show(t, d.top)
		}
	})
	settings := d.top.Project().Services["worker"].Environment
	d.env = append(slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "LONGHAUL_") }),
		"PATH="+filepath.Join(d.top.Dir(), "bin")+":"+os.Getenv("PATH"), "HOME="+d.dir, "COLUMNS=200", "LONGHAUL_URL=http://"+d.top.Addr("proxy", 7420),
		"LONGHAUL_JOURNAL="+strings.Replace(*settings["LONGHAUL_JOURNAL"], "@postgres:5432", "@"+d.top.Addr("postgres", 5432), 1))
	return d
}

// playbook writes a playbook for messages with its name, which has one task.
func (d *day) playbook(name, task string) {
	d.Helper()
	harness.WriteFile(d, filepath.Join(d.dir, "playbooks"), name+".yaml", fmt.Sprintf(
		"name: %[1]s\nmatch: {keywords: [%[1]s]}\nskills: [{id: %[1]s, name: N, description: D, tags: [t]}]\nplans: [{name: P, tasks: [{name: T, %s}]}]\n", name, task))
}

// disk returns where a disk is mounted.
func (d *day) disk() string { return filepath.Join(d.dir, "disk") }

// says checks that a document has texts.
func (d *day) says(document string, texts ...string) {
	d.Helper()
	whole := string(harness.ReadFile(d, "../../../docs/"+document))
	for _, text := range texts {
		if !strings.Contains(whole, text) {
			d.Errorf("docs/%s does not say %s", document, text)
		}
	}
}

// try runs a command of a document as a principal, with words replaced in pairs, and returns what it prints.
func (d *day) try(principal, document, command string, words ...string) (string, error) {
	d.Helper()
	d.says(document, command)
	command = strings.NewReplacer(words...).Replace(command)
	cmd := exec.CommandContext(d.Context(), "/bin/sh", "-c", command)
	cmd.Dir, cmd.Env = d.dir, append(slices.Clone(d.env), "LONGHAUL_TOKEN="+d.key[principal])
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return complaints.String(), fmt.Errorf("%s: %w\n%s%s", command, err, out, &complaints)
	}
	return string(out), nil
}

// run is try, and the test ends if the command fails.
func (d *day) run(principal, document, command string, words ...string) string {
	d.Helper()
	out := test.Value(d.try(principal, document, command, words...))(d.T)
	d.Logf("%s\n%s", command, out)
	return out
}

// shows waits until a command of a document prints a text.
func (d *day) shows(text, principal, document, command string, words ...string) {
	d.Helper()
	harness.Eventually(d, within, command+" shows "+text, func() error {
		out, err := d.try(principal, document, command, words...)
		if err == nil && !strings.Contains(out, text) {
			err = errors.New(out)
		}
		return err
	})
}

// logged returns nil once a process has logged a text.
func (d *day) logged(p *topology.Process, text string) error {
	if !strings.Contains(string(harness.ReadFile(d, p.LogPath)), text) {
		return errors.New("not yet")
	}
	return nil
}

// client returns a client of the reverse proxy.
func (d *day) client(principal string) *harness.Client {
	return harness.NewClient("http://"+d.top.Addr("proxy", 7420)).With("Authorization", "Bearer "+d.key[principal])
}

// send sends a message by the command, which waits for the end of the work.
func (d *day) send(principal, text string) (string, error) {
	d.Helper()
	return d.try(principal, "security.md", `LONGHAUL_TOKEN=lh_… longhaul send --url https://agent.example.com "Research lighthouses and write an article"`,
		"LONGHAUL_TOKEN=lh_… ", "", "--url https://agent.example.com ", "", "Research lighthouses and write an article", text)
}

func (d *day) makeKeys() {
	if out, err := d.send("ann", "build"); err == nil || !strings.Contains(out, "Give a valid key or token with LONGHAUL_TOKEN or --token") {
		d.Errorf("without a key: %v", err)
	}
	d.says("troubleshooting.md", "Give a valid key or token with LONGHAUL_TOKEN or --token")
	d.key["ann"] = strings.TrimSpace(d.run("", "security.md", "longhaul keys create ann --scopes runs:create,runs:read"))
	for principal, flags := range map[string]string{"lea": "all --groups leads", "bob": "all --tenant acme", "boss": "costs:read"} {
		d.key[principal] = strings.TrimSpace(d.run("", "security.md", "longhaul keys create PRINCIPAL --scopes LIST", "PRINCIPAL", principal, "LIST", flags))
	}
	if out, err := d.send("ann", "build"); err != nil || !strings.Contains(out, "built") {
		d.Errorf("with a key: %v\n%s", err, out)
	}
}

func (d *day) reload() {
	if out, err := d.send("bob", "bill"); err == nil || !strings.Contains(out, "rejected") {
		d.Errorf("without a playbook: %v\n%s", err, out)
	}
	d.playbook("bill", "executor: http, input: {endpoint: model}")
	d.playbook("deploy", "human: {approve: 'Deploy it?'}")
	d.playbook("publish", "human: {approve: 'Publish it?', responders: {principals: [ann]}, "+
		"wait: [{after: 4s, do: escalate, to: {groups: [leads]}}, {after: 14s, do: expire}]}")
	d.run("", "operations.md", "longhaul check FILES", "FILES", "playbooks/*.yaml --as worker --commands commands.yaml --endpoints endpoints.yaml")
	for _, service := range []string{"worker", "api-a", "api-b"} {
		for _, p := range d.top.Processes(service) {
			d.run("", "playbooks.md", "kill -HUP PID", "PID", strconv.Itoa(p.PID()))
		}
	}
	for _, p := range slices.Concat(d.top.Processes("worker"), d.top.Processes("api-a"), d.top.Processes("api-b")) {
		harness.Eventually(d, within, p.Name+" has read the playbooks", func() error { return d.logged(p, "Read the playbooks again") })
	}
	test.OK(d.T, test.Err(d.send("bob", "bill")))
}

func (d *day) loseWorker() {
	d.says("operations.md", "A worker that is killed is missed within a second")
	builders := func() []string { return strings.Fields(string(harness.ReadFile(d, filepath.Join(d.dir, "builders")))) }
	before := len(builders())
	c := d.client("ann")
	task := c.MustSendUntil(d.Context(), d, harness.Message{ID: "lost", Text: "build"})
	workers, lost := d.top.Processes("worker"), -1
	harness.Eventually(d, within, "a worker builds", func() error {
		if all := builders(); len(all) > before {
			lost = slices.IndexFunc(workers, func(p *topology.Process) bool { return strconv.Itoa(p.PID()) == all[before] })
		}
		if lost < 0 {
			return errors.New("none")
		}
		return nil
	})
	test.OK(d.T, workers[lost].Signal(syscall.SIGKILL))
	c.AwaitState(d, within, task.ID, "COMPLETED")
	test.Is(d, "workers have built", 2, len(builders())-before)
	test.OK(d.T, workers[lost].WaitHealthy(d.Context()))
}

// upgrade replaces all processes in the order of the document, while a stream is followed.
func (d *day) upgrade() {
	d.says("upgrades.md", "run `longhaul migrate` of the new version first", "2. **Workers**, then 3. **the API.**", "Stop each process with SIGTERM")
	c := d.client("ann")
	task := c.MustSendUntil(d.Context(), d, harness.Message{ID: "upgraded", Text: "deploy"})
	follower := c.Follow(d.Context(), task.ID, 0)
	defer follower.Stop()
	waiting := test.Value(follower.UntilState(d.Context(), "INPUT_REQUIRED"))(d.T)
	d.run("", "deploy.md", "longhaul migrate")
	for _, service := range []string{"worker", "api-a", "api-b"} {
		for _, p := range d.top.Processes(service) {
			test.OK(d.T, p.Stop())
			test.OK(d.T, p.Start(d.Context()))
		}
	}
	d.run("lea", "quickstart.md", "longhaul answer GATE-ID accept", "GATE-ID", waiting.Gate().ID)
	events := test.Value(follower.Wait(d.Context()))(d.T)
	whole := test.Value(c.All(d.Context(), task.ID, 0))(d.T)
	if diff := harness.Differ(whole, events); diff != "" || follower.Resumes() == 0 {
		d.Errorf("the stream, which was opened again %d times, differs: %s", follower.Resumes(), diff)
	}
}

// wait has one question escalate and expire, and another one wait for a day: as the journal has it.
func (d *day) wait() {
	c := d.client("ann")
	task := c.MustSendUntil(d.Context(), d, harness.Message{ID: "asked", Text: "publish"})
	d.shows("escalate in", "ann", "operations.md", "longhaul inbox")
	d.shows("expire (reject) in", "lea", "operations.md", "longhaul inbox", "inbox", "inbox --mine") // she may answer from now on
	if ended := c.AwaitState(d, within, task.ID, "FAILED"); ended.Message != "No answer came within 14s." {
		d.Errorf("the task says %q", ended.Message)
	}

	// The figure counts questions that have waited for a day, and is counted every 15 s.
	c.AwaitGate(d, within, c.MustSendUntil(d.Context(), d, harness.Message{ID: "old", Text: "deploy"}).ID)
	d.says("operations.md", "`LonghaulQuestionsWait` | questions have waited for over a day", "`questions-day-old`")
	const figure = `longhaul_open_work{kind="questions-day-old"}`
	if alerts := string(harness.ReadFile(d, "../../../deploy/prometheus/alerts.yml")); !strings.Contains(alerts, "max("+figure+") > 0") {
		d.Errorf("no alert looks at %s", figure)
	}
	journal := exec.CommandContext(d.Context(), "/bin/sh", "-c", `psql "$LONGHAUL_JOURNAL" -c "UPDATE tasks SET status_at = status_at - 90000000 WHERE gate <> ''"`)
	journal.Env = d.env
	if out, err := journal.CombinedOutput(); err != nil {
		d.Fatalf("%v\n%s", err, out)
	}
	harness.Eventually(d, within, "the figure counts it", func() error {
		res, err := http.Get("http://" + d.top.Addr("worker", 9420) + "/metrics")
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if page, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(page), figure+" 1\n") {
			return fmt.Errorf("it does not: %v", err)
		}
		return nil
	})
}

func (d *day) addUp() {
	for range 2 {
		test.OK(d.T, test.Err(d.send("ann", "bill")))
	}
	d.says("llm.md", "`longhaul costs` adds up\ncontexts, models or tenants")
	var got []string // without how long tasks ran
	for line := range strings.Lines(d.run("boss", "llm.md", "longhaul costs", "costs", "costs --by tenant")) {
		got = append(got, strings.Join(strings.Fields(line)[:4], " "))
	}
	want := []string{"OF INPUT OUTPUT COST", "default 2,000 1,000 0.50", "acme 1,000 500 0.25"}
	test.Equal(d, "costs by tenant", want, got)
	if out := d.run("bob", "llm.md", "longhaul costs"); strings.Count(out, "0.25") != 1 || strings.Contains(out, "0.5") {
		d.Errorf("bob sees the costs\n%s", out)
	}
}

// fill has the disk of PostgreSQL be full, and makes room.
func (d *day) fill() {
	disk := d.mount()
	c := d.client("ann")
	works := c.MustSendUntil(d.Context(), d, harness.Message{ID: "works", Text: "build"})
	c.AwaitState(d, within, works.ID, "WORKING")
	disk(0)
	d.says("operations.md", "is the database up, is the disk full?", "Nothing is lost: writes are refused, work waits")
	d.says("troubleshooting.md", "`make room on the disk of PostgreSQL`", "repeat it with the same message id")
	waits := harness.Message{ID: "waits", Text: "build " + strings.Repeat("x", 100_000)}
	harness.Eventually(d, within, "a message is refused, and the log says why", func() error {
		if _, err := c.Send(d.Context(), waits); harness.Reason(err) != "UNAVAILABLE" {
			return fmt.Errorf("a message on a full disk: %v", err)
		}
		const why = "make room on the disk of PostgreSQL"
		if d.logged(d.top.Process("api-a-1"), why) != nil {
			return d.logged(d.top.Process("api-b-1"), why)
		}
		return nil
	})
	harness.Eventually(d, within, "the API and the worker are not ready", func() error {
		for _, name := range []string{"api-a-1", "worker-1"} {
			if d.top.Process(name).Healthy(d.Context()) == nil {
				return fmt.Errorf("%s is ready on a full disk", name)
			}
		}
		return nil
	})
	test.OK(d.T, test.Err(c.Get(d.Context(), works.ID)))
	disk(1 << 30)
	c.AwaitState(d, within, c.MustSendUntil(d.Context(), d, waits).ID, "COMPLETED")
	c.AwaitState(d, within, works.ID, "COMPLETED")
}

// mount gives PostgreSQL a disk of its own, and returns what changes how much room is on it.
func (d *day) mount() func(room int) {
	disk, postgres := d.disk(), d.top.Process("postgres-1")
	test.OK(d.T, errors.Join(os.Mkdir(disk, 0o700), os.Chmod(filepath.Dir(d.dir), 0o755))) // PostgreSQL may run as another user
	if err := syscall.Mount("disk", disk, "tmpfs", 0, "size=2g"); err != nil {
		needs.Missing(d, "the right to mount disks", err.Error())
	}
	test.OK(d.T, postgres.Stop())
	data := filepath.Join(d.top.Dir(), postgres.Name, "data")
	if out, err := exec.CommandContext(d.Context(), "cp", "-a", data+"/.", disk).CombinedOutput(); err != nil {
		d.Fatalf("%v: %s", err, out)
	}
	test.OK(d.T, errors.Join(os.RemoveAll(data), os.Symlink(disk, data), postgres.Start(d.Context())))
	return func(room int) {
		harness.Eventually(d, within, "the disk has another size", func() error {
			var now syscall.Statfs_t
			test.OK(d.T, syscall.Statfs(disk, &now))
			used := int(now.Blocks-now.Bfree) * int(now.Bsize)
			return syscall.Mount("disk", disk, "tmpfs", syscall.MS_REMOUNT, fmt.Sprint("size=", used+room))
		})
	}
}
