package workflows

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"
)

// A Cipher encrypts payloads in Temporal. It is safe for concurrent use.
type Cipher interface {
	// Encrypt returns the id of the key, and a nonce with the ciphertext behind it.
	Encrypt(plain []byte) (keyID string, text []byte)
	Decrypt(keyID string, text []byte) ([]byte, error)
}

// The form of encrypted payloads, as in Temporal's samples in every language.
// Their data is a whole payload, encrypted.
const (
	encryptedEncoding = "binary/encrypted"
	keyIDKey          = "encryption-key-id"
)

// A PayloadError says why a payload cannot be decrypted. It is no secret.
type PayloadError struct {
	KeyID string // "" if the payload does not name its key
	Err   error
	Run   int // of the activity that should read it, counted from 1; 0 outside of an activity
}

// Error implements error.
func (e *PayloadError) Error() string {
	return fmt.Sprintf("read a payload in Temporal that was encrypted with the key %s: %v; give all processes the same --payload-keys", e.KeyID, e.Err)
}

// Unwrap returns the cause.
func (e *PayloadError) Unwrap() error { return e.Err }

var errNoKeys = errors.New("this process has no keys for payloads")

// A codec encrypts payloads. One without a cipher encrypts nothing, and refuses
// encrypted payloads.
type codec struct{ cipher Cipher }

// NewCodec returns the codec of a cipher. With nil it encrypts nothing. The error of a
// payload that cannot be decrypted is a *PayloadError.
func NewCodec(c Cipher) converter.PayloadCodec { return codec{c} }

// Encode implements [converter.PayloadCodec].
func (c codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	if c.cipher == nil {
		return payloads, nil
	}
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		plain, err := proto.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("encode payload: %w", err)
		}
		id, text := c.cipher.Encrypt(plain)
		out[i] = &commonpb.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encryptedEncoding), keyIDKey: []byte(id)}, Data: text,
		}
	}
	return out, nil
}

// Decode implements [converter.PayloadCodec]. Payloads that are not encrypted stay as they
// are: encryption can be turned on while work runs.
func (c codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		out[i] = p
		if string(p.GetMetadata()[converter.MetadataEncoding]) != encryptedEncoding {
			continue
		}
		id := string(p.GetMetadata()[keyIDKey])
		if c.cipher == nil {
			return nil, &PayloadError{KeyID: id, Err: errNoKeys}
		}
		plain, err := c.cipher.Decrypt(id, p.GetData())
		if err != nil {
			return nil, &PayloadError{KeyID: id, Err: err}
		}
		out[i] = new(commonpb.Payload)
		if err := proto.Unmarshal(plain, out[i]); err != nil {
			return nil, &PayloadError{KeyID: id, Err: err}
		}
	}
	return out, nil
}

// one encodes or decodes one payload.
func (codec) one(p *commonpb.Payload, code func([]*commonpb.Payload) ([]*commonpb.Payload, error)) (*commonpb.Payload, error) {
	out, err := code([]*commonpb.Payload{p})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// written reports whether a payload is as c writes it now: encrypted with its first key,
// or not at all.
func written(p *commonpb.Payload, c Cipher) bool {
	var id string
	if c != nil {
		id, _ = c.Encrypt(nil)
	}
	return string(p.GetMetadata()[keyIDKey]) == id
}

// A blocking codec panics where a payload cannot be decrypted. In a workflow a panic
// stops the workflow task, which Temporal repeats until a worker has the key; after an
// error the SDK would drop a signal, or end the workflow.
type blocking struct{ codec }

// Decode implements [converter.PayloadCodec].
func (b blocking) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out, err := b.codec.Decode(payloads)
	if err != nil {
		panic(err)
	}
	return out, nil
}

// A dataConverter writes values as JSON, and encrypts them with a codec.
type dataConverter struct {
	converter.DataConverter
	inWorkflow converter.DataConverter
}

// NewDataConverter returns the converter for everything that is stored in Temporal. A
// nil cipher encrypts nothing.
func NewDataConverter(c Cipher) converter.DataConverter {
	plain := converter.GetDefaultDataConverter()
	return dataConverter{converter.NewCodecDataConverter(plain, codec{c}), converter.NewCodecDataConverter(plain, blocking{codec{c}})}
}

// WithContext implements [converter.ContextAware].
func (d dataConverter) WithContext(ctx context.Context) converter.DataConverter {
	if !activity.IsActivity(ctx) {
		return d
	}
	return inActivity{d, int(activity.GetInfo(ctx).Attempt)}
}

// inActivity is the converter of a run of an activity, whose number the errors of payloads have.
type inActivity struct {
	converter.DataConverter
	run int
}

// FromPayload implements [converter.DataConverter].
func (c inActivity) FromPayload(p *commonpb.Payload, to any) error {
	return c.numbered(c.DataConverter.FromPayload(p, to))
}

