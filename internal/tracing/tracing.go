// Package tracing has the OpenTelemetry traces of a process. A trace begins with a
// request, or with the trace that its sender names, and goes through workflows and
// activities to requests to others. Spans have names, ids and outcomes, no contents.
//
// A nil [Provider] and a nil [Span] do nothing, at no cost.
package tracing

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"
)

// scope names the code that makes our spans.
const scope = "longhaul"

// w3c writes and reads the header traceparent. Baggage is neither accepted nor sent:
// its content belongs to others.
var w3c = propagation.TraceContext{}

// A Provider makes the spans of a process and sends them to a collector.
type Provider struct {
	sdk    *sdktrace.TracerProvider
	tracer trace.Tracer
}

// New returns the provider that the variables OTEL_* of the environment describe, nil if
// they name no collector or turn traces off. The SDK itself reads those for the sampler,
// the limits, the batches and the exporter. It does not wait for the collector.
func New(ctx context.Context, version string, env func(string) string) (*Provider, error) {
	if cmp.Or(env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), env("OTEL_EXPORTER_OTLP_ENDPOINT")) == "" || strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	switch exporter := env("OTEL_TRACES_EXPORTER"); exporter {
	case "", "otlp":
	case "none":
		return nil, nil
	default:
		return nil, fmt.Errorf("OTEL_TRACES_EXPORTER is %q: this program sends traces by otlp, or not at all with none", exporter)
	}
	exporter, err := exporterOf(ctx, cmp.Or(env("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), env("OTEL_EXPORTER_OTLP_PROTOCOL"), "http/protobuf"))
	if err != nil {
		return nil, err
	}
	name := attribute.String("service.name", cmp.Or(env("OTEL_SERVICE_NAME"), "longhaul"))
	about, err := resource.New(ctx, resource.WithAttributes(name, attribute.String("service.version", version)), resource.WithFromEnv(), resource.WithHost(), resource.WithProcessPID())
	if err != nil {
		return nil, fmt.Errorf("describe the process for traces (OTEL_RESOURCE_ATTRIBUTES): %w", err)
	}
	return Sending(sdktrace.NewBatchSpanProcessor(exporter), about), nil
}

// exporterOf returns the exporter for a protocol.
func exporterOf(ctx context.Context, protocol string) (exporter sdktrace.SpanExporter, err error) {
	switch protocol {
	case "http/protobuf":
		exporter, err = otlptracehttp.New(ctx)
	case "grpc":
		exporter, err = otlptracegrpc.New(ctx)
	default:
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q: this program has http/protobuf and grpc", protocol)
	}
	if err != nil {
		return nil, fmt.Errorf("send traces (OTEL_EXPORTER_OTLP_ENDPOINT): %w", err)
	}
	return exporter, nil
}

// Sending returns a provider that gives its spans to a processor. about may be nil.
func Sending(to sdktrace.SpanProcessor, about *resource.Resource) *Provider {
	options := []sdktrace.TracerProviderOption{sdktrace.WithSpanProcessor(to)}
	if about != nil {
		options = append(options, sdktrace.WithResource(about))
	}
	sdk := sdktrace.NewTracerProvider(options...)
	return &Provider{sdk, sdk.Tracer(scope)}
}

// stopFor bounds the time in which the last spans are sent.
const stopFor = 5 * time.Second

// Stop sends the spans that have ended.
func (p *Provider) Stop() error {
	if p == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopFor)
	defer cancel()
	if err := p.sdk.Shutdown(ctx); err != nil {
		return fmt.Errorf("send the last traces: %w", err)
	}
	return nil
}

// Request begins the span of a request that has come in with a header.
func (p *Provider) Request(ctx context.Context, h http.Header, name string) (context.Context, *Span) {
	if p == nil {
		return ctx, nil
	}
	ctx, span := p.tracer.Start(Received(ctx, h), name, trace.WithSpanKind(trace.SpanKindServer))
	return ctx, &Span{span}
}

// Received returns ctx with the trace that a header names.
func Received(ctx context.Context, h http.Header) context.Context {
	return w3c.Extract(ctx, propagation.HeaderCarrier(h))
}

// Send begins the span of a request that goes out, and writes its trace into the header.
// It is part of the trace of ctx; without one, nothing is written. The name must not
// hold contents, as URLs may.
func Send(ctx context.Context, h http.Header, name string) (context.Context, *Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.SpanContext().IsValid() {
		return ctx, nil
	}
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient))
	w3c.Inject(ctx, propagation.HeaderCarrier(h))
	return ctx, &Span{span}
}

// Environment returns the variables that pass the trace of ctx to a program that is
// started, by the names that OpenTelemetry gives them: TRACEPARENT, and TRACESTATE if the
// trace has a state. Without a trace there are none.
func Environment(ctx context.Context) []string {
	var out []string
	carrier := propagation.MapCarrier{}
	w3c.Inject(ctx, carrier)
	for _, name := range w3c.Fields() {
		if value := carrier.Get(name); value != "" {
			out = append(out, strings.ToUpper(name)+"="+value)
		}
	}
	return out
}

// ID returns the id of the trace of ctx, "" if there is none.
func ID(ctx context.Context) string {
	if of := trace.SpanContextFromContext(ctx); of.IsValid() {
		return of.TraceID().String()
	}
	return ""
}

// A Span is one step of a trace.
type Span struct{ span trace.Span }

// Name gives the span another name, once it is known what the step is about.
func (s *Span) Name(name string) {
	if s != nil {
		s.span.SetName(name)
	}
}

// Note gives the span attributes: a name and a value in turns. An empty value is left
// out.
func (s *Span) Note(pairs ...string) {
	if s == nil {
		return
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			s.span.SetAttributes(attribute.String(pairs[i], pairs[i+1]))
		}
	}
}

// End ends the span; failed marks it as an error.
func (s *Span) End(failed bool) {
	if s == nil {
		return
	}
	if failed {
		s.span.SetStatus(codes.Error, "")
	}
	s.span.End()
}

// Interceptors carry traces through Temporal: from the client to workflows and
// activities, in the headers of Temporal. They add no request and no event, and a
// workflow replays with them or without. They are nil for a nil provider.
func (p *Provider) Interceptors() ([]interceptor.ClientInterceptor, error) {
	if p == nil {
		return nil, nil
	}
	i, err := opentelemetry.NewTracingInterceptor(opentelemetry.TracerOptions{
		Tracer: p.tracer, TextMapPropagator: w3c, DisableBaggage: true, DisableQueryTracing: true, AllowInvalidParentSpans: true,
		SpanStarter: func(ctx context.Context, t trace.Tracer, name string, options ...trace.SpanStartOption) trace.Span {
			_, span := t.Start(ctx, name, options...)
			return discreet{span}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("trace Temporal: %w", err)
	}
	return []interceptor.ClientInterceptor{i}, nil
}

// discreet is a span without the texts of errors, which may hold contents of tasks.
type discreet struct{ trace.Span }

// RecordError implements [trace.Span].
func (s discreet) RecordError(error, ...trace.EventOption) {}

// SetStatus implements [trace.Span].
func (s discreet) SetStatus(code codes.Code, _ string) { s.Span.SetStatus(code, "") }
