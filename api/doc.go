// Package api serves A2A and the OPT extension over HTTP: JSON-RPC in versions 0.3 and 1.0,
// plain HTTP in 1.0, event streams, agent cards and health, and the pages of the console.
//
// [New] returns a [Server], an http.Handler. The handlers are methods of
// the subjects of [service.Service]; the table of package operation has one line for each. Every request of
// a binding goes through [Server.exchange]:
//
//	the service authenticates the caller and checks its quota
//	the binding reads which operation is called        rpc.go, rest.go, page.go
//	the service checks that the caller has the scope
//	the operation reads its parameters, calls the service and writes the result
//	the binding puts the result, or a fault, into its envelope
//
// A binding is a form of calls and answers. A stream (sse.go) sends each event as the
// binding writes it; package stream decides where a resumed stream continues. Only
// package api/wire knows that there are two protocol versions.
// Package api/grpc is the same over gRPC.
//
// Requests for callback URLs, answer links and the console go to packages below this one,
// which use the same service: [Config] has a field for each.
package api
