package operation

import (
	"context"
	"slices"
	"strings"

	"longhaul/api/call"
	reader "longhaul/api/read"
	"longhaul/api/service"
	"longhaul/api/stream"
	"longhaul/api/wire"
)

// An Operation is one line of the table.
type Operation struct {
	ID     string // its method in A2A 1.0 and in the extension, or its name; scopes, logs, metrics and documents use it
	V03    string // its method in A2A 0.3, that of a page in both versions; "" if there is none
	Family Family
	Scopes []call.Scope // a caller needs one of them; the service checks more where that depends on the parameters
	When   Feature      // without which it is refused, or not there
	Routes []string     // of plain HTTP, each with its verb before it; below /v1 for pages
	Text   string       // what it does, for the description of the API
	Query  []string     // its parameters in the query of a route, for the description
	Takes  string       // the schema of its body in the description; "" for none
	Gives  string       // the schema of its result, or of one event of its stream
	Body
}

// A Family says how operations are called.
type Family int

// The families.
const (
	Core  Family = iota // A2A: by JSON-RPC, plain HTTP and gRPC
	OPT                 // the extension: by JSON-RPC, under the same name in both versions
	Page                // plain HTTP below /v1, without versions; by JSON-RPC, too, where A2A has no other way to do it
	Inner               // by our own pages and URLs alone
)

// A Feature of a service can be off.
type Feature int

// The features.
const (
	Always    Feature = iota
	Streaming         // else refused
	Push              // else refused
	Codec             // payloads are encrypted; else not there, and never in the description
	Seams             // for the OpenWOP conformance suite; likewise
)

// A Body reads the parameters of an operation, calls the service and writes the result.
type Body struct {
	run    func(context.Context, request) (any, error)
	encode func(wire.Version, any) any // of a result that is no stream
	Stream bool                        // the result is a *stream.Stream
}

// A request is a call of an operation in progress.
type request struct {
	*call.Call
	service *service.Service
	params  *wire.Reader
	pure    bool // without extensions and the rules of A2A
}

// Run calls the operation. The result is a value of a subject, which Encode writes for
// the bindings of JSON, or a [*stream.Stream].
func (o *Operation) Run(ctx context.Context, s *service.Service, c *call.Call, params *wire.Reader) (any, error) {
	in := request{c, s, params, o.Family == Page}
	if o.Family != Core && o.V03 != "" {
		c.TakeKey(params.RequestID())
	}
	if off := o.refusal(s); off != nil {
		if _, err := read(in, wire.Read[struct{}]); err != nil {
			return nil, err
		}
		return nil, off
	}
	params.SetTenant(c.Tenant)
	return o.run(ctx, in)
}

// refusal returns why the service does not offer the operation, nil if it does.
func (o *Operation) refusal(s *service.Service) error {
	switch {
	case o.When == Push && !s.Pushes.Pushes():
		return call.ErrNoPush
	case o.When == Streaming && !s.Cards.Streams():
		return call.ErrNoStreaming
	}
	return nil
}

// Encode returns the form of a result in a version of A2A.
func (o *Operation) Encode(v wire.Version, result any) any { return o.encode(v, result) }

// Name returns the method in a version of A2A, "" if that has none.
func (o *Operation) Name(v wire.Version) string {
	if v == wire.V03 || o.Family == Page {
		return o.V03
	}
	return o.ID
}

// Right returns the right to call the operation.
func (o *Operation) Right() call.Right { return call.Right{Operation: o.ID, Scopes: o.Scopes} }

// A Table has the operations of a service.
type Table struct {
	list    []*Operation
	ids     map[string]*Operation
	methods map[string]*Operation // of JSON-RPC, in both versions
}

// Of returns the operations of a service.
func Of(s *service.Service) *Table {
	t := &Table{slices.Concat(core(s), extension(s), pages(s), decided(s), inner), map[string]*Operation{}, map[string]*Operation{}}
	for _, o := range t.list {
		t.ids[o.ID] = o
		for _, v := range []wire.Version{wire.V03, wire.V10} {
			if name := o.Name(v); name != "" && o.Family != Inner {
				t.methods[name] = o
			}
		}
	}
	return t
}

// ByID returns an operation by its id, nil if there is none.
func (t *Table) ByID(id string) *Operation { return t.ids[id] }

// ByMethod returns the operation of a method of JSON-RPC, of either version, nil if there is
// none.
func (t *Table) ByMethod(name string) *Operation { return t.methods[name] }

// bare is the table for everything but calls.
var bare = Of(new(service.Service))

// All lists the operations, none of which can be called. If the paths of two routes match, the
// first one counts.
func All() []*Operation { return bare.list }

// ByID returns an operation, which cannot be called, nil if there is none.
func ByID(id string) *Operation { return bare.ids[id] }

// Right returns the right to call the operation with an id. It has no scopes, and so is refused
// to every caller, if the operation is not in the table.
func Right(id string) call.Right {
	if o := ByID(id); o != nil {
		return o.Right()
	}
	return call.Right{Operation: id}
}

// reply is the body of an operation that answers once.
func reply[P, R any](params func(*wire.Reader) P, handle func(context.Context, *call.Call, P) (R, error), write func(wire.Version, R) any) Body {
	return Body{
		run: func(ctx context.Context, in request) (any, error) {
			p, err := read(in, params)
			if err != nil {
				return nil, err
			}
			result, err := handle(ctx, in.Call, p)
			if err == nil && in.RequireScopes(call.ReadRuns) != nil {
				return reader.Receipt(result), nil
			}
			return result, err
		},
		encode: func(v wire.Version, result any) any { return write(v, result.(R)) },
	}
}

// streaming is the body of an operation that opens a stream.
func streaming[P any](params func(*wire.Reader) P, handle func(context.Context, *call.Call, P) (*stream.Stream, error)) Body {
	b := reply(params, handle, func(wire.Version, *stream.Stream) any { return nil })
	b.Stream = true
	return b
}

// read reads and checks the parameters of a call, and turns on its extensions.
func read[P any](in request, params func(*wire.Reader) P) (P, error) {
	return wire.Params(in.Call, in.params, params, func(mentioned []string) error {
		if in.pure {
			return nil
		}
		return in.service.Activate(in.Call, mentioned)
	})
}

func may(scopes ...call.Scope) []call.Scope { return scopes }

// words splits a list at its spaces.
func words(list string) []string { return strings.Fields(list) }
