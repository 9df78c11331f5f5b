package call

import "time"

// An Observer receives what a service does, for its metrics. Many goroutines call it at
// once.
type Observer interface {
	// Called is called for each request. took is 0 for one that was answered with a stream.
	Called(operation, binding, outcome string, took time.Duration)
	Streaming(change int)                       // of the number of open streams
	Answered(kind string, waited time.Duration) // a gate, whose task works on
	Exceeded(quota string)                      // by a request that was refused
}

// otherOperation is the operation of requests that reach none, such as those for pages.
// bindingHTTP is the binding of requests that use none.
const (
	otherOperation = "other"
	bindingHTTP    = "http"
)

// outcomeOf returns how a call ended that has a fault, or none, in one word of few.
func outcomeOf(f *Fault) string {
	switch {
	case f == nil:
		return "ok"
	case f.Kind == Internal:
		return "failed"
	case f.Kind == Unavailable:
		return "unavailable"
	case f.Kind <= RateLimited:
		return "limited"
	}
	return "refused"
}

type Unobserved struct{}

func (Unobserved) Called(string, string, string, time.Duration) {}
func (Unobserved) Streaming(int)                                {}
func (Unobserved) Answered(string, time.Duration)               {}
func (Unobserved) Exceeded(string)                              {}
