package wire

import (
	"longhaul/api/read"
	"longhaul/opt"
)

type decisionPage struct {
	ObjectiveID string           `json:"objectiveId"`
	Decisions   []opt.Decision   `json:"decisions"`
	Head        opt.DecisionHead `json:"head"`
	Next        string           `json:"nextPageToken"`
	Size        int              `json:"pageSize"`
	Total       int64            `json:"totalSize"`
}

// ReadDecisionList reads the params of a list of decisions.
func ReadDecisionList(r *Reader) read.DecisionListParams {
	o := r.params()
	return read.DecisionListParams{ObjectiveID: o.NeedText("id"), Limit: pageSize(o, maxPage), PageToken: o.Text("pageToken")}
}

// DecisionPage returns a page of decisions. It is the same in all versions: hashes are
// made of these members.
func DecisionPage(_ Version, p read.DecisionPage) any {
	out := decisionPage{p.Head.ObjectiveID, p.Decisions, p.Head, p.Next, p.Size, p.Head.Count}
	if out.Decisions == nil {
		out.Decisions = []opt.Decision{}
	}
	if out.Head.Chains == nil {
		out.Head.Chains = []opt.ChainHead{}
	}
	return out
}
