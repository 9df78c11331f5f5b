// Package workercomponent stands in for the worker that starts other workers. There is none.
package workercomponent

import "go.uber.org/fx"

// Module adds nothing.
var Module = fx.Options()
