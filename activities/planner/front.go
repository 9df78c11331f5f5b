package planner

// agentExecutor is the kind of the executor that hands tasks over to agents.
const agentExecutor = "agent"

// frontPlans returns the plan of a playbook that hands whole conversations over to an agent; see
// [Playbooks.WithFront] for ids.
func frontPlans(agent text, ids bool) []*plan {
	input := map[string]any{"agent": agent, "whole": true}
	if ids {
		input["ids"] = true
	}
	return wholePlans(&task{at: agent.line, executor: agentExecutor, input: input})
}

// wholePlans returns a plan whose one task, which is named after the message, is all of the work.
func wholePlans(t *task) []*plan {
	name, err := parseText("{{short 60 .Message}}", false)
	if err != nil {
		panic("planner: the name of a task for a whole message: " + err.Error())
	}
	t.step = step{name: name}
	return []*plan{{step: step{name: text{raw: "Work"}}, tasks: []*task{t}}}
}
