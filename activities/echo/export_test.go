package echo

import (
	"maps"
	"slices"
)

// Verbs are those of all commands.
var Verbs = slices.Sorted(maps.Keys(verbs))
