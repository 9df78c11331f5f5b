package clients_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"
)

// jsPeer is a client in a node process.
type jsPeer struct {
	node *node
	name string
	seen card
	t    *testing.T
}

// jsLister is one that can list.
type jsLister struct{ *jsPeer }

// args are the arguments of a call to a peer.
type args struct {
	Peer       string   `json:"peer"`
	URL        string   `json:"url,omitempty"`
	Extensions []string `json:"extensions"`
	Message    message  `json:"message"`
	Query      query    `json:"query"`
	ID         string   `json:"id,omitempty"`
	History    *int     `json:"history,omitempty"`
	Hook       hook     `json:"hook"`

	Keys json.RawMessage `json:"keys,omitempty"` // a JSON Web Key Set
	Card json.RawMessage `json:"card,omitempty"`
}

// jsSDK runs the program in a directory under js, which uses one binding. All its
// peers are in one process.
func jsSDK(dir, binding string) func(*testing.T) dial {
	return func(t *testing.T) dial {
		n := startNode(t, dir, binding)
		return func(ctx context.Context, t *testing.T, url string, extensions ...string) peer {
			t.Helper()
			p := &jsPeer{node: n, name: n.next(), t: t}
			if err := p.node.call(ctx, "connect", args{Peer: p.name, URL: url, Extensions: append([]string{}, extensions...)}, &p.seen); err != nil {
				t.Fatalf("make a client from the card: %v", err)
			}
			if dir == "v10" {
				return jsLister{p}
			}
			return p
		}
	}
}

func (p *jsPeer) card() card { return p.seen }

func (p *jsPeer) activated() string { return p.noted().Activated }
func (p *jsPeer) chosen() string    { return bindingAt(p.noted().Path) }

// noted returns the notes of the last response.
func (p *jsPeer) noted() (out struct{ Activated, Path string }) {
	if err := p.node.call(p.t.Context(), "noted", args{Peer: p.name}, &out); err != nil {
		p.t.Error(err)
	}
	return out
}

func (p *jsPeer) send(ctx context.Context, m message) (out task, err error) {
	err = p.node.call(ctx, "send", args{Peer: p.name, Message: m}, &out)
	return out, err
}

func (p *jsPeer) get(ctx context.Context, id string, history *int) (out task, err error) {
	err = p.node.call(ctx, "get", args{Peer: p.name, ID: id, History: history}, &out)
	return out, err
}

func (p *jsPeer) cancel(ctx context.Context, id string) (out task, err error) {
	err = p.node.call(ctx, "cancel", args{Peer: p.name, ID: id}, &out)
	return out, err
}

func (p *jsPeer) stream(ctx context.Context, m message) iter.Seq2[event, error] {
	return p.node.stream(ctx, "stream", args{Peer: p.name, Message: m})
}

func (p *jsPeer) subscribe(ctx context.Context, id string) iter.Seq2[event, error] {
	return p.node.stream(ctx, "subscribe", args{Peer: p.name, ID: id})
}

func (p jsLister) list(ctx context.Context, q query) (out page, err error) {
	err = p.node.call(ctx, "list", args{Peer: p.name, Query: q}, &out)
	return out, err
}

// A jsError is an error of a client in JavaScript, with the kind of its class.
type jsError struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

func (e *jsError) err() error {
	words := map[string]error{"not-found": errNotFound, "not-cancelable": errNotCancelable, "unsupported": errUnsupported, "invalid": errInvalid}
	if word := words[e.Kind]; word != nil {
		return fmt.Errorf("%w: %s", word, e.Message)
	}
	return errors.New(e.Message)
}
