// Package wire reads the params of operations and writes their results and faults, as JSON. The
// shapes of A2A, in versions 0.3 and 1.0, are those of a2a/codec; those of the OPT extension and
// of the pages below /v1, which are the same in both, are those of opt/wire.
//
// A [Reader] has the params of a request and collects the mistakes in them. [Read] reads them by
// the tags of their type. Where the versions differ, members have aliases, or absent and empty are
// not the same, an operation has a function that reads its params. Another one writes its result.
// api/operation puts them together.
package wire
