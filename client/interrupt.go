package client

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"longhaul/opt"
	"longhaul/opt/wire"
)

// An Interrupt is an open gate with the work that waits at it.
type Interrupt = wire.Interrupt

// InterruptOptions select open gates. Zero members select everything.
type InterruptOptions struct {
	Kind        opt.GateKind
	ObjectiveID string
	ContextID   string
	Mine        bool   // only those that wait for the caller
	PageSize    int    // zero: the agent's default
	PageToken   string // of an InterruptPage
}

// An InterruptPage is a page of a list of open gates.
type InterruptPage struct {
	Interrupts    []Interrupt
	Raw           []json.RawMessage // the interrupts as they came
	NextPageToken string            // "" on the last page
	TotalSize     int               // on all pages
}

// interrupts is the part of a Client that reads the list of open gates.
type interrupts struct{ *caller }

const interruptPath = "/v1/interrupts"

// Interrupts returns a page of the open gates, the longest wait first. Only a
// Longhaul server has this list: from another agent, the error is an [*Error] with
// status 404 or 405.
func (c interrupts) Interrupts(ctx context.Context, o InterruptOptions) (*InterruptPage, error) {
	query := url.Values{}
	for name, value := range map[string]string{
		"kind": string(o.Kind), "objectiveId": o.ObjectiveID, "contextId": o.ContextID, "pageToken": o.PageToken,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if o.Mine {
		query.Set("mine", "true")
	}
	if o.PageSize > 0 {
		query.Set("pageSize", strconv.Itoa(o.PageSize))
	}
	var page struct {
		Interrupts    []json.RawMessage `json:"interrupts"`
		NextPageToken string            `json:"nextPageToken"`
		TotalSize     int               `json:"totalSize"`
	}
	if err := c.page(ctx, interruptPath, query, &page); err != nil {
		return nil, err
	}
	list, err := decodeAll[Interrupt](interruptPath, page.Interrupts)
	if err != nil {
		return nil, err
	}
	return &InterruptPage{Interrupts: list, Raw: page.Interrupts, NextPageToken: page.NextPageToken, TotalSize: page.TotalSize}, nil
}
