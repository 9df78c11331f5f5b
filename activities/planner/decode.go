package planner

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"longhaul/activities/check"
	"longhaul/activities/human"
	"longhaul/opt"
	"longhaul/opt/timetable"
)

// Limits of a task in a playbook.
const (
	maxAttempts = 100
	maxTimeout  = 30 * 24 * time.Hour
)

// read returns the playbook in data, nil if data is not a playbook.
func (s *source) read(data []byte) *playbook {
	n, ok := s.document(data)
	if !ok {
		return nil
	}
	b := s.playbook(n)
	if len(s.wrong) == 0 {
		s.wrong = checkPlaybook(b)
	}
	return b
}

// playbook reads a whole file.
func (s *source) playbook(n *yaml.Node) *playbook {
	b := &playbook{file: s.file, line: n.Line}
	var front text
	s.object(n, "a playbook", table{
		"name":        func(n *yaml.Node) { b.name = s.str(n) },
		"description": func(n *yaml.Node) { s.str(n) }, // for those who read the file
		"default":     func(n *yaml.Node) { b.rules.fallback = s.flag(n) },
		"match":       func(n *yaml.Node) { s.match(n, &b.rules) },
		"skills":      func(n *yaml.Node) { s.list(n, func(n *yaml.Node) { b.skills = append(b.skills, s.skill(n)) }) },
		"front":       func(n *yaml.Node) { front = text{raw: s.str(n), line: n.Line} },
		"plans":       func(n *yaml.Node) { s.list(n, func(n *yaml.Node) { b.plans = append(b.plans, s.plan(n)) }) },
		"schedules":   func(n *yaml.Node) { s.list(n, func(n *yaml.Node) { b.schedules = append(b.schedules, s.schedule(n)) }) },

		"budget":         func(n *yaml.Node) { b.budget = readBudget(s, n) },
		"accept":         func(n *yaml.Node) { b.accept = readAccept(s, n) },
		"message-accept": func(n *yaml.Node) { b.requested = readMessageAccept(s, n) },
	})
	switch {
	case front.raw != "" && len(b.plans) > 0:
		s.fail(n, `"front" hands all of the work over to an agent: there are no plans beside it`)
	case front.raw != "":
		b.plans = frontPlans(front, false)
	}
	for _, skill := range b.skills {
		if !slices.Contains(b.rules.skills, skill.ID) {
			b.rules.skills = append(b.rules.skills, skill.ID)
		}
	}
	return b
}

func (s *source) match(n *yaml.Node, r *rules) {
	s.object(n, "match", table{
		"skills":   func(n *yaml.Node) { r.skills = s.strs(n) },
		"keywords": func(n *yaml.Node) { s.list(n, func(n *yaml.Node) { r.keywords = append(r.keywords, s.keyword(n)) }) },
		"pattern":  func(n *yaml.Node) { r.pattern = s.pattern(n) },
	})
}

func (s *source) keyword(n *yaml.Node) string {
	k := s.str(n)
	if k != "" && foldText(k) == foldText("") {
		s.fail(n, "a keyword needs a letter or a digit")
	}
	return k
}

func (s *source) pattern(n *yaml.Node) *regexp.Regexp {
	re, err := regexp.Compile(s.str(n))
	if err != nil {
		s.fail(n, "%v", err)
	}
	return re
}

func (s *source) skill(n *yaml.Node) Skill {
	var k Skill
	s.object(n, "a skill", table{
		"id":          func(n *yaml.Node) { k.ID = s.str(n) },
		"name":        func(n *yaml.Node) { k.Name = s.str(n) },
		"description": func(n *yaml.Node) { k.Description = s.str(n) },
		"tags":        func(n *yaml.Node) { k.Tags = s.strs(n) },
		"examples":    func(n *yaml.Node) { k.Examples = s.strs(n) },
	})
	if k.ID == "" || k.Name == "" || k.Description == "" || len(k.Tags) == 0 {
		s.fail(n, "a skill needs id, name, description and tags")
	}
	return k
}

// members returns the readers of the members that plans and tasks have in common.
func (s *source) members(p *step) table {
	return table{
		"name":        func(n *yaml.Node) { p.name = s.text(n) },
		"description": func(n *yaml.Node) { p.description = s.text(n) },
		"dependencies": func(n *yaml.Node) {
			p.dependencies = []string{} // an empty list is not none
			s.list(n, func(n *yaml.Node) { p.refs = append(p.refs, ref{line: n.Line, to: s.str(n)}) })
		},
		"optional": func(n *yaml.Node) { p.optional = s.flag(n) },
	}
}

