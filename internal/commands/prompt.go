package commands

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"longhaul/a2a"
	"longhaul/internal/process"
)

// A prompt asks a person at a terminal.
type prompt struct {
	in   *os.File
	keys *bufio.Reader // of in
	out  *os.File
	size func() (columns, rows int)
}

// errLeft says that a person has left a question without an answer.
var errLeft = errors.New("left without an answer")

// newPrompt returns what asks the person at the terminal of p, nil if there is none.
func newPrompt(p *process.Process) *prompt {
	in := p.Stdin
	if in == nil {
		in = os.Stdin
	}
	out, size, ok := process.TerminalOf(p.Stdout)
	if _, _, keys := process.TerminalOf(in); !ok || !keys || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &prompt{in: in, keys: bufio.NewReader(in), out: out, size: size}
}

// await returns what read returns, or why ctx has ended before: a read of a terminal cannot be
// ended, and lasts until the process ends.
func await[T any](ctx context.Context, read func() (T, error)) (got T, err error) {
	done := make(chan struct{})
	var value T
	var failed error
	go func() {
		defer close(done)
		value, failed = read()
	}()
	select {
	case <-done:
		return value, failed
	case <-ctx.Done():
		return got, context.Cause(ctx)
	}
}

// choose shows options below a title, and returns the index of the chosen one.
func (p *prompt) choose(ctx context.Context, title string, options []string) (int, error) {
	return p.chooseFrom(ctx, title, options, 0)
}

// chooseFrom is choose with the option that is marked first.
func (p *prompt) chooseFrom(ctx context.Context, title string, options []string, at int) (int, error) {
	restore, err := process.ReadKeys(p.in)
	if err != nil {
		return 0, err
	}
	defer restore()
	s, m := screen{out: rawWriter{p.out}}, menu{options: options, at: at}
	for {
		columns, rows := p.size()
		s.draw(m.lines(title, columns, rows))
		k, err := await(ctx, func() (rune, error) { return readKey(p.keys) })
		k = m.meaning(k)
		switch {
		case ctx.Err() != nil:
			return 0, context.Cause(ctx)
		case k == keyStop:
			return 0, context.Canceled
		case err != nil || k == keyLeave:
			return 0, errLeft
		case m.press(k):
			return m.at, nil
		}
	}
}

// line asks for a line of text until fits, which may be empty, says nothing against it.
func (p *prompt) line(ctx context.Context, label string, fits func(text string) error) (string, error) {
	for {
		fmt.Fprintf(p.out, "%s [Ctrl-D leaves] ", label)
		text, err := await(ctx, func() (string, error) { return p.keys.ReadString('\n') })
		if err != nil {
			fmt.Fprintln(p.out)
			return "", cmp.Or(context.Cause(ctx), errLeft)
		}
		text = strings.TrimSpace(text)
		if err = fits(text); err == nil {
			return text, nil
		}
		fmt.Fprintf(p.out, "This does not fit: %v\n", err)
	}
}

