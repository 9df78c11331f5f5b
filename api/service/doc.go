// Package service puts the subjects of the API together: [New] makes a [Service] of an engine, a
// journal and settings. Each subject is a package of its own, with the few methods of the engine
// and the journal that it needs, and depends on no protocol:
//
//	schedule → message, work
//	gate → message → push, stream, letter
//	all → read, write → call
//
// Package operation has the table of their operations, which the bindings read. Data goes one
// way: operations write through the [Engine], which starts work and sends it letters and
// commands, and read only from the [Journal].
package service
