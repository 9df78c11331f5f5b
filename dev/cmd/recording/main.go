// Command recording runs the all-in-one program in a shell session and draws what it
// prints as a picture that plays, for README.md: an approval that survives kill -9.
//
//	go run ./dev/cmd/recording
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"longhaul/dev/binary"
	"longhaul/internal/child"
	"longhaul/internal/freeport"
)

func main() {
	out := flag.String("o", "docs/pictures/recording.svg", "file to write")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out); err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

// run makes the recording and writes it.
func run(ctx context.Context, out string) error {
	program, err := binary.Build("longhaul/dev")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "recording-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Symlink(program, dir+"/longhaul"); err != nil {
		return err
	}
	addr, err := freeport.Addr()
	if err != nil {
		return err
	}
	s := &session{ctx: ctx, dir: dir, url: "http://" + addr.String(), began: time.Now(), ids: map[string]string{}}
	s.env = append(os.Environ(), "LONGHAUL_ADDR="+addr.String(), "LONGHAUL_URL="+s.url, "LONGHAUL_TEMPORAL_UI_ADDR=", "COLUMNS=100", "NO_COLOR=1")
	defer s.stop()
	if err := s.play(); err != nil {
		return err
	}
	return os.WriteFile(out, []byte(draw(s.lines)), 0o644)
}

// A session is a shell session: commands, and the lines that they print.
type session struct {
	ctx    context.Context
	dir    string
	url    string
	env    []string
	server *child.Process // nil while none runs
	began  time.Time
	lines  []line
	ids    map[string]string // the ids in the place of GATE and TASK
}

// play plays the story.
func (s *session) play() error {
	steps := []func() error{
		s.start,
		func() error { return s.command(3, `./longhaul send "Research lighthouses and write an article"`) },
		s.kill,
		s.start,
		func() error { return s.command(0, "./longhaul inbox") },
		func() error { return s.command(0, "./longhaul answer GATE accept") },
		func() error { return s.command(0, "./longhaul watch TASK") },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) add(text string, k kind) {
	s.lines = append(s.lines, line{time.Since(s.began), text, k})
}

// start starts the server in the background, and waits until it accepts work, as a
// person would.
func (s *session) start() error {
	s.add("./longhaul dev >server.log 2>&1 &", typed)
	cmd := exec.Command("./longhaul", "dev")
	cmd.Dir, cmd.Env = s.dir, s.env
	var err error
	if s.server, err = child.Start(cmd, child.Options{Log: filepath.Join(s.dir, "server.log")}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.ctx, time.Minute)
	defer cancel()
	return child.Until(ctx, 50*time.Millisecond, func() error { return child.Answers(ctx, s.url+"/readyz") })
}

// kill kills the server.
func (s *session) kill() error {
	s.add("kill -9 $!", killing)
	s.stop()
	return nil
}

func (s *session) stop() {
	if s.server != nil {
		s.server.Kill()
	}
}

var (
	gateID = regexp.MustCompile(`task-[a-z0-9]+-\d+-\d+:\d+`)
	taskID = regexp.MustCompile(`obj-[a-z0-9]+`)
)

// command runs a command, which has to end with an exit code.
func (s *session) command(code int, text string) error {
	text = strings.NewReplacer("GATE", s.ids["GATE"], "TASK", s.ids["TASK"]).Replace(text)
	s.add(text, typed)
	cmd := exec.CommandContext(s.ctx, "bash", "-c", text)
	cmd.Dir, cmd.Env = s.dir, s.env
	read, write := io.Pipe()
	cmd.Stdout, cmd.Stderr = write, write
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
		_ = write.Close()
	}()
	printed := bufio.NewScanner(read)
	for printed.Scan() {
		said := strings.ReplaceAll(printed.Text(), " --url "+s.url, "")
		s.add(said, output)
		for name, form := range map[string]*regexp.Regexp{"GATE": gateID, "TASK": taskID} {
			if id := form.FindString(said); id != "" {
				s.ids[name] = id
			}
		}
	}
	_ = read.CloseWithError(printed.Err()) // or the command would wait for a reader for ever
	err := <-ended
	if err := printed.Err(); err != nil {
		return fmt.Errorf("read what %s prints: %w", text, err)
	}
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed) && failed.ExitCode() == code, err == nil && code == 0:
		return nil
	}
	return fmt.Errorf("%s: %v, want exit code %d", text, err, code)
}
