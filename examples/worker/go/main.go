// A worker in Go that does not use Longhaul's packages: it counts the words of a text.
//
//	GOWORK=off go run .
package main

import (
	"context"
	"log"
	"os"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
)

// Work has the members of a task's work that this worker reads.
type Work struct {
	Key   string `json:"key"`
	Input struct {
		Text  string `json:"text"`
		Pause int    `json:"pause"` // milliseconds
	} `json:"input"`
}

// countWords gets the work of a task. Its return value is the result, since it has no
// state; see docs/executors.md for outcomes.
func countWords(ctx context.Context, w Work) (map[string]int, error) {
	if w.Input.Text == "" {
		return nil, temporal.NewNonRetryableApplicationError("The input has no text.", "bad-input", nil)
	}
	words := strings.Fields(w.Input.Text)
	for i := range words {
		activity.RecordHeartbeat(ctx, i)
		select {
		case <-ctx.Done(): // the task is canceled
			return nil, ctx.Err()
		case <-time.After(time.Duration(w.Input.Pause) * time.Millisecond):
		}
	}
	return map[string]int{"words": len(words)}, nil
}

func main() {
	options := client.Options{HostPort: os.Getenv("TEMPORAL_ADDRESS"), Namespace: os.Getenv("TEMPORAL_NAMESPACE")}
	if keys := os.Getenv("LONGHAUL_PAYLOAD_KEYS"); keys != "" {
		codec, err := newCodec(keys)
		if err != nil {
			log.Fatal(err)
		}
		options.DataConverter = converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), codec)
		options.FailureConverter = temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{DataConverter: options.DataConverter, EncodeCommonAttributes: true})
	}
	c, err := client.Dial(options)
	if err != nil {
		log.Fatal(err)
	}
	w := worker.New(c, "words", worker.Options{DisableWorkflowWorker: true})
	w.RegisterActivityWithOptions(countWords, activity.RegisterOptions{Name: "countWords"})
	if err := w.Run(worker.InterruptCh()); err != nil {
		log.Fatal(err)
	}
}
