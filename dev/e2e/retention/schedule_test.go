package retention_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	commonpb "go.temporal.io/api/common/v1"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/cli"
	"longhaul/internal/serve"
	"longhaul/internal/test"
	"longhaul/workflows"
)

// described returns a description of the only schedule.
func described(ctx context.Context, c client.Client) (string, error) {
	list, err := c.ScheduleClient().List(ctx, client.ScheduleListOptions{})
	if err != nil {
		return "", err
	}
	n := 0
	for ; list.HasNext(); n++ {
		if _, err := list.Next(); err != nil {
			return "", err
		}
	}
	d, err := c.ScheduleClient().GetHandle(ctx, workflows.PurgeSchedule).Describe(ctx)
	if none := new(serviceerror.NotFound); errors.As(err, &none) {
		return "none", nil
	}
	if err != nil || n != 1 {
		return "", fmt.Errorf("there are %d schedules, %w", n, err)
	}
	a := d.Schedule.Action.(*client.ScheduleWorkflowAction)
	var in workflows.PurgeInput
	if err := converter.GetDefaultDataConverter().FromPayload(a.Args[0].(*commonpb.Payload), &in); err != nil {
		return "", err
	}
	out := fmt.Sprintf("%s on %s, ttl %v, every %v, jitter %v, overlap %v", a.Workflow, a.TaskQueue, time.Duration(in.TTL)*time.Second,
		d.Schedule.Spec.Intervals[0].Every, d.Schedule.Spec.Jitter, d.Schedule.Policy.Overlap)
	if d.Schedule.State.Paused {
		out += ", paused"
	}
	return out + ": " + d.Schedule.State.Note, nil
}

// shows waits until the schedule has the description want.
func shows(t *testing.T, c client.Client, want string) {
	t.Helper()
	harness.Eventually(t, within, "the schedule is "+want, func() error {
		got, err := described(t.Context(), c)
		if err == nil && got != want {
			err = fmt.Errorf("it is %s", got)
		}
		return err
	})
}

// retention returns how long the namespace keeps ended workflows.
func retention(t *testing.T, c client.Client) time.Duration {
	t.Helper()
	state := test.Value(workflows.Examine(t.Context(), c, "default"))(t)
	return state.Retention
}

const (
	hourly = "Purge on longhaul, ttl %s, every 1h0m0s, jitter 10m0s, overlap Skip%s"
	note   = ": Removes from Longhaul's journal what ended more than %s ago. Workers make this schedule from their setting --ttl when they start."
)

// Workers make one schedule, however many start at a time, and change it when
// their setting has changed. The embedded Temporal follows the setting, too.
func TestRetention_schedule(t *testing.T) {
	site := harness.NewSite(t, harness.Dev)
	temporal := site.Start(harness.Temporal, "LONGHAUL_TTL=2h")
	c := dial(t, site)
	test.Is(t, "the namespace keeps ended work for", 2*time.Hour, retention(t, c))

	var workers []*harness.Process
	for range 3 {
		workers = append(workers, site.Launch(harness.Worker))
	}
	for _, w := range workers {
		w.WaitReady()
		harness.Eventually(t, within, "a worker warns", func() error {
			return w.Logged("temporal operator namespace update --namespace default --retention 168h")
		})
	}
	shows(t, c, fmt.Sprintf(hourly, "168h0m0s", fmt.Sprintf(note, "7 days")))

	workers = append(workers, site.Start(harness.Worker, "LONGHAUL_TTL=36h"))
	shows(t, c, fmt.Sprintf(hourly, "36h0m0s", fmt.Sprintf(note, "36 hours")))

	handle := c.ScheduleClient().GetHandle(t.Context(), workflows.PurgeSchedule)
	test.OK(t, handle.Pause(t.Context(), client.SchedulePauseOptions{Note: "hands off"}))
	workers = append(workers, site.Start(harness.Worker, "LONGHAUL_TTL=96h"))
	shows(t, c, fmt.Sprintf(hourly, "96h0m0s", ", paused: hands off"))

	workers = append(workers, site.Start(harness.Worker, "LONGHAUL_TTL=0"))
	shows(t, c, "none")
	workers = append(workers, site.Start(harness.Worker, "LONGHAUL_TTL=1m"))
	shows(t, c, "Purge on longhaul, ttl 1m0s, every 1m0s, jitter 10s, overlap Skip"+fmt.Sprintf(note, "1m0s"))
	for _, w := range workers {
		w.Stop()
	}
	temporal.Stop()

	site.Start(harness.Temporal, "LONGHAUL_TTL=30m") // Temporal accepts no less than an hour
	test.Is(t, "the namespace keeps ended work for", time.Hour, retention(t, dial(t, site)))
}

// The service works if it may not make a schedule, or if the server does not
// support schedules.
func TestRetention_withoutSchedules(t *testing.T) {
	for name, code := range map[string]codes.Code{"denied": codes.PermissionDenied, "unknown": codes.Unimplemented} {
		t.Run(name, func(t *testing.T) {
			var refused atomic.Int64
			refuse := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, next grpc.UnaryInvoker, o ...grpc.CallOption) error {
				if strings.HasSuffix(method, "/CreateSchedule") {
					refused.Add(1)
					return status.Error(code, "not here")
				}
				return next(ctx, method, req, reply, cc, o...)
			}
			site := harness.NewSite(t, harness.Dev)
			site.Start(harness.Temporal)
			embed := func(context.Context, serve.EmbedConfig) (*serve.Embedded, error) {
				return &serve.Embedded{Addr: site.TemporalAddr, Stop: func() error { return nil }}, nil
			}
			ctx, cancel := context.WithCancel(t.Context())
			exit := make(chan int, 1)
			go func() {
				exit <- cli.Run(ctx, []string{"dev", "--data-dir", site.Dir, "--addr", site.Addr, "--temporal-addr", harness.FreeAddr(t), "--temporal-ui-addr", "", "--log-level", "error"},
					t.Output(), t.Output(), serve.Build{Embed: embed, Temporal: func(options *client.Options) {
						options.ConnectionOptions.DialOptions = append(options.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(refuse))
					}})
			}()
			harness.Eventually(t, within, "the API is ready", func() error { return site.Answers("/readyz") })
			harness.Eventually(t, within, "the schedule is refused", func() error {
				if refused.Load() == 0 {
					return errors.New("not yet")
				}
				return nil
			})
			task, err := site.Client().Send(ctx, harness.Message{ID: "m", Text: "say done", Wait: true})
			if err != nil || task.State != "COMPLETED" {
				t.Errorf("the task is %+v, %v", task, err)
			}
			cancel()
			test.Is(t, "exit code", 0, <-exit)
			test.Is(t, "it was tried times", 1, refused.Load())
		})
	}
}
