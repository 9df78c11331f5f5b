//go:build unix

package shell

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
)

// A guard ends the programs of this process when it is killed: another worker does their tasks
// then. It is a process that reads from a pipe which groups run, until the pipe ends with its writer.
type guard struct {
	mu     sync.Mutex
	groups map[int]bool // that run
	pipe   io.Writer    // nil: not started, or lost
}

// programs is the guard of all programs of this process.
var programs = guard{groups: map[int]bool{}}

const guardScript = `groups=
while read -r how group; do
	case $how in
	+) groups="$groups $group" ;;
	-) rest=
	   for g in $groups; do [ "$g" = "$group" ] || rest="$rest $g"; done
	   groups=$rest ;;
	esac
done
for g in $groups; do kill -s KILL -- "-$g"; done`

// prepare starts the process, so that add takes no time after the start of a program.
func (g *guard) prepare() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pipe == nil {
		g.start()
	}
}

// add reports to the guard that a group runs. On a system without a shell there is no guard.
func (g *guard) add(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.groups[group] = true
	if g.pipe != nil && g.write('+', group) == nil {
		return
	}
	g.start() // another one, if it was ended
	for group := range g.groups {
		if g.pipe != nil && g.write('+', group) != nil {
			g.pipe = nil
		}
	}
}

// remove reports that a group has ended.
func (g *guard) remove(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.groups, group)
	if g.pipe != nil && g.write('-', group) != nil {
		g.pipe = nil
	}
}

func (g *guard) write(how byte, group int) error {
	_, err := fmt.Fprintf(g.pipe, "%c %d\n", how, group)
	return err
}

// start starts the process, in a group of its own: Ctrl-C must not reach it before us.
func (g *guard) start() {
	p := exec.Command("/bin/sh", "-c", guardScript)
	p.Dir, p.Env, p.SysProcAttr = "/", []string{}, &syscall.SysProcAttr{Setpgid: true}
	pipe, err := p.StdinPipe()
	if g.pipe = nil; err != nil || p.Start() != nil {
		return
	}
	g.pipe = pipe
	go func() { _ = p.Wait() }() // it ends with this process
}
