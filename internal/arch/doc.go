// Package arch tests the rules of this repository: which package may import
// which, which packages may use which technology, what workflows must not do, and
// how large packages, files, types and functions may be. To change a rule, change its
// table here in the same commit, with the reason beside it. Figures above a limit
// today are in a table, too, and may only fall.
package arch
