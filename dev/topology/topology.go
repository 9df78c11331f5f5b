package topology

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/compose-spec/compose-go/v2/types"

	"longhaul/internal/needs"
	"longhaul/internal/pgserver"
)

// Options say what to start, and how it differs from the file.
type Options struct {
	Checkout string              // with the Compose file; "" for the one of the working directory
	Scale    map[string]int      // processes by service; others have as many as the file says
	Env      map[string][]string // KEY=value, added to the environment of a service or of all services with an image
	Packages map[string]string   // replaces packages of programs, by the name of the program: "longhaul"
	Publish  bool                // services with published ports run at 127.0.0.1, at the ports in the container; only one topology at a time can
	Log      io.Writer           // what happens, one line each; nil discards it
}

// A Topology is what runs. Its methods may be called from any goroutine.
type Topology struct {
	options  Options
	project  *types.Project
	dir      string
	network  *network
	log      io.Writer
	running  sync.WaitGroup // the watchers of processes
	stopping chan struct{}

	mu        sync.Mutex
	hosts     map[string]string // the first process of each service
	processes []*Process        // in the order of their starts
}

// Start starts all services in the order of their dependencies, and waits until each
// is healthy or, if others wait for its end, has ended well. The caller stops the
// topology. After an error nothing runs.
func Start(ctx context.Context, options Options) (*Topology, error) {
	t := &Topology{options: options, log: options.Log, stopping: make(chan struct{}), hosts: map[string]string{}}
	if t.log == nil {
		t.log = io.Discard
	}
	if err := t.prepare(ctx); err != nil {
		return nil, errors.Join(err, t.Stop())
	}
	if err := t.start(ctx); err != nil {
		return nil, errors.Join(err, t.Stop())
	}
	return t, nil
}

// Run is Start in a test, which ends if that fails. The topology ends with the test, and must
// have ended well.
func Run(ctx context.Context, t testing.TB, options Options) *Topology {
	t.Helper()
	needs.Tools(t, "caddy", "postgres")
	options.Log = t.Output()
	top, err := Start(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := top.Stop(); err != nil {
			t.Error(err)
		}
	})
	return top
}

// prepare reads the file and makes the directory of the topology.
func (t *Topology) prepare(ctx context.Context) (err error) {
	if t.options.Checkout == "" {
		if t.options.Checkout, err = Checkout(); err != nil {
			return err
		}
	}
	if t.network, err = newNetwork(); err != nil {
		return err
	}
	if t.dir, err = os.MkdirTemp("", dirPrefix); err != nil {
		return err
	}
	// PostgreSQL may run as another user.
	if err := errors.Join(os.Chmod(t.dir, 0o755), os.MkdirAll(t.bin(), 0o755), os.MkdirAll(filepath.Join(t.dir, "logs"), 0o700)); err != nil {
		return err
	}
	secrets, err := t.secrets(ctx)
	if err != nil {
		return err
	}
	if t.project, err = Load(ctx, t.options.Checkout, secrets); err != nil {
		return err
	}
	for name := range t.options.Scale {
		if _, known := t.project.Services[name]; !known {
			return fmt.Errorf("%s has no service %s: it has %s", FileName, name, strings.Join(names(t.project.Services), ", "))
		}
	}
	return nil
}

// secrets makes new secrets, by the script that operators use.
func (t *Topology) secrets(ctx context.Context) (map[string]string, error) {
	file := filepath.Join(t.dir, "env")
	script := exec.CommandContext(ctx, filepath.Join(t.options.Checkout, "deploy/compose/secrets.sh"), file)
	if out, err := script.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make secrets: %w: %s", err, out)
	}
	return dotenv.Read(file)
}