// edited has a person change the object of a gate in the editor of $VISUAL or $EDITOR, or name a file
// with what replaces it. It returns the file, and how to remove it.
func (p *prompt) edited(ctx context.Context, w waiting) (file string, remove func(), err error) {
	remove = func() {}
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"))
	before, err := editable(w.object)
	if editor == "" || err != nil {
		file, err = p.line(ctx, "File with what replaces it:", func(name string) error {
			_, err := os.Stat(name)
			return err
		})
		return file, remove, err
	}
	dir, err := os.MkdirTemp("", "longhaul")
	if err != nil {
		return "", remove, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	file = filepath.Join(dir, editedName(w.gate))
	if err := os.WriteFile(file, before, 0o600); err != nil {
		return "", remove, err
	}
	c := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", file) // the variables may have arguments
	c.Stdin, c.Stdout, c.Stderr = p.in, p.out, p.out
	if err := c.Run(); err != nil {
		return "", remove, fmt.Errorf("the editor %s: %w", editor, err)
	}
	if after, err := os.ReadFile(file); err != nil || bytes.Equal(before, after) {
		return "", remove, cmp.Or(err, errors.New("the object is unchanged, and nothing was sent: choose accept to accept it as it is"))
	}
	return file, remove, nil
}

// editable returns an object as it can be edited.
func editable(object []a2a.Part) (text []byte, err error) {
	for _, part := range object {
		content, ok := part.Content()
		if !ok || part.URL != nil {
			return nil, errors.New("the object is a file: the task has it")
		}
		text = append(text, content...)
	}
	if len(text) == 0 {
		return nil, errors.New("the gate has no object")
	}
	return text, nil
}

// A rawWriter writes to a terminal that takes a new line for no return.
type rawWriter struct{ out io.Writer }

func (w rawWriter) Write(b []byte) (int, error) {
	_, err := io.WriteString(w.out, strings.ReplaceAll(string(b), "\n", "\r\n"))
	return len(b), err
}

// Keys that mean something in a menu beside digits.
const (
	keyUp    = '\x10'
	keyDown  = '\x0e'
	keyEnter = '\r'
	keyLeave = '\x04' // Ctrl-D
	keyStop  = '\x03' // Ctrl-C, while a terminal passes on each key
)

// readKey reads one key: a character, or one of the keys of a menu for arrows, Enter, Escape and
// Ctrl-D.
func readKey(in *bufio.Reader) (rune, error) {
	k, _, err := in.ReadRune()
	switch {
	case err != nil:
		return 0, err
	case k == '\n':
		return keyEnter, nil
	case k == '\x1b' && in.Buffered() == 0: // Escape
		return keyLeave, nil
	case k != '\x1b':
		return k, nil
	}
	for k, _, err = in.ReadRune(); err == nil && strings.ContainsRune("[O;0123456789", k); k, _, err = in.ReadRune() {
	}
	return map[rune]rune{'A': keyUp, 'B': keyDown}[k], err
}

// Before options of which several may be chosen.
const (
	unmarked = "[ ] "
	marked   = "[x] "
)

// A menu is which of some options is marked.
type menu struct {
	options []string
	at      int
	typed   int    // the number that was typed so far
	word    string // or the letters
	missed  string // with which none began when Enter was pressed
}

// meaning returns the key for which one stands that is no part of a word.
func (m *menu) meaning(k rune) rune {
	if as := map[rune]rune{'j': keyDown, 'k': keyUp, 'q': keyLeave}[k]; as != 0 && m.word == "" {
		return as
	}
	return k
}

// press handles a key, and reports whether the marked option is chosen: after letters one that begins
// with them.
func (m *menu) press(k rune) (chosen bool) {
	m.missed = ""
	if m.spell(k) {
		return false
	}
	typed, size := 0, len(m.options)
	switch k {
	case keyEnter:
		if !m.unknown() {
			return true
		}
		m.missed = m.word
	case keyUp:
		m.at = (m.at + size - 1) % size
	case keyDown:
		m.at = (m.at + 1) % size
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		digit := int(k - '0')
		if typed = 10*m.typed + digit; typed > size {
			typed = digit
		}
		if typed >= 1 && typed <= size {
			m.at = typed - 1
		}
	}
	m.typed, m.word = typed, ""
	return false
}

// spell marks the first option that begins with the letters so far. It reports whether a key is one of
// these.
func (m *menu) spell(k rune) bool {
	if !unicode.IsLetter(k) {
		return false
	}
	m.word += string(k)
	if i := slices.IndexFunc(m.options, m.spelled); i >= 0 {
		m.at = i
	}
	return true
}

func (m *menu) spelled(option string) bool {
	option = strings.TrimPrefix(strings.TrimPrefix(option, unmarked), marked)
	return len(option) >= len(m.word) && strings.EqualFold(option[:len(m.word)], m.word)
}

// unknown reports whether letters were typed with which no option begins.
func (m *menu) unknown() bool { return m.word != "" && !m.spelled(m.options[m.at]) }

// lines returns the menu for a terminal: those of the options around the marked one that fit.
func (m *menu) lines(title string, columns, rows int) []string {
	room, size := max(1, rows-4), len(m.options)
	first := min(max(0, m.at-room/2), max(0, size-room))
	out := []string{process.OneLine(title, columns-1)}
	for i := first; i < min(size, first+room); i++ {
		mark := " "
		if i == m.at {
			mark = ">"
		}
		out = append(out, oneLineKept(fmt.Sprintf("%s %d  %s", mark, i+1, a2a.VisibleLine(m.options[i])), columns-1))
	}
	hint := "Arrows or a number, then Enter; q to leave, Ctrl-C to end"
	if m.unknown() || m.missed != "" {
		hint = "Nothing here begins with " + a2a.VisibleLine(m.word+m.missed) + ". " + hint
	}
	return append(out, process.OneLine(hint, columns-1))
}
