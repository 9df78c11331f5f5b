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
	mu   sync.Mutex
	pipe io.Writer // nil: not started, or lost
}

// programs is the guard of all programs of this process.
var programs guard

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

// tell reports to the guard that a group runs ('+') or has ended. On a system without a shell there is
// no guard.
func (g *guard) tell(how byte, group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pipe == nil && how == '+' {
		g.start()
	}
	if g.pipe == nil {
		return
	}
	if _, err := fmt.Fprintf(g.pipe, "%c %d\n", how, group); err != nil {
		g.pipe = nil // the next program starts another one
	}
}

// start starts the process, in a group of its own: Ctrl-C must not reach it before us.
func (g *guard) start() {
	p := exec.Command("/bin/sh", "-c", guardScript)
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := p.StdinPipe()
	if err != nil || p.Start() != nil {
		return
	}
	g.pipe = pipe
	go func() { _ = p.Wait() }()
}
