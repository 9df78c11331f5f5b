package client

import (
	"cmp"
	"encoding/json"

	"longhaul/a2a"
	"longhaul/a2a/codec"
)

// An Event is an element of a stream or the result of a send. The result of a
// send has Task or Message set.
type Event struct {
	a2a.Event

	// ID is the position of the event in its stream, from which Subscribe can
	// resume; "" if the agent gave none.
	ID string
	// Raw is the event as it came.
	Raw json.RawMessage
}

func readEvent(id string, raw json.RawMessage) (Event, error) {
	e, err := codec.Peer.Event(raw)
	if err != nil {
		return Event{}, err
	}
	out := Event{Event: e.Event, ID: id, Raw: raw}
	var at struct {
		Sequence json.Number `json:"sequence"`
	}
	if out.Metadata().Decode(a2a.ExtensionStream, &at) == nil { // a proxy may have removed ids
		out.ID = cmp.Or(id, at.Sequence.String())
	}
	return out, nil
}

// TaskID returns the id of the task that e is about, "" if there is none.
func (e Event) TaskID() string {
	switch {
	case e.Task != nil:
		return e.Task.ID
	case e.Status != nil:
		return e.Status.TaskID
	case e.Artifact != nil:
		return e.Artifact.TaskID
	}
	return ""
}

// Metadata returns the metadata of the task or the update in e.
func (e Event) Metadata() a2a.Metadata {
	switch {
	case e.Task != nil:
		return e.Task.Metadata
	case e.Message != nil:
		return e.Message.Metadata
	case e.Status != nil:
		return e.Status.Metadata
	case e.Artifact != nil:
		return e.Artifact.Metadata
	}
	return nil
}
