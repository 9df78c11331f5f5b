package shown

import "longhaul/opt"

// A DecisionCursor is a position in the decisions of an objective: the number of the
// event that brought the last one.
type DecisionCursor int64

// A DecisionPage is a page of the decisions of an objective, in the order in which
// they were recorded.
type DecisionPage struct {
	Decisions []opt.Decision
	Last      DecisionCursor   // of the last one
	More      bool             // there are others after it
	Head      opt.DecisionHead // of all decisions, not signed
}
