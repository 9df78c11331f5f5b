// Package read has what callers read: tasks, objectives, plans, events, records, decisions and
// an overview. [Reader] reads things by ids from callers. Unknown things and things of other
// tenants give the same fault. All of it is in the journal, so it works while everything else is
// down.
package read
