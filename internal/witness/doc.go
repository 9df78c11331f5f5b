// Package witness judges what clients of a server have seen. It does not know how the
// server works: a [History] has calls, each with its begin, its end and its result, and
// streams of events, and [History.Judge] says whether a server that keeps its promises
// could have answered so.
//
// Calls about one [Subject] are judged together. A server keeps a promise if the calls
// can be put into an order that explains all results, and in which each call comes after
// those that had ended when it began (linearizability, which Porcupine decides; for turns, whose
// order is known, no search is needed). A call
// whose result is unknown, since its connection broke, the server answered with an error
// like 503, or a process was killed, may have happened at any time after it began, or
// never. The promises, each with the calls of its subjects:
//
//   - [Once]: a message, a key or a time of a schedule makes one thing, which is not lost
//     ([Make], [Look], [Find]).
//   - [Decided]: a gate is decided once, by the votes that it needs ([Vote], [Decisions]).
//   - [Revised]: a change that expects a revision is applied to that revision alone, and
//     a repeat is not applied again ([Change], [Read]).
//   - [Turns]: of what shares a context one runs at a time, and they begin in the order
//     in which they arrived ([Arrive], [Run], [Rest]).
//
// A [Stream] is what one subscriber got, over any number of connections. It is compared
// with the whole sequence: nothing is lost, repeated, changed or out of order.
//
// An [Anomaly] is a history that breaks a promise, cut down to calls that break it
// for any results of the other calls, with a picture of them as text or SVG.
package witness
