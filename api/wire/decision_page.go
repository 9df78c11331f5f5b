package wire

import (
	"longhaul/api/read"
	"longhaul/opt"
	optwire "longhaul/opt/wire"
)

// ReadDecisionList reads the params of a list of decisions.
func ReadDecisionList(r *Reader) read.DecisionListParams {
	o := r.params()
	return read.DecisionListParams{ObjectiveID: o.NeedText("id"), Limit: pageSize(o, maxPage), PageToken: o.Text("pageToken")}
}

// DecisionPage returns a page of decisions. It is the same in all versions: hashes are
// made of these members.
func DecisionPage(_ Version, p read.DecisionPage) any {
	out := optwire.DecisionPage{
		ObjectiveID: p.Head.ObjectiveID, Decisions: p.Decisions, Head: p.Head, NextPageToken: p.Next, PageSize: p.Size, TotalSize: p.Head.Count,
	}
	if out.Decisions == nil {
		out.Decisions = []opt.Decision{}
	}
	if out.Head.Chains == nil {
		out.Head.Chains = []opt.ChainHead{}
	}
	return out
}
