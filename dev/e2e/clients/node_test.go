package clients_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"longhaul/dev/e2e/harness"
)

// A node is a process that runs clients. js/driver.mjs describes its input and
// output. Its methods may be called concurrently.
type node struct {
	ended chan struct{} // closed when its output ends

	writing sync.Mutex
	in      io.WriteCloser

	mu    sync.Mutex
	last  int
	calls map[int]chan line
}

// A line is one line of output about a call.
type line struct {
	ID     int             `json:"id"`
	Event  json.RawMessage `json:"event"`
	Result json.RawMessage `json:"result"`
	Error  *jsError        `json:"error"`
}

// startNode runs the program in a directory under js until the test ends.
func startNode(t *testing.T, dir, binding string) *node {
	t.Helper()
	cmd := exec.Command("node", filepath.Join(installed(t, dir), "main.mjs"), binding)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	in, out := harness.Start(t, cmd)
	n := &node{in: in, ended: make(chan struct{}), calls: map[int]chan line{}}
	go n.listen(out)
	t.Cleanup(func() {
		in.Close() // which ends the process
		<-n.ended
		if err := cmd.Wait(); err != nil || complaints.Len() > 0 && t.Failed() {
			t.Errorf("node in %s ended with %v and said:\n%s", dir, err, &complaints)
		}
	})
	return n
}

// listen passes the output of the process to the calls.
func (n *node) listen(out io.Reader) {
	defer close(n.ended)
	lines := bufio.NewReader(out)
	for {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			l = line{Error: &jsError{Message: fmt.Sprintf("node said %q", text)}}
		}
		n.mu.Lock()
		call := n.calls[l.ID]
		n.mu.Unlock()
		if call != nil {
			call <- l
		}
	}
}

// next returns a new name.
func (n *node) next() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last++
	return strconv.Itoa(n.last)
}

// tell writes a line.
func (n *node) tell(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	n.writing.Lock()
	defer n.writing.Unlock()
	_, err = n.in.Write(append(data, '\n'))
	return err
}

// begin begins a call. The channel yields its lines up to the end; call forget
// after that.
func (n *node) begin(op string, a args) (id int, said <-chan line, forget func(), err error) {
	id, err = strconv.Atoi(n.next())
	if err != nil {
		return 0, nil, nil, err
	}
	call := make(chan line, 1024)
	n.mu.Lock()
	n.calls[id] = call
	n.mu.Unlock()
	forget = func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.calls, id)
	}
	return id, call, forget, n.tell(map[string]any{"id": id, "op": op, "args": a})
}

var errNodeEnded = errors.New("node has ended")

// call makes a call that answers once.
func (n *node) call(ctx context.Context, op string, a args, result any) error {
	_, said, forget, err := n.begin(op, a)
	if err != nil {
		return err
	}
	defer forget()
	select {
	case l := <-said:
		if l.Error != nil {
			return l.Error.err()
		}
		return json.Unmarshal(l.Result, result)
	case <-n.ended:
		return errNodeEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stream makes a call that answers with events. A consumer that stops early ends
// the call.
func (n *node) stream(ctx context.Context, op string, a args) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		id, said, forget, err := n.begin(op, a)
		if err != nil {
			yield(event{}, err)
			return
		}
		defer forget()
		for {
			var e event
			select {
			case l := <-said:
				switch {
				case l.Error != nil:
					yield(event{}, l.Error.err())
					return
				case l.Event == nil:
					return
				}
				if err := json.Unmarshal(l.Event, &e); err != nil {
					yield(event{}, err)
					return
				}
			case <-n.ended:
				yield(event{}, errNodeEnded)
				return
			case <-ctx.Done():
				_ = n.tell(map[string]int{"stop": id}) // fails only if the process has ended
				yield(event{}, ctx.Err())
				return
			}
			if !yield(e, nil) {
				_ = n.tell(map[string]int{"stop": id})
				return
			}
		}
	}
}
