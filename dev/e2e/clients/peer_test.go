package clients_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
)

// A peer wraps an official client for this test. It is made from the card of an
// agent. Its methods may be called concurrently.
type peer interface {
	card() card
	send(ctx context.Context, m message) (task, error)
	stream(ctx context.Context, m message) iter.Seq2[event, error]
	get(ctx context.Context, id string, history *int) (task, error)
	cancel(ctx context.Context, id string) (task, error)
	subscribe(ctx context.Context, id string) iter.Seq2[event, error]
	activated() string // the extensions that the last response named
	chosen() string    // the binding of that response
}

// A lister is a peer that can list tasks.
type lister interface {
	list(ctx context.Context, q query) (page, error)
}

// dial makes a peer from the card at a URL. The peer asks for extensions with
// each call.
type dial func(ctx context.Context, t *testing.T, url string, extensions ...string) peer

// The refusals of the clients.
var (
	errNotFound      = errors.New("a task that is not found")
	errNotCancelable = errors.New("a task that cannot be canceled")
	errUnsupported   = errors.New("an operation that is not supported")
	errInvalid       = errors.New("bad params")
)

// A refusal is an error of a client with our error for it.
type refusal struct{ theirs, ours error }

// typed adds our error to an error of a client, if there is one.
func typed(err error, words []refusal) error {
	for _, w := range words {
		if errors.Is(err, w.theirs) {
			return fmt.Errorf("%w: %w", w.ours, err)
		}
	}
	return err
}

// A message is what a peer is to send.
type message struct {
	Text      string         `json:"text,omitempty"`
	Data      map[string]any `json:"data,omitempty"`
	TaskID    string         `json:"taskId,omitempty"`
	ContextID string         `json:"contextId,omitempty"`
	Leave     bool           `json:"leave,omitempty"` // do not wait for the work
	History   *int           `json:"history,omitempty"`
	Push      *hook          `json:"push,omitempty"`
}

// A card is the card as a peer shows it.
type card struct {
	Name       string   `json:"name"`
	Streaming  bool     `json:"streaming"`
	Skills     []string `json:"skills"`     // ids
	Extensions []string `json:"extensions"` // URIs
}

// A task is a task as a peer shows it. States are as in 0.3.
type task struct {
	ID        string         `json:"id"`
	ContextID string         `json:"contextId"`
	Status    status         `json:"status"`
	Artifacts []artifact     `json:"artifacts"`
	History   []said         `json:"history"`
	Metadata  map[string]any `json:"metadata"`
}

type status struct {
	State string         `json:"state"`
	Text  string         `json:"text"` // of the message
	Data  map[string]any `json:"data"` // likewise
}

type artifact struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Text string `json:"text"`
}

type said struct {
	Role string `json:"role"` // user or agent
	Text string `json:"text"`
}

// An event is an event as a peer shows it: one of the first three is set.
type event struct {
	Task   *task   `json:"task"`
	Status *update `json:"status"`
	Piece  *piece  `json:"piece"`
	Whole  *task   `json:"whole"` // the task that a library assembles from all events so far; nil if it does not
}

type update struct {
	TaskID string `json:"taskId"`
	Now    status `json:"now"`
	Final  *bool  `json:"final"` // nil if the client does not show it
}

type piece struct {
	TaskID string   `json:"taskId"`
	Of     artifact `json:"of"` // with the text of the piece
	Append bool     `json:"append"`
	Last   bool     `json:"last"`
}

// state returns the state in e, "" if there is none.
func (e event) state() string {
	switch {
	case e.Task != nil:
		return e.Task.Status.State
	case e.Status != nil:
		return e.Status.Now.State
	}
	return ""
}

// A query says what to list.
type query struct {
	ContextID string `json:"contextId,omitempty"`
	State     string `json:"state,omitempty"`
	PageSize  int    `json:"pageSize,omitempty"`
	PageToken string `json:"pageToken,omitempty"`
	Artifacts bool   `json:"artifacts,omitempty"`
}

// A page is a page of a list as a peer shows it.
type page struct {
	Tasks []task `json:"tasks"`
	Next  string `json:"next"`
	Size  int    `json:"size"`
	Total int    `json:"total"`
}
