package read

import (
	"context"
	"errors"
	"strconv"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/opt/wire"
)

// DecisionListParams are the params of a list of decisions.
type DecisionListParams struct {
	ObjectiveID string `param:"id,needed"`
	Limit       int    `param:"pageSize,page of 100"`
	PageToken   string `param:"pageToken"`
}

// A DecisionReader returns a page of at most limit decisions of an objective after a position, the
// first for 0.
type DecisionReader interface {
	Decisions(ctx context.Context, tenant, objectiveID string, after shown.DecisionCursor, limit int) (shown.DecisionPage, error)
}

// Decisions lists the decisions at gates.
type Decisions struct {
	Journal  DecisionReader
	Pages    *call.Pages
	Now      func() time.Time
	SignHead func(ctx context.Context, statement []byte) (string, error) // nil leaves heads unsigned
}

// ListDecisions returns a page of the decisions of an objective, with their signed head
// if there is a key.
func (s Decisions) ListDecisions(ctx context.Context, c *call.Call, p DecisionListParams) (wire.DecisionPage, error) {
	page := wire.DecisionPage{ObjectiveID: p.ObjectiveID, PageSize: p.Limit}
	missing := call.Missing("OBJECTIVE_NOT_FOUND", "Objective", p.ObjectiveID)
	if !call.IsValidID(p.ObjectiveID) {
		return page, missing
	}
	list := call.PageOf{Kind: "decisions", Tenant: c.Tenant, Filter: []string{p.ObjectiveID}}
	after, err := s.Pages.Cursor(ctx, list, p.PageToken)
	if err != nil {
		return page, err
	}
	position := int64(0)
	if after.ID != "" {
		if position, err = strconv.ParseInt(after.ID, 10, 64); err != nil {
			return page, call.ErrPageToken
		}
	}
	found, err := s.Journal.Decisions(ctx, c.Tenant, p.ObjectiveID, shown.DecisionCursor(position), p.Limit)
	if errors.Is(err, opt.ErrUnknown) {
		return page, missing
	}
	if err != nil {
		return page, err
	}
	c.SetIDs(p.ObjectiveID, "")
	page.Decisions, page.Head, page.TotalSize = append([]opt.Decision{}, found.Decisions...), found.Head, found.Head.Count
	page.Head.Chains = append([]opt.ChainHead{}, found.Head.Chains...)
	page.Head.At = a2a.At(s.Now())
	if s.SignHead != nil {
		if page.Head.Signature, err = s.SignHead(ctx, page.Head.Statement()); err != nil {
			return page, err
		}
	}
	if found.More {
		page.NextPageToken, err = s.Pages.Token(ctx, list, shown.Cursor{ID: strconv.FormatInt(int64(found.Last), 10)})
	}
	return page, err
}
