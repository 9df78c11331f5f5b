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
	WriteBlobs(ctx context.Context, objectiveID string, blobs map[string][]byte) error // by their ids
	ReadBlob(ctx context.Context, objectiveID, id string) ([]byte, error)
}

// blobThreshold is the size from which a payload leaves the history.
const blobThreshold = 64 << 10

// Names in histories and in blobs: they stand beside every payload that was stored, so they
// never change.
const (
	blobDriverName   = "longhaul-journal"
	blobObjective    = "objective"
	blobID           = "id"
	segmentsEncoding = "binary/segments" // of a blob that has the rest of a payload, and refers to its segments
	segmentID        = "segment"         // of the blob of a segment
)

// A blobDriver stores large payloads of an objective's workflows under the digest of their
// content, so that a retry stores nothing twice. Segments of a payload are blobs of their
// own, for all payloads that have them.
type blobDriver struct {
	blobs Blobs
	codec codec // of the payloads: segments are found before it and stored behind it
}

// externalStorage returns the SDK's options for blobs. A nil blobs keeps every
// payload in the histories.
func externalStorage(blobs Blobs, c Cipher) converter.ExternalStorage {
	if blobs == nil {
		return converter.ExternalStorage{}
	}
	driver := blobDriver{blobs, codec{c}}
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
		id, blobs, err := d.split(p)
		if err != nil {
			return nil, fmt.Errorf("encode payload: %w", err)
		}
		claims[i] = converter.StorageDriverClaim{ClaimData: map[string]string{blobObjective: ref.ObjectiveID, blobID: id}}
		if err := limiter.Permit(ctx.Context, p, func() error { return d.blobs.WriteBlobs(ctx.Context, ref.ObjectiveID, blobs) }); err != nil {
			return nil, fmt.Errorf("store payload: %w", err)
		}
	}
	return claims, nil
}

// split returns the blobs that hold a payload, and the id of the one that refers to the
// others.
func (d blobDriver) split(p *commonpb.Payload) (id string, blobs map[string][]byte, err error) {
	plain, err := d.codec.one(p, d.codec.Decode)
	if err != nil {
		return "", nil, err
	}
	blobs = map[string][]byte{}
	if string(plain.GetMetadata()[converter.MetadataEncoding]) == converter.MetadataEncodingJSON {
		if places := segments(plain.GetData()); len(places) > 0 {
			if p, err = d.cut(plain, places, blobs); err != nil {
				return "", nil, err
			}
		}
	}
	data, err := proto.Marshal(p)
	id = digest(data)
	blobs[id] = data
	return id, blobs, err
}

// cut adds the segments of a payload to blobs, and returns a payload with the rest, which
// refers to them.
func (d blobDriver) cut(plain *commonpb.Payload, places []span, blobs map[string][]byte) (*commonpb.Payload, error) {
	doc, rest, at := plain.GetData(), &commonpb.Payloads{}, 0
	for _, s := range places {
		sealed, err := d.codec.one(&commonpb.Payload{Data: doc[s.from:s.to]}, d.codec.Encode)
		if err != nil {
			return nil, err
		}
		data, err := proto.Marshal(sealed)
		if err != nil {
			return nil, err
		}
		// Contents of clients are blobs under their digests: a prefix keeps them apart. A
		// segment that was encrypted with a former key is another blob.
		id := "segment-" + string(sealed.GetMetadata()[keyIDKey]) + "-" + digest(doc[s.from:s.to])
		blobs[id] = data
		rest.Payloads = append(rest.Payloads, &commonpb.Payload{Data: doc[at:s.from]}, &commonpb.Payload{Metadata: map[string][]byte{segmentID: []byte(id)}})
		at = s.to
	}
	rest.Payloads = append(rest.Payloads, &commonpb.Payload{Metadata: plain.GetMetadata(), Data: doc[at:]})
	data, err := proto.Marshal(rest)
	if err != nil {
		return nil, err
	}
	sealed, err := d.codec.one(&commonpb.Payload{Data: data}, d.codec.Encode)
	if err != nil {
		return nil, err
	}
	data, err = proto.Marshal(sealed)
	return &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(segmentsEncoding)}, Data: data}, err
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Retrieve implements [converter.StorageDriver].
func (d blobDriver) Retrieve(ctx converter.StorageDriverRetrieveContext, claims []converter.StorageDriverClaim) ([]*commonpb.Payload, error) {
	limiter := ctx.GetLimiter()
	payloads := make([]*commonpb.Payload, len(claims))
	for i, c := range claims {
		err := limiter.Permit(ctx.Context, c, func() (err error) {
			payloads[i], err = d.read(ctx.Context, c.ClaimData[blobObjective], c.ClaimData[blobID])
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("retrieve payload: %w", err)
		}
	}
	return payloads, nil
}

// read returns the payload that a blob refers to. It is whole, or there is an error.
func (d blobDriver) read(ctx context.Context, objectiveID, id string) (*commonpb.Payload, error) {
	p, err := d.blob(ctx, objectiveID, id)
	if err != nil || string(p.GetMetadata()[converter.MetadataEncoding]) != segmentsEncoding {
		return p, err
	}
	sealed, rest := new(commonpb.Payload), new(commonpb.Payloads)
	if err := proto.Unmarshal(p.GetData(), sealed); err != nil {
		return nil, fmt.Errorf("decode payload: %w", err)
	}
	if p, err = d.codec.one(sealed, d.codec.Decode); err != nil {
		return nil, err
	}
	if err := proto.Unmarshal(p.GetData(), rest); err != nil {
		return nil, fmt.Errorf("decode payload: %w", err)
	}
	whole := new(commonpb.Payload)
	for _, s := range rest.GetPayloads() {
		whole.Metadata = s.GetMetadata() // the last one has the payload's
		if id, refers := s.GetMetadata()[segmentID]; refers {
			if s, err = d.blob(ctx, objectiveID, string(id)); err != nil {
				return nil, err
			}
			if s, err = d.codec.one(s, d.codec.Decode); err != nil {
				return nil, err
			}
		}
		whole.Data = append(whole.Data, s.GetData()...)
	}
	return whole, nil
}

// blob reads one blob.
func (d blobDriver) blob(ctx context.Context, objectiveID, id string) (*commonpb.Payload, error) {
	data, err := d.blobs.ReadBlob(ctx, objectiveID, id)
	if err != nil {
		return nil, err
	}
	p := new(commonpb.Payload)
	if err := proto.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("decode payload: %w", err)
	}
	return p, nil
}
