package drive

import "longhaul/opt/machine"

// OfObjective returns the source of the events of an objective, whose driver begins.
func OfObjective(s *machine.ObjectiveState) Source {
	return Source{ObjectiveID: s.Objective.ID, Name: s.Source(), N: s.N, Rides: machine.Rides(s)}
}

// OfPlan is OfObjective for a plan.
func OfPlan(s *machine.PlanState) Source {
	return Source{ObjectiveID: s.Plan.ObjectiveID, Name: s.Source(), N: s.N, Under: s.Under, Rides: s.Rides, Reports: s.Reports(), Patient: s.Patient()}
}
