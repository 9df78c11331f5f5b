// Package access is who may use the server, and how much: [APIKey]s of programs, [Session]s
// of browsers, the [SigningKey]s of the server itself, and the [Quotas] of tenants.
//
// Like package opt, it is pure.
package access
