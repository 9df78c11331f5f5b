// Package arch keeps the rules of this repository as tests: which package may
// import which, who owns which technology, what workflows must not do, and how
// large things may grow. A change to a rule is a change to its table here, in
// the same commit, with the reason beside it.
package arch