func (s *source) plan(n *yaml.Node) *plan {
	p := &plan{step: step{line: n.Line}}
	members := s.members(&p.step)
	members["tasks"] = func(n *yaml.Node) { s.list(n, func(n *yaml.Node) { p.tasks = append(p.tasks, s.task(n)) }) }
	members["accept"] = func(n *yaml.Node) { p.accepts = append(p.accepts, readAccept(s, n)) }
	members["budget"] = func(n *yaml.Node) { p.budget = readBudget(s, n) }
	s.object(n, "a plan", members)
	return p
}

func (s *source) task(n *yaml.Node) *task {
	t := &task{step: step{line: n.Line}, at: n.Line}
	members := s.members(&t.step)
	members["executor"] = func(n *yaml.Node) { t.executor, t.at = s.str(n), n.Line }
	members["input"] = func(n *yaml.Node) { t.input, t.uses = s.input(n) }
	members["human"] = func(n *yaml.Node) { t.form, t.uses = s.form(n) }
	members["attempts"] = func(n *yaml.Node) { t.attempts = s.number(n, 1, maxAttempts) }
	members["timeout"] = func(n *yaml.Node) { t.timeout = s.seconds(n) }
	members["accept"] = func(n *yaml.Node) { t.accept = readAccept(s, n) }
	members["standing"] = func(n *yaml.Node) { t.standing = s.flag(n) }
	attempts := 0
	members["retry"] = func(n *yaml.Node) { t.retry, attempts = s.retry(n) }
	s.object(n, "a task", members)
	if t.attempts > 0 && attempts > 0 {
		s.fail(n, `"attempts" is set twice: also in "retry"`)
	}
	t.attempts = max(t.attempts, attempts)
	switch forPeople := t.executor == human.Executor; {
	case t.form == nil && forPeople:
		s.fail(n, "a task for the executor human needs the member \"human\"")
	case t.form != nil && t.executor != "" && !forPeople:
		s.fail(n, "a human task cannot have the executor %q", t.executor)
	case t.form != nil && t.forWorkers():
		s.fail(n, "a human task has no input, attempts, retry or timeout")
	}
	return t
}

func (s *source) retry(n *yaml.Node) (r opt.Retry, attempts int) {
	s.object(n, "retry", table{
		"attempts": func(n *yaml.Node) { attempts = s.number(n, 1, maxAttempts) },
		"wait":     func(n *yaml.Node) { r.Wait = s.seconds(n) },
		"except":   func(n *yaml.Node) { r.Except = s.strs(n) },
	})
	return r, attempts
}

func (s *source) seconds(n *yaml.Node) int {
	d, ok := wholeSeconds(n.Value)
	if !ok || d > maxTimeout {
		s.unfit(n, "be a duration of whole seconds, such as 90s, 2h or 7d, of 720h at the most")
	}
	return int(d / time.Second)
}

// wholeSeconds reads a duration, which may begin with days; ok is false if it is not a
// number of whole seconds above 0.
func wholeSeconds(text string) (d time.Duration, ok bool) {
	d, err := opt.ParseSpan(text)
	return d, err == nil && d >= time.Second && d%time.Second == 0
}

// form reads the form of a human task, and also returns the tasks that it names.
func (s *source) form(n *yaml.Node) (*form, []ref) {
	s.uses = nil
	f := &form{line: n.Line}
	members := answering(s, f)
	members["approve"] = func(n *yaml.Node) { f.approve = s.resultText(n) }
	members["description"] = func(n *yaml.Node) { f.description = s.resultText(n) }
	members["object"] = func(n *yaml.Node) {
		before := len(s.uses)
		f.object = s.resultText(n)
		for i := range s.uses[before:] {
			s.uses[before+i].object = true
		}
	}
	members["actions"] = func(n *yaml.Node) { f.actions = actionsIn(s, n) }
	members["questions"] = func(n *yaml.Node) { s.list(n, func(n *yaml.Node) { f.questions = append(f.questions, s.question(n)) }) }
	s.object(n, "a human form", members)
	checkRounds(s, n, f)
	setCalendars(s, f)
	f.judge()
	return f, s.uses
}

