// Package a2a is the A2A model: tasks, messages, parts, artifacts and the events of a
// stream, in the shape of protocol 1.0. It is pure data.
//
// A [Task] has a [TaskStatus] with a [TaskState], the [Message]s of its history, and
// [Artifact]s. Messages and artifacts consist of [Part]s: a text, data as JSON, a file, or
// a URL. An [Event] is what a stream sends: a task, a [StatusUpdate] or an
// [ArtifactUpdate]. [Metadata] keeps values as JSON, by key.
//
// Both protocol versions on the wire are translations of this model, made by a2a/codec. The
// JSON of these types is Longhaul's own. Histories of workflows and the journal hold it,
// so fields may be added to it but never renamed or reused.
//
// A part that is larger than [Large] is kept apart from histories: [Detach] replaces its
// content by a [Ref], a digest and a size, and [Attach] puts the content back.
//
// A [Time] has milliseconds, as the journal stores it and both versions write it.
package a2a
