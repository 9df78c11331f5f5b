// Package s3 stands in for the client of Amazon S3 in programs that are built in the
// workspace of this repository. Temporal's server imports that client for the archival
// of histories, which the embedded server has switched off. Every call fails.
package s3

import (
	"context"
	"errors"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// ErrNotBuiltIn is the error of every call.
var ErrNotBuiltIn = errors.New("archival to Amazon S3 is not built into this program")

// Options configure a client.
type Options struct {
	BaseEndpoint *string
	UsePathStyle bool
}

// A Client fails every call.
type Client struct{}

// NewFromConfig returns a client. The configuration does not count.
func NewFromConfig(any, ...func(*Options)) *Client { return &Client{} }

// Inputs and outputs of calls, with the members that Temporal's server uses.
type (
	GetObjectInput     struct{ Bucket, Key *string }
	GetObjectOutput    struct{ Body io.ReadCloser }
	HeadBucketInput    struct{ Bucket *string }
	HeadBucketOutput   struct{}
	HeadObjectInput    struct{ Bucket, Key *string }
	HeadObjectOutput   struct{}
	ListObjectsV2Input struct {
		Bucket, Prefix, Delimiter, ContinuationToken *string
		MaxKeys                                      *int32
	}
	ListObjectsV2Output struct {
		CommonPrefixes        []types.CommonPrefix
		Contents              []types.Object
		IsTruncated           *bool
		NextContinuationToken *string
	}
	PutObjectInput struct {
		Bucket, Key *string
		Body        io.Reader
	}
	PutObjectOutput struct{}
)

func (*Client) GetObject(context.Context, *GetObjectInput, ...func(*Options)) (*GetObjectOutput, error) {
	return nil, ErrNotBuiltIn
}

func (*Client) HeadBucket(context.Context, *HeadBucketInput, ...func(*Options)) (*HeadBucketOutput, error) {
	return nil, ErrNotBuiltIn
}

func (*Client) HeadObject(context.Context, *HeadObjectInput, ...func(*Options)) (*HeadObjectOutput, error) {
	return nil, ErrNotBuiltIn
}

func (*Client) ListObjectsV2(context.Context, *ListObjectsV2Input, ...func(*Options)) (*ListObjectsV2Output, error) {
	return nil, ErrNotBuiltIn
}

func (*Client) PutObject(context.Context, *PutObjectInput, ...func(*Options)) (*PutObjectOutput, error) {
	return nil, ErrNotBuiltIn
}
