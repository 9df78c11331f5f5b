package workflows_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"google.golang.org/protobuf/proto"

	"longhaul/internal/seal"
	"longhaul/internal/test"
	"longhaul/workflows"
)

// keys returns a cipher; each byte makes a key.
func keys(t testing.TB, first byte, others ...byte) *seal.Box {
	t.Helper()
	var list [][]byte
	for _, b := range append([]byte{first}, others...) {
		list = append(list, bytes.Repeat([]byte{b}, 32))
	}
	box := test.Value(seal.New(list...))(t)
	return box
}

// converted returns v as a payload.
func converted(t testing.TB, c workflows.Cipher, v any) *commonpb.Payload {
	t.Helper()
	p := test.Value(workflows.NewDataConverter(c).ToPayload(v))(t)
	return p
}

// Payloads are read with every key, and with encryption off until they are encrypted.
func TestNewDataConverter(t *testing.T) {
	const text = "s3cret words"
	for _, tt := range []struct {
		name           string
		writer, reader workflows.Cipher
		err            error
	}{
		{"the same key", keys(t, 1), keys(t, 1), nil},
		{"rotated", keys(t, 1), keys(t, 2, 1), nil},
		{"not rotated yet", keys(t, 2, 1), keys(t, 1, 2), nil},
		{"from before the encryption", nil, keys(t, 1), nil},
		{"no encryption", nil, nil, nil},
		{"another key", keys(t, 1), keys(t, 2), seal.ErrKey},
		{"no key", keys(t, 1), nil, nil},
	} {
		p := converted(t, tt.writer, text)
		if hidden := !bytes.Contains(p.GetData(), []byte("s3cret")); hidden != (tt.writer != nil) {
			t.Errorf("%s: hidden is %v", tt.name, hidden)
		}
		var got string
		err := workflows.NewDataConverter(tt.reader).FromPayload(p, &got)
		var sealed *workflows.PayloadError
		switch fails := tt.err != nil || tt.name == "no key"; {
		case !fails && (err != nil || got != text):
			t.Errorf("%s: %q, %v", tt.name, got, err)
		case fails && (!errors.As(err, &sealed) || !errors.Is(err, tt.err) && tt.err != nil || !strings.Contains(err.Error(), string(p.GetMetadata()["encryption-key-id"]))):
			t.Errorf("%s: error %v, want one with the id of the key", tt.name, err)
		}
	}
}

// Other programs read this form; it is as in Temporal's samples.
func TestNewCodec_form(t *testing.T) {
	p := converted(t, keys(t, 1), "x")
	test.Is(t, "encoding", "binary/encrypted", string(p.GetMetadata()[converter.MetadataEncoding]))
	id := string(p.GetMetadata()["encryption-key-id"])
	plain := test.Value(keys(t, 1).Decrypt(id, p.GetData()))(t)
	var inner commonpb.Payload
	if err := proto.Unmarshal(plain, &inner); err != nil || string(inner.GetData()) != `"x"` {
		t.Errorf("the payload in it is %v, %v", &inner, err)
	}
}

// The text of a failure is encrypted, its type is not: retries depend on it.
func TestNewFailureConverter(t *testing.T) {
	c := workflows.NewFailureConverter(keys(t, 1))
	f := c.ErrorToFailure(temporal.NewApplicationErrorWithCause("s3cret", "busy", errors.New("s3cret, too"), "s3cret details"))
	if text := f.String(); strings.Contains(text, "s3cret") {
		t.Errorf("the failure is readable: %s", text)
	}
	test.Is(t, "type", "busy", f.GetApplicationFailureInfo().GetType())
	if err := c.FailureToError(f); !strings.Contains(err.Error(), "s3cret") {
		t.Errorf("read again: %v", err)
	}
}

// A worker with other keys says so in a form that workers with the right ones can read.
func TestNewFailureConverter_unreadable(t *testing.T) {
	var got string
	err := workflows.NewDataConverter(keys(t, 2)).FromPayload(converted(t, keys(t, 1), "x"), &got)
	f := workflows.NewFailureConverter(keys(t, 2)).ErrorToFailure(err)
	var app *temporal.ApplicationError
	if err := workflows.NewFailureConverter(keys(t, 1)).FailureToError(f); !errors.As(err, &app) || app.Type() != "PayloadUnreadable" || app.NextRetryDelay() == 0 || app.NonRetryable() || app.HasDetails() {
		t.Errorf("the failure is %v", err)
	}
}

// A locked cipher can only encrypt, as one with other keys than the writer's.
type locked struct{ workflows.Cipher }

func (locked) Decrypt(string, []byte) ([]byte, error) { return nil, seal.ErrKey }

// The failure of an activity that could not read its input says how many runs may have begun
// before. Temporal runs it again after pauses that become longer, up to a minute.
func TestNewFailureConverter_unreadableInput(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(discard)
	env := suite.NewTestActivityEnvironment()
	env.SetDataConverter(workflows.NewDataConverter(locked{keys(t, 1)}))
	env.SetFailureConverter(workflows.NewFailureConverter(keys(t, 2)))
	env.RegisterActivityWithOptions(func(context.Context, string) error { return nil }, activity.RegisterOptions{Name: "read"})
	_, err := env.ExecuteActivity("read", "x")
	var app *temporal.ApplicationError
	before := -1
	if !errors.As(err, &app) || app.Type() != "PayloadUnreadable" || app.NextRetryDelay() != 5*time.Second || app.Details(&before) != nil || before != 0 {
		t.Errorf("the failure is %v, after %d runs", err, before)
	}
	for run, want := range map[int]time.Duration{1: 5 * time.Second, 2: 10 * time.Second, 4: 40 * time.Second, 5: time.Minute, 99: time.Minute} {
		f := workflows.NewFailureConverter(nil).ErrorToFailure(&workflows.PayloadError{Err: seal.ErrKey, Run: run})
		test.Is(t, fmt.Sprintf("run %d: the pause", run), want, f.GetApplicationFailureInfo().GetNextRetryDelay().AsDuration())
	}
}

// BenchmarkNewDataConverter shows what encryption costs per payload: one of 2 KB is a
// large task, one of 64 KB the largest that stays in a history.
func BenchmarkNewDataConverter(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"2KB", 2 << 10}, {"64KB", 64 << 10}} {
		value := strings.Repeat("x", size.bytes)
		for _, how := range []struct {
			name string
			workflows.Cipher
		}{{"plain", nil}, {"encrypted", keys(b, 1)}} {
			b.Run(size.name+"/"+how.name, func(b *testing.B) {
				b.ReportAllocs()
				c := workflows.NewDataConverter(how.Cipher)
				for b.Loop() {
					p, err := c.ToPayload(value)
					var got string
					if err != nil || c.FromPayload(p, &got) != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
