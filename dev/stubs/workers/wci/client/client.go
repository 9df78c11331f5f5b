// Package client stands in for the client of workers that Temporal starts itself, on AWS,
// Google Cloud or Kubernetes. The embedded server does not start workers: no deployment has
// such a worker, and none can be configured. The package that it stands in for brings the
// clients of these clouds, a tenth of the time that a first build takes.
package client

import (
	"context"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/auto-scaled-workers/wci/workflow/iface"
	"go.uber.org/fx"
)

const notBuiltIn = "workers that Temporal starts are not built into this program"

// Module provides the client.
var Module = fx.Options(fx.Provide(func() Client { return none{} }))

// A Client has the methods that Temporal's server calls.
type Client interface {
	DescribeWorkerControllerInstance(context.Context, ...any) (*iface.Description, []byte, error)
	ValidateWorkerControllerInstanceSpec(context.Context, ...any) error
	UpdateWorkerControllerInstance(context.Context, ...any) (*iface.Description, error)
	DeleteWorkerControllerInstance(context.Context, ...any) error
}

type none struct{}

// DescribeWorkerControllerInstance finds nothing.
func (none) DescribeWorkerControllerInstance(context.Context, ...any) (*iface.Description, []byte, error) {
	return nil, nil, serviceerror.NewNotFound(notBuiltIn)
}

// ValidateWorkerControllerInstanceSpec refuses every specification.
func (none) ValidateWorkerControllerInstanceSpec(context.Context, ...any) error {
	return serviceerror.NewInvalidArgument(notBuiltIn)
}

// UpdateWorkerControllerInstance refuses every change.
func (none) UpdateWorkerControllerInstance(context.Context, ...any) (*iface.Description, error) {
	return nil, serviceerror.NewInvalidArgument(notBuiltIn)
}

// DeleteWorkerControllerInstance has nothing to delete.
func (none) DeleteWorkerControllerInstance(context.Context, ...any) error { return nil }
