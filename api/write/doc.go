// Package write passes work to the engine and makes it visible: it starts objectives, delivers
// letters and callbacks, keeps large contents, takes places in the queues of contexts, and
// refuses work above the quotas of a tenant or the limits of plans. When a method of [Writer]
// returns nil, its effect is durable; when it returns an error, it is safe to repeat.
package write
