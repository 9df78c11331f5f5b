// Package operation has the table of everything that callers may do, one line for each:
// the names in both versions of A2A, the scopes that a caller needs, the routes of plain
// HTTP, how parameters are read, which method of the service is called, and how its result
// is written.
//
// JSON-RPC, plain HTTP, gRPC, the console, answer links and callback URLs look an operation
// up here, and the service checks its scopes. The description of the API and the tables of
// docs/api.md follow from it. A new operation is a new
// line of table.go.
package operation
