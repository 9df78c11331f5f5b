package client

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"longhaul/opt"
)

// DecisionOptions select a page of decisions.
type DecisionOptions struct {
	PageSize  int    // zero: the agent's default
	PageToken string // of a DecisionPage
}

// A DecisionPage is a page of the decisions at the gates of an objective.
type DecisionPage struct {
	Decisions     []opt.Decision
	Raw           []json.RawMessage // the decisions as they came, for [opt.Chains]
	Head          opt.DecisionHead  // of all decisions, also those on other pages
	NextPageToken string            // "" on the last page
	TotalSize     int               // on all pages
}

// Decisions returns a page of the decisions of an objective, in the order in which they
// were recorded. Only a Longhaul server has this list, as with Interrupts.
func (c objectives) Decisions(ctx context.Context, objectiveID string, o DecisionOptions) (*DecisionPage, error) {
	query := url.Values{}
	if o.PageSize > 0 {
		query.Set("pageSize", strconv.Itoa(o.PageSize))
	}
	if o.PageToken != "" {
		query.Set("pageToken", o.PageToken)
	}
	var page struct {
		Decisions     []json.RawMessage `json:"decisions"`
		Head          opt.DecisionHead  `json:"head"`
		NextPageToken string            `json:"nextPageToken"`
		TotalSize     int               `json:"totalSize"`
	}
	path := "/v1/objectives/" + url.PathEscape(objectiveID) + "/decisions"
	if err := c.page(ctx, path, query, &page); err != nil {
		return nil, err
	}
	list, err := decodeAll[opt.Decision](path, page.Decisions)
	if err != nil {
		return nil, err
	}
	return &DecisionPage{Decisions: list, Raw: page.Decisions, Head: page.Head, NextPageToken: page.NextPageToken, TotalSize: page.TotalSize}, nil
}

// hasDecision reports whether an answer to a gate has a verdict.
func (c objectives) hasDecision(ctx context.Context, gateID, messageID string) (bool, error) {
	taskID, _ := opt.TaskOfGate(gateID)
	ref, ok := opt.ParseID(taskID)
	if !ok {
		return true, nil // another agent's, which has no such list
	}
	for o := (DecisionOptions{}); ; {
		page, err := c.Decisions(ctx, ref.ObjectiveID, o)
		if err != nil {
			return false, err
		}
		for _, d := range page.Decisions {
			if d.MessageID == messageID {
				return true, nil
			}
		}
		if o.PageToken = page.NextPageToken; o.PageToken == "" {
			return false, nil
		}
	}
}
