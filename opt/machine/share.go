package machine

import (
	"slices"

	"longhaul/opt"
)

// Plans at the same time share the rest of a budget, so that no two begin steps with the same part of it. The objective
// gives each a room: the use of its own up to which it may begin steps. The others count that as reserved. A plan
// whose room has too little for its next steps reports that it is short. It gets the part that no plan has, or half of
// the largest rest in the room of another plan, as soon as that has confirmed that it keeps to the other half. One room
// changes at a time. When no plan has a rest, one of them is allowed to ask for a raise; the others wait. A plan that
// runs alone has all that is left, and asks without leave.

// amounts are those of the kinds that are shared: tokens, cost, questions and calls. Time passes for all.
type amounts [4]int64

// unlimited is the limit of a kind that has none.
const unlimited = 1 << 60

func amountsOf(u opt.Usage) amounts {
	return amounts{u.Input + u.Output, int64(u.Cost), u.Questions, u.Calls}
}

func (a amounts) usage() opt.Usage {
	return opt.Usage{Input: a[0], Cost: opt.Money(a[1]), Questions: a[2], Calls: a[3]}
}

func (a amounts) minus(b amounts) amounts {
	for k := range a {
		a[k] -= b[k]
	}
	return a
}

func limitsOf(l opt.SpendLimit) amounts {
	a := amounts{l.Tokens, int64(l.Cost), int64(l.Questions), int64(l.Calls)}
	for k := range a {
		switch {
		case a[k] == 0:
			a[k] = unlimited
		case k >= 2: // a Cap is one more than the limit
			a[k]--
		}
	}
	return a
}

// A sharer is a plan that may begin steps.
type sharer struct {
	link   *Link
	plan   *opt.Plan
	limits amounts
	spent  amounts // by its latest report
	room   amounts
}

// rest returns how much of a kind is left in its room. It is none in a kind without a limit, of which nothing is
// reserved.
func (p *sharer) rest(k int) int64 {
	if p.limits[k] == unlimited {
		return 0
	}
	return max(p.room[k]-p.spent[k], 0)
}

// asks reports whether the plan asks for a raise, or for one of the budget of the plan alone.
func (p *sharer) asks(own bool) bool {
	return slices.ContainsFunc(p.plan.Report.Open, func(g *opt.Gate) bool { return g.Budget && g.OfPlan == own })
}

// short reports whether the plan has held steps, for which others may leave it more, and needs returns what these need.
func (p *sharer) short() bool    { return p.plan.Report.Short != (opt.Usage{}) }
func (p *sharer) needs() amounts { return amountsOf(p.plan.Report.Short) }

// shares are the rooms in the budget of an objective.
type shares struct {
	state *ObjectiveState
	plans []*sharer
}

// sharersOf returns the shares of the plans of an objective that may begin steps, without one.
func sharersOf(s *ObjectiveState, without *opt.Plan) (of shares) {
	of.state = s
	for _, l := range s.Links {
		if p := s.Objective.Plan(l.PlanID); p != without && l.spends(p) {
			of.plans = append(of.plans, sharerOf(s, l, p))
		}
	}
	return of
}

// sharerOf returns the share of p, by its latest directive and report.
func sharerOf(s *ObjectiveState, l *Link, p *opt.Plan) *sharer {
	d := l.Directive
	known := limitsIn(s, p, d.Raised.Highest(p.Report.Raised))
	return &sharer{
		link: l, plan: p, limits: limitsIn(s, p, s.Raised), spent: amountsOf(p.Report.Spent),
		room: known.minus(amountsOf(d.Spent)).minus(amountsOf(d.Reserved)),
	}
}

// spends reports whether a plan may begin steps, with a share.
func (l *Link) spends(p *opt.Plan) bool {
	return l.Shares && !p.Over() && (l.Directive.Start || p.Started || l.Unheard || l.Directive.Command != "")
}

// limitsIn returns the limits of a plan, as people have raised them.
func limitsIn(s *ObjectiveState, p *opt.Plan, raised opt.SpendLimit) amounts {
	return limitsOf(budgetOf(s.Request, p, raised).SpendLimit)
}

// free returns how much of a kind no plan has, as far as p and those who have a rest may use it.
func (of shares) free(p *sharer, k int) int64 {
	free, used := p.limits[k], amountsOf(usedBy(of.state))[k]
	for _, other := range of.plans {
		if used += other.rest(k); other.rest(k) > 0 {
			free = min(free, other.limits[k])
		}
	}
	return free - used
}

// largest returns the plan with the largest rest of a kind beside p, nil if none has any. Those before it keep what they
// need.
func (of shares) largest(p *sharer, k int, before ...*sharer) (most *sharer) {
	for _, other := range of.plans {
		keeps := other == p || slices.Contains(before, other) && other.needs()[k] > 0
		if rest := other.rest(k); !keeps && rest > 0 && (most == nil || rest > most.rest(k)) {
			most = other
		}
	}
	return most
}

// A share is a new share of one plan.
type share struct {
	planID string
	room   amounts
	wait   bool
}

// short lists the plans that are short. Those for which there is enough come first, also if it is in the rooms of others:
// what one cannot begin with goes to them, and not back.
func (of shares) short() []*sharer {
	used := amountsOf(usedBy(of.state))
	lacks := func(p *sharer) int {
		for k, need := range p.needs() {
			if need > 0 && p.limits[k]-used[k] < need {
				return 1
			}
		}
		return 0
	}
	list := slices.DeleteFunc(slices.Clone(of.plans), func(p *sharer) bool { return !p.short() })
	slices.SortStableFunc(list, func(a, b *sharer) int { return lacks(a) - lacks(b) })
	return list
}

