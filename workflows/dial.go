package workflows

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"google.golang.org/protobuf/types/known/durationpb"
)

var dataConverter = converter.GetDefaultDataConverter()

// DialConfig says where Temporal is.
type DialConfig struct {
	Addr      string
	Namespace string
	Local     bool                  // on this machine, so messages are not compressed
	Log       log.Logger            // nil keeps the SDK's own
	Blobs     Blobs                 // nil keeps every payload in the histories
	Adjust    func(*client.Options) // nil leaves the options as they are
}

// Dial connects to Temporal. It does not wait for Temporal: calls fail until
// Temporal is available.
func Dial(cfg DialConfig) (client.Client, error) {
	options := client.Options{HostPort: cfg.Addr, Namespace: cfg.Namespace, Logger: cfg.Log, DataConverter: dataConverter, ExternalStorage: externalStorage(cfg.Blobs)}
	if cfg.Local {
		options.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	if cfg.Adjust != nil {
		cfg.Adjust(&options)
	}
	c, err := client.NewLazyClient(options)
	if err != nil {
		return nil, fmt.Errorf("dial Temporal at %s: %w", cfg.Addr, err)
	}
	return c, nil
}

// SearchAttributes lists the search attributes that make objectives easy to
// find in Temporal, by name.
func SearchAttributes() map[string]enumspb.IndexedValueType {
	keyword := enumspb.INDEXED_VALUE_TYPE_KEYWORD
	return map[string]enumspb.IndexedValueType{
		TenantAttribute.GetName(): keyword, ContextAttribute.GetName(): keyword,
		ObjectiveAttribute.GetName(): keyword, StateAttribute.GetName(): keyword,
	}
}

// Prepare creates the namespace and our search attributes if they do not exist.
// It changes nothing that exists.
func Prepare(ctx context.Context, c client.Client, namespace string, retention time.Duration) error {
	_, err := c.WorkflowService().RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace: namespace, WorkflowExecutionRetentionPeriod: durationpb.New(retention),
	})
	var taken *serviceerror.NamespaceAlreadyExists
	if err != nil && !errors.As(err, &taken) {
		return fmt.Errorf("register namespace %s: %w", namespace, err)
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: SearchAttributes(),
	})
	var there *serviceerror.AlreadyExists
	if err != nil && !errors.As(err, &there) {
		return fmt.Errorf("register search attributes in namespace %s: %w", namespace, err)
	}
	return nil
}
