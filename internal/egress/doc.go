// Package egress is the HTTP client for every request that Longhaul sends to a
// URL that others have chosen: webhooks, other agents, agent cards.
//
// Two independent sets of rules check a URL: its form and scheme
// ([Client.Check], and again before each request), and the addresses of its
// host. The addresses are checked when the connection is made, and the checked
// address is the one that is dialed: a name that resolves to something else a
// moment later changes nothing. The client follows no redirects, uses no proxy
// and keeps no cookies.
package egress
