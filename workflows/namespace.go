package workflows

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
)

// Reasons why a namespace cannot be used that waiting does not change.
var (
	ErrNoNamespace = errors.New("the namespace does not exist")
	ErrDenied      = errors.New("not allowed by Temporal")
	ErrTLS         = errors.New("no TLS connection")
	ErrKeys        = errors.New("other processes use other keys for payloads")
)

// A NamespaceState is what an existing namespace offers.
type NamespaceState struct {
	Retention time.Duration // for how long it keeps workflows that have ended
	Missing   []string      // search attributes of ours that it does not have, sorted
}

// Examine reads the state of a namespace, and checks that we may read it and
// write to it. It changes nothing. An error wraps ErrNoNamespace, ErrDenied,
// ErrTLS or ErrKeys if a repeat would fail in the same way.
func Examine(ctx context.Context, c client.Client, namespace string) (NamespaceState, error) {
	found, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	if err != nil {
		return NamespaceState{}, obstacle("read namespace "+namespace, err)
	}
	state := NamespaceState{Retention: found.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration()}
	if state.Missing, err = missing(ctx, c, namespace); err != nil {
		return NamespaceState{}, err
	}
	// A signal to a workflow that does not exist needs the permission to write, and writes nothing.
	err = c.SignalWorkflow(ctx, "longhaul-check", "", "check", nil)
	var none *serviceerror.NotFound
	if err != nil && !errors.As(err, &none) {
		return NamespaceState{}, obstacle("write to namespace "+namespace, err)
	}
	// The schedule of Retain is in most namespaces, and is encrypted with the latest key.
	_, err = c.ScheduleClient().GetHandle(ctx, PurgeSchedule).Describe(ctx)
	if sealed, ok := errors.AsType[*PayloadError](err); ok {
		return NamespaceState{}, fmt.Errorf("%w: %w", ErrKeys, sealed)
	}
	return state, nil
}

// missing returns our search attributes that a query of the namespace
// cannot use. Every kind of Temporal answers queries; not every one lists search
// attributes to those who may not change them.
func missing(ctx context.Context, c client.Client, namespace string) ([]string, error) {
	lacks := func(names ...string) (bool, error) {
		_, err := c.WorkflowService().CountWorkflowExecutions(ctx, &workflowservice.CountWorkflowExecutionsRequest{
			Namespace: namespace, Query: strings.Join(names, " = 'check' AND ") + " = 'check'",
		})
		var invalid *serviceerror.InvalidArgument
		if errors.As(err, &invalid) {
			return true, nil
		}
		return false, obstacle("query namespace "+namespace, err)
	}
	names := slices.Sorted(maps.Keys(SearchAttributes()))
	if some, err := lacks(names...); err != nil || !some {
		return nil, err
	}
	var found []string
	for _, name := range names {
		switch lacking, err := lacks(name); {
		case err != nil:
			return nil, err
		case lacking:
			found = append(found, name)
		}
	}
	return found, nil
}

// obstacle adds the operation to err, and the reason if waiting does not change it.
func obstacle(doing string, err error) error {
	if err == nil {
		return nil
	}
	var none *serviceerror.NamespaceNotFound
	var denied *serviceerror.PermissionDenied
	switch {
	case errors.As(err, &none):
		return fmt.Errorf("%s: %w", doing, ErrNoNamespace)
	case errors.As(err, &denied), serviceerror.ToStatus(err).Code() == codes.Unauthenticated:
		return fmt.Errorf("%s: %w: %w", doing, ErrDenied, err)
	case strings.Contains(err.Error(), "tls: "): // gRPC hands on only the text
		return fmt.Errorf("%s: %w: %w", doing, ErrTLS, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// SearchAttributes lists the search attributes that make objectives easy to
// find in Temporal, by name.
func SearchAttributes() map[string]enumspb.IndexedValueType {
	keyword := enumspb.INDEXED_VALUE_TYPE_KEYWORD
	return map[string]enumspb.IndexedValueType{
		TenantAttribute.GetName(): keyword, ContextAttribute.GetName(): keyword,
		ObjectiveAttribute.GetName(): keyword, StateAttribute.GetName(): keyword,
		NameAttribute.GetName(): keyword,
	}
}

// CreateNamespace creates a namespace. An existing one is not changed.
func CreateNamespace(ctx context.Context, c client.Client, namespace string, retention time.Duration) error {
	_, err := c.WorkflowService().RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace: namespace, WorkflowExecutionRetentionPeriod: durationpb.New(retention),
	})
	var taken *serviceerror.NamespaceAlreadyExists
	if errors.As(err, &taken) {
		return nil
	}
	return obstacle("create namespace "+namespace, err)
}

// AddSearchAttributes adds our search attributes that names lists to a
// namespace. It takes Temporal some seconds until they can be used.
func AddSearchAttributes(ctx context.Context, c client.Client, namespace string, names []string) error {
	types := SearchAttributes()
	maps.DeleteFunc(types, func(name string, _ enumspb.IndexedValueType) bool { return !slices.Contains(names, name) })
	_, err := c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: namespace, SearchAttributes: types})
	var there *serviceerror.AlreadyExists
	if errors.As(err, &there) {
		return nil
	}
	return obstacle("add search attributes to namespace "+namespace, err)
}
