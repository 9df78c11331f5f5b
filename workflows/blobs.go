package workflows

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"longhaul/opt"
)

// Blobs keeps payloads that are too large for workflow histories, for as long
// as their objective is kept. Writing the same blob again changes nothing.
type Blobs interface {
	WriteBlob(ctx context.Context, objectiveID, id string, data []byte) error
	ReadBlob(ctx context.Context, objectiveID, id string) ([]byte, error)
}

// blobThreshold is the size from which a payload leaves the history.
const blobThreshold = 64 << 10

// Names in histories: they stand beside every payload that was stored, so they
// never change.
const (
	blobDriverName = "longhaul-journal"
	blobObjective  = "objective"
	blobID         = "id"
)

// A blobDriver stores large payloads of an objective's workflows under the
// digest of their content, so that a retry stores nothing twice.
type blobDriver struct{ blobs Blobs }

// externalStorage returns the SDK's options for blobs. A nil blobs keeps every
// payload in the histories.
func externalStorage(blobs Blobs) converter.ExternalStorage {
	if blobs == nil {
		return converter.ExternalStorage{}
	}
	driver := blobDriver{blobs}
	return converter.ExternalStorage{
		Drivers: []converter.StorageDriver{driver}, DriverSelector: ofObjectives{driver}, PayloadSizeThreshold: blobThreshold,
	}
}

// ofObjectives stores what belongs to an objective. The rest, such as a long queue
// of a context, stays in the histories, with which it goes.
type ofObjectives struct{ driver blobDriver }

// SelectDriver implements [converter.StorageDriverSelector].
func (s ofObjectives) SelectDriver(ctx converter.StorageDriverSelectContext, p *commonpb.Payload) (converter.StorageDriver, error) {
	if _, stays := p.GetMetadata()[staysMark]; stays {
		return nil, nil
	}
	target, ok := ctx.Target.(converter.StorageDriverWorkflowInfo)
	if _, known := opt.ParseID(target.WorkflowID); !ok || !known {
		return nil, nil
	}
	return s.driver, nil
}

// Name implements [converter.StorageDriver].
func (blobDriver) Name() string { return blobDriverName }

// Type implements [converter.StorageDriver].
func (blobDriver) Type() string { return blobDriverName }

// Store implements [converter.StorageDriver].
func (d blobDriver) Store(ctx converter.StorageDriverStoreContext, payloads []*commonpb.Payload) ([]converter.StorageDriverClaim, error) {
	target, ok := ctx.Target.(converter.StorageDriverWorkflowInfo)
	ref, known := opt.ParseID(target.WorkflowID)
	if !ok || !known {
		return nil, errors.New("only payloads of objectives and plans can be stored")
	}
	limiter := ctx.GetLimiter()
	claims := make([]converter.StorageDriverClaim, len(payloads))
	for i, p := range payloads {
		data, err := proto.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("encode payload: %w", err)
		}
		sum := sha256.Sum256(data)
		id := hex.EncodeToString(sum[:])
		claims[i] = converter.StorageDriverClaim{ClaimData: map[string]string{blobObjective: ref.ObjectiveID, blobID: id}}
		if err := limiter.Permit(ctx.Context, p, func() error { return d.blobs.WriteBlob(ctx.Context, ref.ObjectiveID, id, data) }); err != nil {
			return nil, fmt.Errorf("store payload: %w", err)
		}
	}
	return claims, nil
}

// Retrieve implements [converter.StorageDriver].
func (d blobDriver) Retrieve(ctx converter.StorageDriverRetrieveContext, claims []converter.StorageDriverClaim) ([]*commonpb.Payload, error) {
	limiter := ctx.GetLimiter()
	payloads := make([]*commonpb.Payload, len(claims))
	for i, c := range claims {
		var data []byte
		err := limiter.Permit(ctx.Context, c, func() (err error) {
			data, err = d.blobs.ReadBlob(ctx.Context, c.ClaimData[blobObjective], c.ClaimData[blobID])
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("retrieve payload: %w", err)
		}
		payloads[i] = new(commonpb.Payload)
		if err := proto.Unmarshal(data, payloads[i]); err != nil {
			return nil, fmt.Errorf("decode payload: %w", err)
		}
	}
	return payloads, nil
}
