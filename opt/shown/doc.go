// Package shown is the work as readers see it: tasks, gates and decisions as the journal
// returns them ([TaskView], [Interrupt], [GateRecord], [DecisionPage]), the filters that
// select them, places in the queue of a context ([Place], [Queue]), how far an objective is
// ([ProgressOf]), and the words for people: for states ([Stage.Look]), events ([EventText]) and
// those who may answer ([Who]).
//
// It changes nothing and decides nothing about work. Like package opt, it is pure.
package shown
