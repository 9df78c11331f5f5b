package service

import (
	"context"
	"errors"
	"strconv"

	"longhaul/a2a"
	"longhaul/opt"
)

// DecisionListParams are the params of a list of decisions.
type DecisionListParams struct {
	ObjectiveID string
	Limit       int
	PageToken   string
}

// A DecisionPage is a page of the decisions of an objective.
type DecisionPage struct {
	Decisions []opt.Decision   // in the order in which they were recorded
	Head      opt.DecisionHead // of all decisions, also those on other pages
	Next      string           // token of the next page, "" for none
	Size      int              // that was asked for
}

// decisions lists the decisions at gates.
type decisions struct {
	cfg   Config
	pages *pages
}

// ListDecisions returns a page of the decisions of an objective, with their signed head
// if there is a key.
func (s decisions) ListDecisions(ctx context.Context, c *Call, p DecisionListParams) (DecisionPage, error) {
	page := DecisionPage{Size: p.Limit}
	missing := optNotFound("OBJECTIVE_NOT_FOUND", "Objective", p.ObjectiveID)
	if !isValidID(p.ObjectiveID) {
		return page, missing
	}
	list := pageOf{kind: "decisions", tenant: c.Tenant, filter: []string{p.ObjectiveID}}
	after, err := s.pages.cursor(ctx, list, p.PageToken)
	if err != nil {
		return page, err
	}
	position := int64(0)
	if after.ID != "" {
		if position, err = strconv.ParseInt(after.ID, 10, 64); err != nil {
			return page, errPageToken
		}
	}
	found, err := s.cfg.Journal.Decisions(ctx, c.Tenant, p.ObjectiveID, opt.DecisionCursor(position), p.Limit)
	if errors.Is(err, opt.ErrUnknown) {
		return page, missing
	}
	if err != nil {
		return page, err
	}
	c.setIDs(p.ObjectiveID, "")
	page.Decisions, page.Head = found.Decisions, found.Head
	page.Head.At = a2a.At(s.cfg.Now())
	if s.cfg.SignHead != nil {
		if page.Head.Signature, err = s.cfg.SignHead(ctx, page.Head.Statement()); err != nil {
			return page, err
		}
	}
	if found.More {
		page.Next, err = s.pages.token(ctx, list, opt.Cursor{ID: strconv.FormatInt(int64(found.Last), 10)})
	}
	return page, err
}
