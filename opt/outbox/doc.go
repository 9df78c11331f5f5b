// Package outbox is what goes to receivers outside: the states of tasks, which a client
// requests with a [PushConfig], and notices about gates, which go to the [Channel]s of the
// operator and may contain an [AnswerLink]. Both are [Delivery]s, of which the journal keeps
// what became of them.
//
// Like package opt, it is pure.
package outbox
