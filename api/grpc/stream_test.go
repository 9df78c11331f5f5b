package grpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"longhaul/api/call"
	"longhaul/internal/test"
	"longhaul/opt"
)

// brief returns a short form of an event.
func brief(e *a2apb.StreamResponse) string {
	state := func(s *a2apb.TaskStatus) string {
		return strings.ToLower(strings.TrimPrefix(s.GetState().String(), "TASK_STATE_"))
	}
	switch p := e.GetPayload().(type) {
	case *a2apb.StreamResponse_Task:
		return "task " + state(p.Task.GetStatus())
	case *a2apb.StreamResponse_Message:
		return "message " + p.Message.GetParts()[0].GetText()
	case *a2apb.StreamResponse_StatusUpdate:
		return state(p.StatusUpdate.GetStatus())
	default:
		u := e.GetArtifactUpdate()
		return fmt.Sprintf("%s append=%v last=%v", u.GetArtifact().GetArtifactId(), u.GetAppend(), u.GetLastChunk())
	}
}

// rest reads a stream to its end.
func rest(stream grpc.ServerStreamingClient[a2apb.StreamResponse]) (events []string, err error) {
	for {
		e, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return events, nil
		case err != nil:
			return events, err
		}
		events = append(events, brief(e))
	}
}

func TestStreams(t *testing.T) {
	s := newService(t)
	sending := test.Value(s.SendStreamingMessage(with(t), said("m", "slow")))(t)
	first := test.Value(sending.Recv())(t)
	id := first.GetTask().GetId()
	watching := test.Value(s.SubscribeToTask(with(t), &a2apb.SubscribeToTaskRequest{Id: id}))(t)
	if e, err := watching.Recv(); err != nil || brief(e) != "task working" {
		t.Errorf("a subscription begins with %v, error %v", e, err)
	}
	s.world.Gate(taskOf(id), opt.Gate{Kind: opt.Approval, Title: "Publish?", Actions: []opt.Action{opt.Accept, opt.Reject}})
	if got, err := rest(sending); err != nil || fmt.Sprint(got) != "[input_required]" {
		t.Errorf("then the sender sees %q, error %v", got, err) // and is free to answer
	}
	accept := said("r", "accept")
	accept.Message.TaskId = id
	test.OK(t, test.Err(s.SendMessage(with(t), accept)))
	s.finish(id)
	got, err := rest(watching)
	want := []string{"input_required", "working", "1-0-post append=false last=false", "1-0-post append=true last=true", "completed"}
	test.OK(t, err)
	test.Equal(t, "events", want, got)
}

func TestStream_ofAMessage(t *testing.T) {
	s := newService(t)
	stream := test.Value(s.SendStreamingMessage(with(t), said("m", "hello")))(t)
	test.Is(t, "events", "[message Hello.]", fmt.Sprint(test.Value(rest(stream))(t)))
}

// An agent that does not stream refuses. The goldens have tasks that are unknown and that have ended.
func TestStream_refused(t *testing.T) {
	s := newService(t, func(c *config) { c.Card.NoStreaming = true })
	stream, err := s.SubscribeToTask(with(t), &a2apb.SubscribeToTaskRequest{Id: s.send(t, "m", "write").GetId()})
	if err == nil {
		_, err = stream.Recv()
	}
	wantFault(t, "no streaming", err, codes.FailedPrecondition, "UNSUPPORTED_OPERATION")
}

// follow subscribes to a task, and reads the first event.
func (s *fixture) follow(t *testing.T, id string) grpc.ServerStreamingClient[a2apb.StreamResponse] {
	t.Helper()
	stream := test.Value(s.SubscribeToTask(with(t), &a2apb.SubscribeToTaskRequest{Id: id}))(t)
	test.OK(t, test.Err(stream.Recv()))
	return stream
}

// A heartbeat looks for events that no watch has announced.
func TestStream_deafWatch(t *testing.T) {
	s := newService(t, func(c *config) {
		c.Heartbeat = time.Millisecond
		c.Watch = func(string) call.Watch { return never{} }
	})
	id := s.send(t, "m", "slow").GetId()
	stream := s.follow(t, id)
	s.finish(id)
	test.Is(t, "events", 3, len(test.Value(rest(stream))(t)))
}

type never struct{}

func (never) C() <-chan struct{}     { return nil }
func (never) Rests() <-chan struct{} { return nil }
func (never) Close()                 {}

// A server that stops ends its streams, and waits for them. The clients see that
// this is not the end of the task.
func TestShutdown(t *testing.T) {
	s := newService(t)
	id := s.send(t, "m", "slow").GetId()
	stream := s.follow(t, id)
	test.Error(t, "Shutdown", nil, s.grpc.Shutdown(t.Context()))
	got, err := rest(stream)
	if wantFault(t, "stream", err, codes.Unavailable, "UNAVAILABLE"); got != nil {
		t.Errorf("then came %q", got)
	}
	test.Fails(t, "a server that has stopped serves", "", test.Err(s.GetTask(with(t), &a2apb.GetTaskRequest{Id: id})))
}

// A client that disconnects frees its stream.
func TestStream_clientGoes(t *testing.T) {
	var open sync.WaitGroup
	s := newService(t, func(c *config) {
		watch := c.Watch
		c.Watch = func(id string) call.Watch {
			open.Add(1)
			return counted{watch(id), &open}
		}
	})
	ctx, cancel := context.WithCancel(with(t))
	stream := test.Value(s.SendStreamingMessage(ctx, said("m", "slow")))(t)
	test.OK(t, test.Err(stream.Recv()))
	cancel()
	open.Wait()
}

// counted is a watch that is counted until it is closed.
type counted struct {
	call.Watch
	open *sync.WaitGroup
}

func (w counted) Close() {
	w.Watch.Close()
	w.open.Done()
}

// A stream ends when its caller is not accepted any more.
func TestStreams_callerRefused(t *testing.T) {
	var revoked atomic.Bool
	s := newService(t, func(c *config) {
		c.Recheck, c.Heartbeat = time.Nanosecond, 5*time.Millisecond
		c.Authenticate = func(r *http.Request) (call.Caller, error) {
			if revoked.Load() {
				return call.Caller{}, errors.New("revoked")
			}
			return callerOf(r)
		}
	})
	task := s.send(t, "m", "slow")
	ctx, cancel := context.WithTimeout(with(t), 20*time.Second)
	defer cancel()
	stream := test.Value(s.SubscribeToTask(ctx, &a2apb.SubscribeToTaskRequest{Id: task.GetId()}))(t)
	test.OK(t, test.Err(stream.Recv()))
	revoked.Store(true)
	if _, err := rest(stream); status.Code(err) != codes.Unauthenticated {
		t.Errorf("end of the stream: %v", err)
	}
}
