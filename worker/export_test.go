package worker

// NewSlots returns the slots of a worker.
var NewSlots = newSlots
