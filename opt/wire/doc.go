// Package wire has the JSON of the Objective-Plan-Task extension and of the pages below /v1 as
// types. The server writes them, and the Go client reads and writes them; the OpenAPI description
// of the API is made from them and from the comments of their fields.
//
// An [Objective] has [Plan]s with [PlanTask]s. An [Interrupt] is an open gate, a [GateAnswer] goes to
// it. A [Schedule] starts objectives. A [Delivery] is a state on its way to a
// URL. [TaskRecord] and [Run] are records without content. The functions that end in Of make them
// from the types of package opt.
//
// Lists and metadata that the server shows are never nil. Where a client leaves a member out, it is
// nil or zero.
package wire
