package workflows

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
)

var dataConverter = converter.GetDefaultDataConverter()

// DialConfig says where Temporal is.
type DialConfig struct {
	Addr      string
	Namespace string
	Local     bool       // on this machine: nothing is gained by compressing
	Log       log.Logger // nil keeps the SDK's own
}

// Dial connects to Temporal. It does not wait for Temporal to be there: calls
// fail until it is.
func Dial(cfg DialConfig) (client.Client, error) {
	options := client.Options{HostPort: cfg.Addr, Namespace: cfg.Namespace, Logger: cfg.Log, DataConverter: dataConverter}
	if cfg.Local {
		options.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
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

// Prepare registers our search attributes in a namespace, where they are not
// there yet. It waits for nothing.
func Prepare(ctx context.Context, c client.Client, namespace string) error {
	_, err := c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: SearchAttributes(),
	})
	var there *serviceerror.AlreadyExists
	if err != nil && !errors.As(err, &there) {
		return fmt.Errorf("register search attributes in namespace %s: %w", namespace, err)
	}
	return nil
}
