package echo

// Verbs are those of all commands.
var Verbs = verbs
