// Package client talks A2A 1.0 over JSON-RPC, and the Objective-Plan-Task extension, to an
// agent such as Longhaul.
//
// [New] returns a [Client], which connects when it is used. [Client.Send] sends a message
// and returns the task that it began or continued. [Client.Stream] does the same and
// yields an [Event] for each change; [Client.Subscribe] follows a task that exists.
// [Client.Get], [Client.List] and [Client.Cancel] are about tasks. Objectives, plans and
// their tasks, open gates, decisions and schedules have methods of the same kind.
// [Client.Call] calls any other method, and [Client.Read] reads any other page. Lists come as
// a [Page] at a time.
//
// The usual sequence is [Client.Send], or [Client.CreateObjective] and [Client.Start]; then
// [Client.Wait], which returns when the task has ended or waits for a person, and
// [Client.Answer], after which the work continues.
//
// While the agent cannot be reached, calls that may be repeated are repeated, for
// [Config.Patience]: a message has an id, by which the agent recognizes it, and a change
// may have a key. A stream
// resumes after the last event that was received, where its connection broke. So a
// restart of the agent causes no error. An error in an answer of the agent is an [*Error];
// [HasReason] reports whether it has a reason.
//
// What the agent adds to A2A stands in the metadata of its tasks: [Gate], [Decided],
// [ObjectiveOf] and [ChangeOf] read it.
package client