// answering returns the readers of the members that say who answers f and when, after which checks.
func answering(s *source, f *form) table {
	return table{
		"responders": func(n *yaml.Node) { f.responders = s.responders(n) },
		"wait":       func(n *yaml.Node) { s.list(n, func(n *yaml.Node) { f.wait = append(f.wait, s.waitStep(n)) }) },
		"calendar":   func(n *yaml.Node) { f.named = readCalendar(s, n) },
		"only-if":    func(n *yaml.Node) { f.checks = append(f.checks, s.onlyIf(n)) },
		"checks":     func(n *yaml.Node) { s.list(n, func(n *yaml.Node) { f.checks = append(f.checks, s.check(n)) }) },
		"rounds":     func(n *yaml.Node) { f.rounds = s.number(n, 1, maxAttempts) },

		"keep-decision": func(n *yaml.Node) { f.keep = s.flag(n) },
	}
}

// readAccept reads the member accept.
func readAccept(s *source, n *yaml.Node) *form {
	f := &form{line: n.Line}
	members := answering(s, f)
	members["criteria"] = func(n *yaml.Node) { f.criteria = s.text(n) }
	members["actions"] = func(n *yaml.Node) { f.actions = actionsIn(s, n) }
	readAcceptance(s, n, members)
	if f.criteria.raw == "" && len(f.checks) == 0 {
		s.fail(n, "accept needs criteria or checks")
	}
	checkRounds(s, n, f)
	setCalendars(s, f)
	return f
}

// readMessageAccept reads the member message-accept: messages bring the criteria.
func readMessageAccept(s *source, n *yaml.Node) *form {
	f := &form{line: n.Line}
	readAcceptance(s, n, answering(s, f))
	setCalendars(s, f)
	f.judge()
	return f
}

func readAcceptance(s *source, n *yaml.Node, members table) {
	s.uses = nil
	s.object(n, "accept", members)
	for _, r := range s.uses {
		s.wrong.add(s.file, r.line, "the checks of accept are about one result: "+results+" without a name")
	}
}

func actionsIn(s *source, n *yaml.Node) (list []opt.Action) {
	s.list(n, func(n *yaml.Node) { list = append(list, opt.Action(s.str(n))) })
	return list
}

func checkRounds(s *source, n *yaml.Node, f *form) {
	if len(f.checks) == 0 && f.rounds > 0 {
		s.fail(n, `"rounds" is for checks`)
	}
}

// waitStep reads a step of the ladder of a human task. Rules between steps, and between
// a step and its task, are checked later.
func (s *source) waitStep(n *yaml.Node) waitStep {
	w := waitStep{line: n.Line}
	s.object(n, "a step", table{
		"after":    func(n *yaml.Node) { readAfter(s, n, &w.Step) },
		"calendar": func(n *yaml.Node) { w.named = readCalendar(s, n) },
		"do":       func(n *yaml.Node) { w.Kind = opt.StepKind(s.str(n)) },
		"to": func(n *yaml.Node) {
			w.To = &opt.Responders{}
			s.object(n, "to", table{
				"principals": func(n *yaml.Node) { w.To.Principals = s.strs(n) },
				"groups":     func(n *yaml.Node) { w.To.Groups = s.strs(n) },
			})
		},
		"action": func(n *yaml.Node) { w.Action = opt.Action(s.str(n)) },
	})
	return w
}

// maxAccepts bounds how many principals must accept.
const maxAccepts = 100

func (s *source) responders(n *yaml.Node) *opt.Responders {
	r, veto := &opt.Responders{}, true
	s.object(n, "responders", table{
		"principals":    func(n *yaml.Node) { r.Principals = s.strs(n) },
		"groups":        func(n *yaml.Node) { r.Groups = s.strs(n) },
		"not-requester": func(n *yaml.Node) { r.NotRequester = s.flag(n) },
		"accepts":       func(n *yaml.Node) { r.Accepts = s.number(n, 1, maxAccepts) },
		"veto":          func(n *yaml.Node) { veto = s.flag(n) },
	})
	r.NoVeto = !veto
	return r
}

func (s *source) question(n *yaml.Node) question {
	var q question
	s.object(n, "a question", table{
		"id":       func(n *yaml.Node) { q.id = s.str(n) },
		"question": func(n *yaml.Node) { q.question = s.text(n) },
		"schema":   func(n *yaml.Node) { q.schema = s.schema(n) },
	})
	return q
}

