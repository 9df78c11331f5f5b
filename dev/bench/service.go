package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"longhaul/activities"
	apiservice "longhaul/api/service"
	"longhaul/dev/embedded"
	"longhaul/internal/cli"
	"longhaul/opt"
)

// requests counts requests to Temporal. Polls are among them: an idle worker
// makes hardly any, a busy one about one for each thing it does.
type requests struct{ n atomic.Int64 }

func (r *requests) count(o *client.Options) {
	o.ConnectionOptions.DialOptions = append(o.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			r.n.Add(1)
			return invoke(ctx, method, req, reply, cc, opts...)
		}))
}

// service is Longhaul, all in this process.
type service struct {
	url, temporalAddr string
	requests          requests
	batches           atomic.Int64 // that went to the journal
	http              *http.Client
	n                 atomic.Int64
	cancel            context.CancelFunc
	ended             sync.WaitGroup
}

func startService(ctx context.Context, dir, sync string) (*service, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	temporal, err := freeAddr()
	if err != nil {
		return nil, err
	}
	s := &service{url: "http://" + addr, temporalAddr: temporal, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}}
	ctx, s.cancel = context.WithCancel(ctx)
	build := cli.Build{
		Embed:    embedded.Start,
		Temporal: s.requests.count,
		Journal:  func(j apiservice.Journal) apiservice.Journal { return countedJournal{j, &s.batches} },
		Recorder: func(r activities.Recorder) activities.Recorder { return countedRecorder{r, &s.batches} },
	}
	args := []string{"dev", "--addr", addr, "--temporal-addr", temporal, "--temporal-ui-addr", "", "--data-dir", dir, "--sync", sync, "--log-level", "error"}
	s.ended.Go(func() { cli.Run(ctx, args, io.Discard, os.Stderr, build) })
	return s, s.ready(ctx)
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}

// ready waits until the service takes work.
func (s *service) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if resp, err := s.http.Get(s.url + "/readyz"); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return errors.New("the service did not come up")
		case <-tick.C:
		}
	}
}

func (s *service) stop() {
	s.cancel()
	s.ended.Wait()
}

// once sends one objective and waits for its end.
func (s *service) once(ctx context.Context) error {
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "SendMessage",
		"params": map[string]any{"message": map[string]any{
			"messageId": "bench-" + strconv.FormatInt(s.n.Add(1), 10), "role": "ROLE_USER",
			"parts":    []any{map[string]any{"text": "go"}},
			"metadata": map[string]any{opt.KeyPlan: opt.PlanSpec{Name: "Bench", Tasks: []opt.TaskSpec{{Name: "One"}, {Name: "Two"}, {Name: "Three"}}}},
		}},
	})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	resp, err := s.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if !bytes.Contains(answer, []byte("TASK_STATE_COMPLETED")) {
		return fmt.Errorf("not completed: %s", answer)
	}
	return nil
}

// count runs each side alone for a while and counts what a run costs.
func (s *service) count(ctx context.Context, b *bare) ([]count, error) {
	const runs = 50
	bareBefore := b.requests.n.Load()
	if err := repeat(ctx, runs, 1, b.once); err != nil {
		return nil, err
	}
	bareAfter := b.requests.n.Load()
	requestsBefore, batchesBefore := s.requests.n.Load(), s.batches.Load()
	if err := repeat(ctx, runs, 1, s.once); err != nil {
		return nil, err
	}
	return []count{
		{"requests to Temporal, each", float64(bareAfter-bareBefore) / runs, float64(s.requests.n.Load()-requestsBefore) / runs},
		{"batches to the journal, each", 0, float64(s.batches.Load()-batchesBefore) / runs},
	}, nil
}

type countedJournal struct {
	apiservice.Journal
	n *atomic.Int64
}

func (c countedJournal) Record(ctx context.Context, b opt.Batch) error {
	c.n.Add(1)
	return c.Journal.Record(ctx, b)
}

type countedRecorder struct {
	activities.Recorder
	n *atomic.Int64
}

func (c countedRecorder) Record(ctx context.Context, b opt.Batch) error {
	c.n.Add(1)
	return c.Recorder.Record(ctx, b)
}

// quiet is a log that nobody reads.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