// FromPayloads implements [converter.DataConverter].
func (c inActivity) FromPayloads(p *commonpb.Payloads, to ...any) error {
	return c.numbered(c.DataConverter.FromPayloads(p, to...))
}

func (c inActivity) numbered(err error) error {
	if unreadable, ok := errors.AsType[*PayloadError](err); ok {
		unreadable.Run = c.run
	}
	return err
}

// WithWorkflowContext implements [converter.ContextAware].
func (d dataConverter) WithWorkflowContext(ctx converter.WorkflowContext) converter.DataConverter {
	if ctx.Value(staysKey{}) != nil {
		return inHistory{d.inWorkflow}
	}
	return d.inWorkflow
}

// staysKey marks contexts whose payloads stay in histories at any size.
type staysKey struct{}

// keepInHistory returns a context for external workers. They cannot read the journal,
// so their payloads stay in the history.
func keepInHistory(ctx workflow.Context) workflow.Context {
	return workflow.WithValue(ctx, staysKey{}, true)
}

// staysMark marks payloads that stay in histories.
const staysMark = "longhaul-stays"

// inHistory is a converter of payloads that stay in histories.
type inHistory struct{ converter.DataConverter }

// ToPayloads implements [converter.DataConverter].
func (c inHistory) ToPayloads(values ...any) (*commonpb.Payloads, error) {
	out, err := c.DataConverter.ToPayloads(values...)
	for _, p := range out.GetPayloads() {
		p.Metadata[staysMark] = []byte("1")
	}
	return out, err
}

// unreadableError is the type of the failure of an activity whose payloads its worker
// could not decrypt. It stands in histories, so it never changes. Its details are from
// [activities.QuotaError].
const unreadableError = "PayloadUnreadable"

// Pauses after which Temporal runs such an activity again, if it does so by itself: each is
// twice as long as the one before.
const (
	unreadablePause   = 5 * time.Second
	unreadableLongest = time.Minute
)

// unreadable returns why a worker could not decrypt the payloads of an activity if err says so,
// and the name of the worker.
func unreadable(err error) (problem string, ok bool) {
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.Type() != unreadableError {
		return "", false
	}
	if run, known := errors.AsType[*temporal.ActivityError](err); known && run.Identity() != "" {
		return run.Identity() + ": " + app.Message(), true
	}
	return app.Message(), true
}

// A failureConverter encrypts the texts of failures, and reads them like payloads in
// workflows.
type failureConverter struct{ sealed, plain converter.FailureConverter }

// NewFailureConverter returns the converter for failures in Temporal. Their types are
// not encrypted. A nil cipher encrypts nothing. Outside of workflows, reading a failure
// panics if the key is missing.
func NewFailureConverter(c Cipher) converter.FailureConverter {
	dc := converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), blocking{codec{c}})
	return failureConverter{
		temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{DataConverter: dc, EncodeCommonAttributes: c != nil}),
		temporal.GetDefaultFailureConverter(),
	}
}

// ErrorToFailure implements [converter.FailureConverter]. A failure because of a missing
// key is not encrypted, since its worker has other keys than the others.
func (f failureConverter) ErrorToFailure(err error) *failurepb.Failure {
	cause, ok := errors.AsType[*PayloadError](err)
	if !ok {
		return f.sealed.ErrorToFailure(err)
	}
	options := temporal.ApplicationErrorOptions{NextRetryDelay: unreadablePause}
	if cause.Run > 0 {
		options.NextRetryDelay = min(unreadablePause<<min(cause.Run-1, 10), unreadableLongest)
		options.Details = []any{cause.Run - 1}
	}
	return f.plain.ErrorToFailure(temporal.NewApplicationErrorWithOptions(cause.Error(), unreadableError, options))
}

// FailureToError implements [converter.FailureConverter].
func (f failureConverter) FailureToError(failure *failurepb.Failure) error {
	return f.sealed.FailureToError(failure)
}

// noteForm begins encrypted notes of schedules, which Temporal does not take as payloads.
// The id of the key and the text in base64 follow.
const noteForm = "encrypted:"

// sealNote returns a note as Temporal stores it.
func sealNote(c Cipher, note string) string {
	if c == nil || note == "" {
		return note
	}
	id, text := c.Encrypt([]byte(note))
	return noteForm + id + ":" + base64.StdEncoding.EncodeToString(text)
}

// openNote returns a note that Temporal has stored.
func openNote(c Cipher, stored string) (string, error) {
	form, sealed := strings.CutPrefix(stored, noteForm)
	id, encoded, _ := strings.Cut(form, ":")
	text, err := base64.StdEncoding.DecodeString(encoded)
	switch {
	case !sealed || err != nil:
		return stored, nil // it was written in Temporal's UI
	case c == nil:
		return "", &PayloadError{KeyID: id, Err: errNoKeys}
	}
	note, err := c.Decrypt(id, text)
	if err != nil {
		return "", &PayloadError{KeyID: id, Err: err}
	}
	return string(note), nil
}
