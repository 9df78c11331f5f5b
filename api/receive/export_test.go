package receive

import (
	"context"

	"longhaul/opt"
)

// A Pacer paces callbacks.
type Pacer = pacer

// NewPacer makes a pacer.
var NewPacer = newPacer

// Receive receives a callback.
func (p *pacer) Receive(ctx context.Context, in opt.Callback) error { return p.receive(ctx, in) }

// Stop stops the pacer.
func (p *pacer) Stop() { p.stop() }
