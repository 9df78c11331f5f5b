// Package call is the ground of all operations: who calls with which rights, what a call has in
// progress, its quota, its faults and its log.
//
// A binding makes a [Call] for each request and runs it in [Calls.Serve], which authenticates
// the caller ([Caller]), checks its [Quota] and that it has a scope of the operation ([Right]),
// and turns errors into a [Fault]. Within that the binding reads the parameters, turns on the
// extensions ([Calls.Activate]) and calls one operation. The subjects share what else is here:
// tokens of pages, ids of new work, and the waiter for changes of an objective.
package call
