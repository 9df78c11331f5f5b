package harness

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// A Control decides when tasks of a crashable continue whose script begins with
// "await <door>", and planners for objectives whose description begins so. Its
// methods may be called from any goroutine.
type Control struct {
	server *httptest.Server

	mu    sync.Mutex
	doors map[string]*door
}

// A door holds back tasks and planners.
type door struct {
	open    chan struct{} // closed when it is open
	behind  string        // the action once it is open
	knocked []string      // keys of rounds and ids of objectives that came
	left    int           // how many of them disconnected before it opened
	changed chan struct{} // closed, and replaced, at each arrival or departure
}

// NewControl returns a control for processes that are started with its Env. It ends
// with the test.
func NewControl(t testing.TB) *Control {
	c := &Control{doors: map[string]*door{}}
	c.server = httptest.NewServer(http.HandlerFunc(c.serveKnock))
	t.Cleanup(func() {
		c.server.CloseClientConnections()
		c.server.Close()
	})
	return c
}

// Env is the variable with the address of c, for a crashable program.
func (c *Control) Env() string { return "CRASHABLE_CONTROL=" + c.server.URL }

// door returns a door, with the lock held.
func (c *Control) door(name string) *door {
	d := c.doors[name]
	if d == nil {
		d = &door{open: make(chan struct{}), changed: make(chan struct{})}
		c.doors[name] = d
	}
	return d
}

func (d *door) change() {
	close(d.changed)
	d.changed = make(chan struct{})
}

func (c *Control) serveKnock(w http.ResponseWriter, r *http.Request) {
	who, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	c.mu.Lock()
	d := c.door(r.URL.Path[1:])
	d.knocked = append(d.knocked, string(who))
	d.change()
	c.mu.Unlock()
	select {
	case <-d.open:
		c.mu.Lock()
		behind := d.behind
		c.mu.Unlock()
		_, _ = io.WriteString(w, behind) // fails if the caller has left
	case <-r.Context().Done():
		c.mu.Lock()
		d.left++
		d.change()
		c.mu.Unlock()
	}
}

// Open lets all tasks and planners continue that wait at a door or arrive later. behind is what
// they do then: a script or plans, "" for what the description says. Another call changes
// behind for later arrivals.
func (c *Control) Open(name, behind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.door(name)
	d.behind = behind
	select {
	case <-d.open:
	default:
		close(d.open)
	}
}

// Knocked lists the arrivals at a door, in order.
func (c *Control) Knocked(name string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.door(name).knocked)
}

// Await waits for the first arrival at a door.
func (c *Control) Await(ctx context.Context, name string) error {
	return c.until(ctx, name, func(d *door) bool { return len(d.knocked) > 0 })
}

// AwaitLeft waits until all that came to a door have left.
func (c *Control) AwaitLeft(ctx context.Context, name string) error {
	return c.until(ctx, name, func(d *door) bool { return len(d.knocked) > 0 && d.left == len(d.knocked) })
}

func (c *Control) until(ctx context.Context, name string, is func(*door) bool) error {
	for {
		c.mu.Lock()
		d := c.door(name)
		ok, changed := is(d), d.changed
		knocked, left := len(d.knocked), d.left
		c.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("at door %s, where %d came and %d left: %w", name, knocked, left, ctx.Err())
		}
	}
}
