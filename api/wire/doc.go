// Package wire reads the params of operations and writes their results and faults, as JSON. The
// shapes of A2A, in versions 0.3 and 1.0, are those of a2a/codec; those of the OPT extension and
// of the pages below /v1, which are the same in both, are those of opt/wire.
//
// For each operation there is a function that reads its params from a [Reader], which collects
// the mistakes in them, and one that writes its result. api/operation puts them together.
package wire
