// Package work has the changes of objectives, plans and tasks that clients ask for, and their
// cancellation. Every change is a command to the objective: it is refused at once if the journal
// shows that it is impossible, else delivered as a durable signal and answered by an event in
// the journal. [Offers] says which changes a caller may ask for now.
package work
