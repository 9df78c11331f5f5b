// Package cost counts the cost of one objective: requests to Temporal, batches
// to the journal and reads of it, step by step. [StartService] runs all of Longhaul in this
// process, [StartBare] a Temporal workflow of the same shape without Longhaul;
// each has a [Log]. The benchmark measures the time of the same two.
package cost

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Kind is the kind of a step.
type Kind string

// The kinds of steps. Polls that return no task are not steps.
const (
	Request   Kind = "request"   // to Temporal
	Heartbeat Kind = "heartbeat" // to Temporal too, but their number depends on time
	Batch     Kind = "batch"     // written to the journal
	Read      Kind = "read"      // of tasks and objectives in the journal, by the API
)

// A Step is one request, heartbeat or batch for an objective.
type Step struct {
	Kind Kind
	What string // the method and the type of workflow or activity; the events of a batch
	Price
}

// A Price is what a request costs besides itself.
type Price struct {
	WorkflowTasks, Activities, Signals int
	Visibility                         int // writes to the lists of workflows
	Actions                            int // that Temporal Cloud bills, without heartbeats
}

func (p *Price) add(q Price) {
	p.WorkflowTasks += q.WorkflowTasks
	p.Activities += q.Activities
	p.Signals += q.Signals
	p.Visibility += q.Visibility
	p.Actions += q.Actions
}

// A Cost lists the steps of one objective in order: polls when they return,
// other requests when they are sent.
type Cost []Step

// Count returns the number of steps of a kind.
func (c Cost) Count(kind Kind) (n int) {
	for _, step := range c {
		if step.Kind == kind {
			n++
		}
	}
	return n
}

// Price returns what all steps cost besides the requests.
func (c Cost) Price() (sum Price) {
	for _, step := range c {
		sum.add(step.Price)
	}
	return sum
}

// String has a line for each step; requests are numbered.
func (c Cost) String() string {
	var b strings.Builder
	n := 0
	for _, step := range c {
		if step.Kind == Request {
			n++
			fmt.Fprintf(&b, "%3d %s\n", n, step.What)
		} else {
			fmt.Fprintf(&b, "    (%s) %s\n", step.Kind, step.What)
		}
	}
	return b.String()
}

// Median returns the cost with the median number of requests.
func Median(costs []Cost) Cost {
	sorted := slices.SortedStableFunc(slices.Values(costs), func(a, b Cost) int {
		return cmp.Compare(a.Count(Request), b.Count(Request))
	})
	return sorted[len(sorted)/2]
}