// next returns the next change of a share, nil for none. The plans must have confirmed the one before: until then they may
// act upon that of earlier.
func (of shares) next() *share {
	if of.moving() {
		return nil
	}
	short := of.short()
	for i := range short {
		if to := of.help(short, i); to != nil && of.changes(*to) {
			return to
		}
	}
	for k := range (amounts{}) {
		if most := of.largest(nil, k); most != nil && of.free(most, k) < 0 { // a step or a planner has used more than its room
			return most.without(k, -of.free(most, k))
		}
	}
	return nil
}

// moving reports whether some plan has yet to confirm its share.
func (of shares) moving() bool {
	return slices.ContainsFunc(of.plans, func(p *sharer) bool { return p.link.Unheard || p.plan.Report.Directive < p.link.Directive.Echo })
}

// changes reports whether a share is another one than its plan has.
func (of shares) changes(to share) bool {
	d := of.state.link(to.planID).Directive
	before := d
	setShare(of.state, &d, of.state.Objective.Plan(to.planID), to)
	return d != before
}

// help returns the next change for the i-th of the plans that are short.
func (of shares) help(short []*sharer, i int) *share {
	p := short[i]
	need, given, to := p.needs(), p.room, (*share)(nil)
	for k := range need {
		want := need[k] - max(p.rest(k), 0)
		if need[k] == 0 || want <= 0 || p.limits[k] == unlimited {
			continue
		}
		if free := of.free(p, k); free > 0 {
			given[k] = max(p.room[k], p.spent[k]) + max(min(want, free), free/int64(len(short)))
		} else if most := of.largest(p, k, short[:i]...); most != nil && to == nil {
			to = most.without(k, max(want, (most.rest(k)+1)/2))
		}
	}
	if given != p.room {
		return &share{p.plan.ID, given, p.link.Directive.Wait}
	}
	if to == nil && !p.asks(false) && !of.busy(p) {
		to = of.leave(p, short[:i])
	}
	return to
}

// without returns a share of p with less of a kind.
func (p *sharer) without(k int, amount int64) *share {
	room := p.room
	room[k] = p.spent[k] + max(p.rest(k)-amount, 0)
	return &share{p.plan.ID, room, p.link.Directive.Wait}
}

// busy reports whether p cannot ask for a raise now: it asks for one of its own budget.
func (of shares) busy(p *sharer) bool { return of.state.Rules >= rulesBusy && p.asks(true) }

// leave returns the change by which p may ask for a raise in the end, nil if another plan asks, or one before it may.
func (of shares) leave(p *sharer, before []*sharer) *share {
	for _, other := range of.plans {
		switch {
		case other == p:
		case other.asks(false), !other.link.Directive.Wait && slices.Contains(before, other) && !of.busy(other):
			return nil
		case !other.link.Directive.Wait:
			return &share{other.plan.ID, other.room, true}
		}
	}
	return &share{p.plan.ID, p.room, false}
}

// first returns the share of a plan that begins beside others: its part, where more are about to begin.
func (of shares) first(p *opt.Plan, beginning int) *share {
	own := &sharer{plan: p, limits: limitsIn(of.state, p, of.state.Raised), spent: amountsOf(p.Report.Spent)}
	to := &share{planID: p.ID, room: own.spent}
	for k := range to.room {
		if !of.moving() {
			to.room[k] += max(of.free(own, k), 0) / int64(max(beginning, 1))
		}
	}
	to.wait = slices.ContainsFunc(of.plans, func(o *sharer) bool { return !o.link.Directive.Wait })
	return to
}

// setShare sets a share of p in a directive.
func setShare(s *ObjectiveState, d *Directive, p *opt.Plan, to share) {
	d.Spent, d.Raised, d.Wait = s.Used.Plus(spentBeside(&s.Objective, p)), s.Raised, to.wait
	limits := limitsIn(s, p, s.Raised.Highest(p.Report.Raised))
	left := limits.minus(amountsOf(d.Spent)).minus(to.room)
	for k := range left {
		if limits[k] == unlimited {
			left[k] = 0
		}
		left[k] = max(left[k], 0)
	}
	d.Reserved = left.usage()
}

// A sharing is what directives say about a budget when they are updated.
type sharing struct {
	state     *ObjectiveState
	change    *share // of one plan that shares it already
	beginning int    // how many plans are about to begin
}

// sharingOf returns the changes of an objective of which some plans may start.
func sharingOf(s *ObjectiveState, startable []*opt.Plan) *sharing {
	out := &sharing{state: s}
	if s.Rules < rulesShares || !limited(s) {
		return out
	}
	for _, p := range startable {
		if l := s.link(p.ID); l != nil && !l.spends(p) {
			out.beginning++
		}
	}
	out.change = sharersOf(s, nil).next()
	return out
}

// direct sets in a directive for p what counts in its budget.
func (of *sharing) direct(d *Directive, l *Link, p *opt.Plan) {
	s := of.state
	if spends := d.Start || p.Started || d.Command != "" || l.Unheard; !spends || s.Rules < rulesShares || !limited(s) {
		return
	}
	others, begins, before := sharersOf(s, p), !l.spends(p), *d
	switch change := of.change; {
	case len(others.plans) == 0 && (of.beginning <= 1 || !begins):
		tellSpent(d, s, p)
		d.Reserved, d.Wait = opt.Usage{}, false
	case begins:
		setShare(s, d, p, *others.first(p, of.beginning))
	case change != nil && change.planID == p.ID:
		if setShare(s, d, p, *change); *d != before {
			d.Echo = d.N + 1
		}
	case d.Raised != s.Raised, s.Limited:
		setShare(s, d, p, share{room: sharerOf(s, l, p).room, wait: d.Wait})
	}
	if begins {
		l.Shares = true
		of.beginning--
	}
	d.Since = s.Since.Millis()
}
