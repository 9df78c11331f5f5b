// Package iterator stands in for that of Google's clients.
package iterator

import "errors"

// Done is never returned.
var Done = errors.New("no more items")
