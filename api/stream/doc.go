// Package stream has the streams of tasks. A [Stream] reads the events of the journal when its
// reader asks for one, so that a slow reader delays no other and needs little memory, and every
// reader sees the same, wherever its stream began. The stream of a root task also has updates
// about plans and tasks (hierarchy). It ends with the end of its task, unless the task was set
// back later.
package stream
