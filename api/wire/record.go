package wire

import "longhaul/api/read"

// ReadID reads the params of a page about one thing.
func ReadID(r *Reader) read.IDParams { return read.IDParams{ID: r.params().NeedText("id")} }

// Same returns a result as it is: the type has the form that clients see, in all versions.
func Same[R any](_ Version, result R) any { return result }
