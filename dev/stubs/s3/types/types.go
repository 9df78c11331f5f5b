// Package types has the types of the package s3 that Temporal's server names.
package types

// NoSuchBucket and NoSuchKey are errors that the stub never returns.
type (
	NoSuchBucket struct{}
	NoSuchKey    struct{}
)

func (*NoSuchBucket) Error() string { return "NoSuchBucket" }
func (*NoSuchKey) Error() string    { return "NoSuchKey" }

// A CommonPrefix is the beginning of keys.
type CommonPrefix struct{ Prefix *string }

// An Object is what a bucket holds.
type Object struct{ Key *string }