// schedule reads a schedule. Its playbook and its id are set later.
func (s *source) schedule(n *yaml.Node) schedule {
	out := schedule{line: n.Line, Schedule: timetable.Schedule{
		Tenant: scheduleTenant, Principal: schedulePrincipal, Overlap: timetable.OverlapSkip, CatchUp: timetable.DefaultCatchUp,
	}}
	s.object(n, "a schedule", table{
		"name":      func(n *yaml.Node) { out.ID = s.str(n) },
		"text":      func(n *yaml.Node) { out.Text = s.str(n) },
		"cron":      func(n *yaml.Node) { out.Times.Cron = s.crons(n) },
		"every":     func(n *yaml.Node) { out.Times.Every = s.span(n) },
		"time-zone": func(n *yaml.Node) { out.Times.TimeZone = s.zone(n) },
		"jitter":    func(n *yaml.Node) { out.Times.Jitter = s.span(n) },
		"overlap":   func(n *yaml.Node) { out.Overlap = timetable.Overlap(s.str(n)) },
		"catch-up":  func(n *yaml.Node) { out.CatchUp = s.span(n) },
		"context":   func(n *yaml.Node) { out.ContextID = s.str(n) },
		"tenant":    func(n *yaml.Node) { out.Tenant = s.str(n) },
		"principal": func(n *yaml.Node) { out.Principal = s.str(n) },
	})
	return out
}

// crons reads a cron expression, or a list of them.
func (s *source) crons(n *yaml.Node) []string {
	if n.Kind == yaml.SequenceNode {
		return s.strs(n)
	}
	return []string{s.str(n)}
}

// zone reads the name of a time zone.
func (s *source) zone(n *yaml.Node) string {
	name := s.str(n)
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		s.unfit(n, "be a name of the IANA time zone database, such as Europe/Berlin")
	}
	return name
}

// span reads a duration of whole seconds.
func (s *source) span(n *yaml.Node) int64 {
	d, ok := wholeSeconds(n.Value)
	if !ok {
		s.unfit(n, "be a duration of whole seconds, such as 90s, 2h or 7d")
	}
	return int64(d / time.Second)
}

// check reads a check.
func (s *source) check(n *yaml.Node) checkForm {
	t := &task{step: step{line: n.Line, optional: true}, at: n.Line, check: true}
	c, in := checkForm{line: n.Line, task: t, of: 1}, check.Input{}
	s.object(n, "a check", table{
		"name":     func(n *yaml.Node) { t.name = text{raw: s.str(n)} },
		"schema":   func(n *yaml.Node) { in.Schema = s.schema(n) },
		"holds":    func(n *yaml.Node) { in.Holds = s.str(n) },
		"judge":    func(n *yaml.Node) { c.judge = s.resultText(n) },
		"model":    func(n *yaml.Node) { c.model = s.str(n) },
		"executor": func(n *yaml.Node) { t.executor, t.at = s.str(n), n.Line },
		"input":    func(n *yaml.Node) { t.input = s.value(n) },
		"timeout":  func(n *yaml.Node) { t.timeout = s.seconds(n) },
		"of":       func(n *yaml.Node) { c.of = s.number(n, 1, maxJudges) },
		"need":     func(n *yaml.Node) { c.need = s.number(n, 1, maxJudges) },
	})
	kinds := 0
	for _, is := range []bool{in.Schema != nil || in.Holds != "", c.judge.raw != "", t.executor != ""} {
		if is {
			kinds++
		}
	}
	switch {
	case t.name.raw == "":
		s.fail(n, "a check needs a name")
	case kinds != 1:
		s.fail(n, "a check has one of schema, holds, judge and executor")
	case in.Schema != nil || in.Holds != "":
		c.schema = &in
		if err := in.Valid(); err != nil {
			s.fail(n, "%v", err)
		}
	}
	c.need = cmp.Or(c.need, c.of/2+1)
	return c
}

// onlyIf reads a condition: without it, no one is asked.
func (s *source) onlyIf(n *yaml.Node) checkForm {
	condition := s.str(n)
	in := &check.Input{Holds: condition}
	if err := in.Valid(); err != nil {
		s.fail(n, "%v", err)
	}
	in.Holds, in.Else, in.Reason = "!("+condition+"\n)", opt.Ask, "It is so that "+condition
	t := &task{step: step{line: n.Line, optional: true, name: text{raw: "Whether to ask"}}, at: n.Line, check: true}
	return checkForm{line: n.Line, task: t, of: 1, need: 1, schema: in}
}
