package activities_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	sdkworker "go.temporal.io/sdk/worker"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

const linkedID = "task-bbbbbbbbbbbbbbbbbbbbbbbbbb-1-0"

// A stateReader holds the states of one task, one for each read.
type stateReader struct {
	states []opt.TaskState // the last one stays
	err    error
	looks  int
	view   shown.TaskView
	change chan struct{} // signaled on a change
	closed int
}

func (s *stateReader) Peek(_ context.Context, tenant, id string) (opt.TaskState, int64, error) {
	if tenant != "t" || id != linkedID {
		return "", 0, fmt.Errorf("task %s: %w", id, opt.ErrUnknown)
	}
	s.looks++
	return s.states[min(s.looks, len(s.states))-1], 0, s.err
}

func (s *stateReader) Task(_ context.Context, _, _ string, want shown.TaskWant) (shown.TaskView, error) {
	if !want.Artifacts {
		s.view.Task.Artifacts = nil
	}
	s.view.State = s.states[len(s.states)-1]
	return s.view, s.err
}

func (s *stateReader) C() <-chan struct{} { return s.change }
func (s *stateReader) Close()             { s.closed++ }

// follow follows the task with a stateReader.
func follow(ctx context.Context, s *stateReader, l activities.Link) (activities.Followed, error) {
	s.change = make(chan struct{}, 1)
	s.change <- struct{}{}
	return activities.New(activities.Config{Tasks: s, Watch: func(id string) activities.Watch {
		if id != "obj-bbbbbbbbbbbbbbbbbbbbbbbbbb" {
			panic("watches " + id)
		}
		return s
	}}).Follow(ctx, l)
}

var link = activities.Link{Tenant: "t", TaskID: linkedID, For: taskID}

func TestFollow_ends(t *testing.T) {
	said := &a2a.Message{Parts: []a2a.Part{a2a.TextPart("So it is.")}}
	gone := activities.Followed{State: opt.TaskFailed, Message: "The task that stands in for this one does not exist any more."}
	other := link
	other.Tenant = "rival"
	for name, tt := range map[string]struct {
		link   activities.Link
		states []opt.TaskState
		said   *a2a.Message
		want   activities.Followed
	}{
		"completed": {link, []opt.TaskState{opt.TaskCompleted}, nil, activities.Followed{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{artifact("1-2-1-0-echo", "text")}}},
		"later":     {link, []opt.TaskState{opt.TaskWorking, opt.TaskCanceled}, nil, activities.Followed{State: opt.TaskCanceled}},
		"failed":    {link, []opt.TaskState{opt.TaskFailed}, said, activities.Followed{State: opt.TaskFailed, Message: "So it is."}},
		"rejected":  {link, []opt.TaskState{opt.TaskRejected}, said, activities.Followed{State: opt.TaskRejected, Message: "So it is."}},
		"another's": {other, []opt.TaskState{opt.TaskCompleted}, nil, gone},
		"no id":     {activities.Link{Tenant: "t", TaskID: "x", For: taskID}, nil, nil, gone},
	} {
		s := &stateReader{states: tt.states}
		s.view.Task.Artifacts, s.view.Task.Status.Message = []a2a.Artifact{artifact("1-0-echo", "text")}, tt.said
		got := test.Value(follow(t.Context(), s, tt.link))(t)
		test.Equal(t, name, tt.want, got)
		if id := s.view.Task.Artifacts; len(id) > 0 && id[0].ArtifactID != "1-0-echo" {
			t.Errorf("%s: the other task's artifact is called %s now", name, id[0].ArtifactID)
		}
		if s.closed != 1 && tt.link.TaskID == linkedID {
			t.Errorf("%s: %d watches were closed", name, s.closed)
		}
	}
}

// A task that has not ended is followed for a while, and read again when it has
// changed.
func TestFollow_waits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stateReader{states: []opt.TaskState{opt.TaskWorking}}
		began := time.Now()
		got, err := follow(t.Context(), s, link)
		if err != nil || got.State != "" || time.Since(began) != activities.FollowFor || s.looks != 2 {
			t.Errorf("after %s and %d looks: %+v, %v", time.Since(began), s.looks, got, err)
		}
	})
}

func TestFollow_fails(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	test.Error(t, "canceled", context.Canceled, test.Err(follow(ctx, &stateReader{states: []opt.TaskState{opt.TaskWorking}}, link)))
	down := errors.New("down")
	test.Error(t, "without a journal", down, test.Err(follow(t.Context(), &stateReader{states: []opt.TaskState{opt.TaskWorking}, err: down}, link)))
}

// A worker that stops does not wait for tasks that it follows: Temporal repeats
// the activity on another.
func TestFollow_workerStops(t *testing.T) {
	background, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	stop := make(chan struct{})
	s := &stateReader{states: []opt.TaskState{opt.TaskWorking}, change: make(chan struct{})}
	w := newWorker(activities.Config{Tasks: s, Watch: func(string) activities.Watch {
		close(stop)
		return s
	}})
	w.SetWorkerOptions(sdkworker.Options{BackgroundActivityContext: background})
	w.givesBack(t, stop, w.acts.Follow, link)
	test.Is(t, "watches were closed", 1, s.closed)
}
