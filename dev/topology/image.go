package topology

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"syscall"

	"longhaul/dev/binary"
	"longhaul/internal/pgserver"
)

// An image names the programs that replace a container image on this machine.
type image struct {
	programs   map[string]string // name in the image: a package to build, or "" for a program that is installed
	entrypoint []string
	command    []string
	env        map[string]string
	volumes    []string       // directories that each container has for itself
	stop       syscall.Signal // 0 is SIGTERM
}

// Longhaul is the image of our own program.
const Longhaul = "longhaul"

const (
	database = "postgres"
	proxy    = "caddy"
)

// images are the images of the Compose file that can run as plain processes, by name.
var images = map[string]image{
	Longhaul: {
		programs: map[string]string{"longhaul": "longhaul/cmd/longhaul"}, entrypoint: []string{"/longhaul"},
		env: map[string]string{"LONGHAUL_DATA_DIR": "/data"}, volumes: []string{"/data"},
	},
	// Its script sets the address to listen at, which we give to it anyway, and runs this.
	"temporalio/server": {
		programs: map[string]string{"temporal-server": "go.temporal.io/server/cmd/server"}, command: []string{"temporal-server", "start"},
	},
	"temporalio/admin-tools": {
		programs: map[string]string{"temporal-sql-tool": "go.temporal.io/server/cmd/tools/sql"},
	},
	database: {
		programs: map[string]string{"postgres": "", "initdb": "", "psql": "", "createdb": "", "pg_isready": ""},
		command:  []string{"postgres"}, stop: syscall.SIGINT,
	},
	proxy: {
		programs: map[string]string{proxy: ""}, command: []string{proxy, "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"},
		env: map[string]string{"XDG_DATA_HOME": "/data", "XDG_CONFIG_HOME": "/config"}, volumes: []string{"/data", "/config"},
	},
}

// install puts the programs of an image into the directory bin, under their names in
// the image. packages replaces the packages that are built.
func (i image) install(bin string, packages map[string]string) error {
	for _, name := range names(i.programs) {
		to := filepath.Join(bin, name)
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		from, err := i.find(name, packages)
		if err != nil {
			return err
		}
		// A link to the file itself: a newer build must not replace it meanwhile.
		if i.programs[name] != "" && os.Link(from, to) == nil {
			continue
		}
		if err := os.Symlink(from, to); err != nil {
			return fmt.Errorf("install %s: %w", name, err)
		}
	}
	return nil
}

func (i image) find(name string, packages map[string]string) (string, error) {
	if replaced := packages[name]; replaced != "" {
		return binary.Build(replaced)
	}
	if i.programs[name] != "" {
		return binary.Build(i.programs[name])
	}
	if _, own := images[database].programs[name]; own {
		return pgserver.Program(name)
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is not installed: apt-get install %s", name, name)
	}
	return found, nil
}

// arguments returns what a container runs, as Docker puts it together: an entrypoint
// of the service is without the command of the image.
func (i image) arguments(bin string, entrypoint, command []string) ([]string, error) {
	args := slices.Concat(entrypoint, command)
	if len(entrypoint) == 0 {
		if len(command) == 0 {
			command = i.command
		}
		args = slices.Concat(i.entrypoint, command)
	}
	if len(args) == 0 {
		return nil, fmt.Errorf("it has no command")
	}
	return i.local(bin, args), nil
}

// local replaces the program of the image with the one of this machine.
func (i image) local(bin string, args []string) []string {
	if name := path.Base(args[0]); i.has(name) {
		return append([]string{filepath.Join(bin, name)}, args[1:]...)
	}
	return args
}

func (i image) has(program string) bool {
	_, ok := i.programs[program]
	return ok
}
