package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"unsafe"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/internal/test"
)

const servingEnv = "LONGHAUL_TEST_SERVING"

// A server on a terminal reads its playbooks at SIGHUP, and stops when the
// terminal is closed, which sends the same signal. A server that was started with
// nohup continues.
func TestServe_onATerminal(t *testing.T) {
	if os.Getenv(servingEnv) != "" {
		serveForTest(t)
		return
	}
	caught := make(chan os.Signal, 1) // else, under nohup, the child would ignore the signal, too
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	for _, outlives := range []bool{false, true} {
		t.Run(fmt.Sprintf("outlives it: %v", outlives), func(t *testing.T) {
			terminal, cmd, said := startOnTerminal(t, outlives)
			next := func(want string) {
				t.Helper()
				test.Is(t, "the result", want+"\n", test.Value(said.ReadString('\n'))(t))
			}
			next("up")
			test.OK(t, cmd.Process.Signal(syscall.SIGHUP))
			next("Read the playbooks again")
			test.OK(t, terminal.Close())
			if outlives {
				next("Read the playbooks again")
				test.OK(t, cmd.Process.Signal(syscall.SIGTERM))
			}
			next("Stopping")
			test.Error(t, "it ended with", nil, cmd.Wait())
		})
	}
}

// serveForTest runs an empty service until it gets a signal to stop, and writes its log
// messages to descriptor 3.
func serveForTest(t *testing.T) {
	out := os.NewFile(3, "out")
	say := func(text string) { fmt.Fprintln(out, text) }
	err := run(context.Background(), Build{}, logSettings{LogLevel: "error", LogFormat: "text"}, opsSettings{}, func(h *host) []part {
		core, _ := observer.New(zap.InfoLevel)
		h.log = zap.New(core, zap.Hooks(func(e zapcore.Entry) error { say(e.Message); return nil }))
		return []part{&planning{host: h}, step(func(context.Context) error { say("up"); return nil })}
	})
	if err != nil {
		t.Error(err)
	}
}

// startOnTerminal runs this test again as a process on a new terminal, which is
// closed by closing the file. said is the output of the process.
func startOnTerminal(t *testing.T, outlives bool) (terminal *os.File, cmd *exec.Cmd, said *bufio.Reader) {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("this test needs pseudo-terminals, so /dev/ptmx and /dev/pts: %v", err)
	}
	var unlock, number int32
	test.OK(t, errors.Join(ioctl(terminal, syscall.TIOCSPTLCK, &unlock), ioctl(terminal, syscall.TIOCGPTN, &number)))
	inner := test.Value(os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0))(t)
	defer inner.Close()
	from, to, err := os.Pipe()
	test.OK(t, err)
	defer to.Close()
	args := []string{os.Args[0], "-test.run", "^TestServe_onATerminal$"}
	if outlives {
		args = append([]string{"sh", "-c", `trap "" HUP; exec "$0" "$@"`}, args...) // as nohup does
	}
	cmd = exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), servingEnv+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = inner, inner, inner, []*os.File{to}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	test.OK(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = from.Close()
	})
	return terminal, cmd, bufio.NewReader(from)
}

func ioctl(f *os.File, request uintptr, value *int32) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed syscall.Errno
	err = c.Control(func(fd uintptr) {
		_, _, failed = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(value)))
	})
	if failed != 0 {
		return failed
	}
	return err
}
