package wire

import "longhaul/api/read"

// ReadDecisionList reads the params of a list of decisions.
func ReadDecisionList(r *Reader) read.DecisionListParams {
	o := r.params()
	return read.DecisionListParams{ObjectiveID: o.NeedText("id"), Limit: pageSize(o, maxPage), PageToken: o.Text("pageToken")}
}
