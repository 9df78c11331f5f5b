// Package storage stands in for the client of Google Cloud Storage in programs that are
// built in the workspace of this repository. Temporal's server imports that client for the
// archival of histories, which the embedded server has switched off. It brings 167
// packages. No client can be made of this package, so nothing of it can be called.
package storage

import (
	"context"
	"errors"
)

// ErrNotBuiltIn is returned for every client.
var ErrNotBuiltIn = errors.New("archival to Google Cloud Storage is not built into this program")

// ScopeFullControl is the scope of all rights.
const ScopeFullControl = "https://www.googleapis.com/auth/devstorage.full_control"

// Types of the package that Temporal's server names.
type (
	Client         struct{}
	BucketHandle   struct{}
	ObjectHandle   struct{}
	ObjectIterator struct{}
	Reader         struct{}
	Writer         struct{}
	Query          struct{ Prefix string }
	BucketAttrs    struct{}
	ObjectAttrs    struct{ Name string }
)

// NewClient returns ErrNotBuiltIn.
func NewClient(context.Context, ...any) (*Client, error) { return nil, ErrNotBuiltIn }

func (*Client) Bucket(string) *BucketHandle                           { return nil }
func (*BucketHandle) Object(string) *ObjectHandle                     { return nil }
func (*BucketHandle) Objects(context.Context, *Query) *ObjectIterator { return nil }
func (*BucketHandle) Attrs(context.Context) (*BucketAttrs, error)     { return nil, ErrNotBuiltIn }
func (*ObjectHandle) Attrs(context.Context) (*ObjectAttrs, error)     { return nil, ErrNotBuiltIn }
func (*ObjectHandle) NewReader(context.Context) (*Reader, error)      { return nil, ErrNotBuiltIn }
func (*ObjectHandle) NewWriter(context.Context) *Writer               { return nil }
func (*ObjectIterator) Next() (*ObjectAttrs, error)                   { return nil, ErrNotBuiltIn }
func (*Reader) Read([]byte) (int, error)                              { return 0, ErrNotBuiltIn }
func (*Reader) Close() error                                          { return nil }
func (*Writer) Write([]byte) (int, error)                             { return 0, ErrNotBuiltIn }
func (*Writer) Close() error                                          { return ErrNotBuiltIn }
func (*Writer) CloseWithError(error) error                            { return nil }
