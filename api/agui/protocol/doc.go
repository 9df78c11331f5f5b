// Package protocol has what runs of AG-UI 1.0 are made of, the protocol between agents and the pages
// of people: an [Input] becomes the params of operations, messages, gates and objectives become the
// events of a [Feed], and the [Position] of a client is the id of each event, so that any process
// continues a run. It calls no operation.
package protocol
