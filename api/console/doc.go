// Package console serves the pages for people below /console: what waits for them, the
// work and its state, and the forms that change it. It needs no build step and works
// offline: templates, styles and the script are embedded.
//
// [Console.Serve] handles every request by the table in console.go. A line of the table
// names the operation of the service whose scope a caller needs, and a function that
// takes a [visit] and returns a [view]: the name of a template and its data. Functions
// read and write only through [service.Service], by the rules of all other clients.
//
// Each subject has a file with its pages and with the forms that are sent from them. Calls go
// one way: the table, the subjects, the parts of pages (forms, pictures, trees, contents), the
// visit, and below all of them the templates, the texts (text.go) and the addresses (path.go).
//
// A form is answered with a redirect (a view with Location), so that a reload of the page
// repeats nothing; an answer in the inbox leads to the next question. A form that is refused
// shows its page again, with the reason.
//
// assets/tokens.css has the design that all pages share, and the other styles have what single
// pages add. The script of the inbox opens links and sends forms without a change of the page.
//
// A browser proves who it is with the cookie of a session ([identity.Sessions]), which has the
// credential that was used to sign in. Each request is authenticated with that credential
// again, so a revoked key ends its sessions. Callers who need no credential, or have a
// client certificate, need no session.
//
// Pages stay current by themselves. The script fetches the page again and changes only
// what differs ([assets/console.js]): after each event of the stream that other clients
// use, too ([Console.Rewrite]), or every few seconds. Without scripts all pages work, and
// show the present state when they are loaded.
//
// Everything that callers wrote is shown as text: the templates escape it, the policy of
// the pages (Content-Security-Policy) allows no script but ours and no other origin.
package console
