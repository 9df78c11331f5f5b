//go:build !unix

package lease

import (
	"context"
	"errors"
)

// Files are leases of processes on one machine. This system has none: heartbeats find out that a
// worker was lost.
type Files struct{ Dir string }

// Hold implements [Store].
func (Files) Hold(context.Context) (Held, error) { return nil, errors.ErrUnsupported }

// Orphans implements [Store].
func (Files) Orphans(context.Context, GiveBack) (int, error) { return 0, nil }

// Close implements [Store].
func (Files) Close() error { return nil }