// start starts all services.
func (t *Topology) start(ctx context.Context) error {
	services := order(t.project.Services)
	for _, name := range services {
		if !t.Plays(name) {
			fmt.Fprintf(t.log, "%s: left out, nothing plays %s\n", name, t.project.Services[name].Image)
			continue
		}
		for range t.replicas(name) {
			if _, err := t.add(name); err != nil {
				return err
			}
		}
	}
	t.publish()
	for _, name := range services {
		if err := t.startService(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// publish has texts that name published addresses name those of the processes.
func (t *Topology) publish() {
	published := map[string]string{}
	for _, p := range t.Processes("") {
		for _, port := range p.spec.Ports {
			published[net.JoinHostPort(port.HostIP, port.Published)] = p.Addr(int(port.Target))
		}
		p.translator.published = published
	}
}

// startService starts the processes of a service and waits for them.
func (t *Topology) startService(ctx context.Context, name string) error {
	processes := t.Processes(name)
	for _, p := range processes {
		if imageName(p.spec) == database {
			if err := p.prepareDatabase(ctx); err != nil {
				return err
			}
		}
		if err := p.Launch(); err != nil {
			return err
		}
	}
	for _, p := range processes {
		until, done := p.WaitHealthy, "healthy"
		if runsToEnd(t.project.Services, name) {
			until, done = p.wait, "done"
		}
		if err := until(ctx); err != nil {
			return err
		}
		fmt.Fprintf(t.log, "%s: %s at %s\n", p.Name, done, p.IP)
	}
	return nil
}

// Plays reports whether the topology runs a service of the file.
func (t *Topology) Plays(service string) bool {
	_, plays := images[imageName(t.project.Services[service])]
	return plays
}

// replicas returns how many processes of a service to start.
func (t *Topology) replicas(service string) int {
	if n, given := t.options.Scale[service]; given {
		return n
	}
	spec := t.project.Services[service]
	return spec.GetScale()
}

// add adds a process of a service, which does not run yet.
func (t *Topology) add(service string) (*Process, error) {
	spec := t.project.Services[service]
	t.mu.Lock()
	defer t.mu.Unlock()
	ip, err := t.network.next()
	if err != nil {
		return nil, err
	}
	if t.options.Publish && len(spec.Ports) > 0 {
		ip = "127.0.0.1"
	}
	number := 1
	for _, p := range t.processes {
		if p.Service == service {
			number++
		}
	}
	if number == 1 {
		t.hosts[service] = ip
	}
	name := fmt.Sprintf("%s-%d", service, number)
	p := &Process{
		Name: name, Service: service, IP: ip, LogPath: filepath.Join(t.dir, "logs", name+".log"), topology: t,
		bin: t.bin(), dir: filepath.Join(t.dir, name), extra: slices.Concat(t.options.Env[service], t.options.Env[imageName(spec)]),
		spec: spec, image: images[imageName(spec)],
	}
	if imageName(spec) == database {
		if p.as, err = pgserver.Credential(); err != nil {
			return nil, err
		}
	}
	if imageName(spec) == proxy {
		if p.image.env, err = proxyEnvironment(p.image.env); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(p.image.install(t.bin(), t.options.Packages), os.MkdirAll(p.dir, 0o700)); err != nil {
		return nil, err
	}
	if p.translator, err = t.translator(p); err != nil {
		return nil, err
	}
	t.processes = append(t.processes, p)
	return p, nil
}

// translator returns the translator of addresses and paths for a process, with the lock
// held. The maps are shared: processes that are added later are in them, too.
func (t *Topology) translator(p *Process) (translator, error) {
	w := translator{ip: p.IP, hosts: t.hosts, paths: map[string]string{}, published: map[string]string{}}
	var directories []string
	for _, at := range p.image.volumes {
		w.paths[at] = filepath.Join(p.dir, "volumes", at)
		directories = append(directories, w.paths[at])
	}
	for _, v := range p.spec.Volumes {
		w.paths[v.Target] = v.Source
		if v.Type == types.VolumeTypeVolume {
			w.paths[v.Target] = filepath.Join(t.dir, "volumes", v.Source)
			directories = append(directories, w.paths[v.Target])
		}
	}
	for _, dir := range directories {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return w, err
		}
	}
	return w, nil
}

// Scale starts or stops processes of a service until it has so many. It returns once
// new ones are healthy and superfluous ones, which are the latest, have ended.
func (t *Topology) Scale(ctx context.Context, service string, n int) error {
	if !t.Plays(service) {
		return fmt.Errorf("%s is no service that runs here", service)
	}
	for len(t.Processes(service)) < n {
		p, err := t.add(service)
		if err != nil {
			return err
		}
		if err := p.Launch(); err != nil {
			return err
		}
	}
	for i, p := range t.Processes(service) {
		if i < n {
			if err := p.Start(ctx); err != nil {
				return err
			}
		} else if err := p.Stop(); err != nil {
			return err
		}
	}
	return nil
}

// Processes returns the processes of a service, all of them for "", in the order of
// their starts. Those that do not run are among them.
func (t *Topology) Processes(service string) []*Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(t.processes), func(p *Process) bool { return service != "" && p.Service != service })
}

// Process returns a process by its name, nil if there is none.
func (t *Topology) Process(name string) *Process {
	for _, p := range t.Processes("") {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Addr returns the address of a port of the first process of a service, "" if it has
// none.
func (t *Topology) Addr(service string, port int) string {
	if all := t.Processes(service); len(all) > 0 {
		return all[0].Addr(port)
	}
	return ""
}

// dirPrefix is the begin of the names of the directories of topologies.
const dirPrefix = "longhaul-topology-"

// Addresses lists the running processes with their addresses, one line each.
func (t *Topology) Addresses() string {
	var b strings.Builder
	for _, p := range t.Processes("") {
		if !p.Running() {
			continue
		}
		fmt.Fprintf(&b, "  %-12s %s", p.Name, p.IP)
		for _, port := range p.spec.Ports {
			fmt.Fprintf(&b, " :%d", port.Target)
		}
		if imageName(p.spec) == Longhaul {
			fmt.Fprintf(&b, "  http://%s/readyz", p.Addr(opsPort))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// opsPort is where processes of Longhaul answer operators, as the file says.
const opsPort = 9420

// Dir returns the directory of the topology, which is removed at the end.
func (t *Topology) Dir() string { return t.dir }

// Project returns the Compose file as it was read.
func (t *Topology) Project() *types.Project { return t.project }

// Stop stops all processes, in the reverse order of their starts, and removes their
// files. The error names those that did not end well.
func (t *Topology) Stop() error {
	t.mu.Lock()
	select {
	case <-t.stopping:
		t.mu.Unlock()
		return nil
	default:
		close(t.stopping)
	}
	t.mu.Unlock()
	var errs []error
	for _, p := range slices.Backward(t.Processes("")) {
		errs = append(errs, p.Stop())
	}
	t.running.Wait()
	if t.network != nil {
		t.network.close()
	}
	if t.dir != "" {
		errs = append(errs, os.RemoveAll(t.dir))
	}
	return errors.Join(errs...)
}

func (t *Topology) bin() string { return filepath.Join(t.dir, "bin") }
