package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"longhaul/internal/witness"
)

// A Config says what to prove, and how hard.
type Config struct {
	URL      string       // of the agent: its card is below it
	Protocol string       // "0.3" or "1.0"; "" takes the newest on the card
	Token    string       // sent as a bearer token; "" sends none
	HTTP     *http.Client // its Transport must be an *http.Transport
	Server   Server       // nil leaves out everything but partitions
	Runs     bool         // Server does not run yet, and is to be stopped at the end

	Kills, Partitions int // how many experiments of the kind
	Restarts          int
	Tasks             int           // of each experiment
	Down              time.Duration // how long the server is down, or the link
	Timeout           time.Duration // of each experiment

	Message, Ask, Answer string // texts; {token} in them is a new word each time

	PushAddr string // address to listen at for push notifications; "" leaves them out
	PushURL  string // URL of that address for the server; "" is the address itself

	Seed uint64 // of the random moments; zero draws one
	Note func(format string, args ...any)
}

// calmName is the name of the first experiment.
const calmName = "calm"

// A run is one execution of Run.
type run struct {
	Config
	card    *Scorecard
	rand    *rand.Rand
	client  *wire
	link    *link // of wire
	webhook *webhook
	saw     *witness.History // calls that make, read and list tasks

	all   []*sentTask
	n     int
	began time.Time

	usualEnds map[taskKind]string // states in which tasks end if nothing is broken
	streaming bool
	lists     string // why lists are not checked; "" checks them
	pushes    string // the same of push notifications
}

// Run runs the experiments. An error says why they stopped early; the findings until then
// is in the scorecard, which is nil if nothing was done.
func Run(ctx context.Context, cfg Config) (*Scorecard, error) {
	base, err := url.Parse(cfg.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the URL of an agent, such as http://127.0.0.1:7420", cfg.URL)
	}
	cfg.Seed = cmp.Or(cfg.Seed, rand.Uint64()>>32+1)
	r := &run{Config: cfg, rand: rand.New(rand.NewPCG(cfg.Seed, 0)), link: newLink(noFault, cfg.Seed), usualEnds: map[taskKind]string{}, saw: witness.NewHistory(), began: time.Now()}
	r.client = (&wire{base: base, token: cfg.Token, http: cfg.HTTP, lastID: &atomic.Int64{}}).overLink(r.link)
	r.card = &Scorecard{URL: cfg.URL, Began: r.began, Seed: cfg.Seed, Checks: checks}
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	defer r.close(ctx)
	err = r.experiments(ctx)
	r.card.Took = time.Since(r.began).Seconds()
	return r.card, err
}

// open starts the server if it is to be started, and reads its card.
func (r *run) open(ctx context.Context) (err error) {
	if r.Runs {
		if _, err := r.client.card(ctx); err == nil {
			return fmt.Errorf("something answers at %s already: stop it first, for prove starts the server itself", r.URL)
		}
		if err := r.Server.Start(ctx); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, r.Server.Kill(context.WithoutCancel(ctx)))
			}
		}()
	}
	card, err := r.ready(ctx)
	if err != nil {
		return err
	}
	if err := r.client.useCard(card, r.Protocol); err != nil {
		return err
	}
	r.card.Agent, r.card.Version, r.card.Protocol = card.Name, card.Version, r.client.version
	r.streaming = card.Capabilities.Streaming
	switch {
	case !card.Capabilities.Push:
		r.pushes = "the card declares no push notifications"
	case r.PushAddr == "":
		r.pushes = "no address to listen at was given"
	default:
		r.webhook, err = listenWebhook(r.PushAddr, r.PushURL)
	}
	return err
}

func (r *run) close(ctx context.Context) {
	if r.webhook != nil {
		r.webhook.close()
	}
	if !r.Runs {
		return
	}
	if err := r.Server.Stop(context.WithoutCancel(ctx)); err != nil {
		r.Note("Stop the server: %v", err)
	}
}

// ready waits until the card can be read, and returns it.
func (r *run) ready(ctx context.Context) (agentCard, error) {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	for pause := newPause(); ; {
		card, err := r.client.card(ctx)
		if err == nil {
			return card, nil
		}
		if p, ok := r.Server.(*Process); ok && r.Runs && p.Ended() {
			return card, errors.New("the server ended before it answered: look at what it printed")
		}
		pause.next = min(pause.next, 100*time.Millisecond)
		if !pause.wait(ctx) {
			return card, fmt.Errorf("the server did not answer within %v: %w", r.Timeout, err)
		}
	}
}

// experiments runs all, the calm one first.
func (r *run) experiments(ctx context.Context) error {
	if err := r.runExperiment(ctx, calmName, "nothing is broken", r.calm); err != nil {
		return err
	}
	for _, e := range r.kinds() {
		for i := range e.times {
			err := r.runExperiment(ctx, e.name+" "+strconv.Itoa(i+1), e.what, e.play)
			if errors.Is(err, errNoStop) {
				break
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// An experimentKind is a kind of experiment in which something is broken.
type experimentKind struct {
	times      int
	name, what string
	play       func(context.Context, *column) error
}

func (r *run) kinds() (kinds []experimentKind) {
	if r.Server != nil {
		kinds = append(kinds,
			experimentKind{r.Kills, "kill", "SIGKILL, and started again", r.serverEnds(r.Server.Kill)},
			experimentKind{r.Restarts, "restart", "SIGTERM, and started again", r.serverEnds(r.Server.Stop)})
	}
	return append(kinds, experimentKind{r.Partitions, "partition", "the network breaks, the server runs", r.partition})
}

// runExperiment runs one experiment within the time-out and checks everything after it.
func (r *run) runExperiment(ctx context.Context, name, what string, play func(context.Context, *column) error) error {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	r.Note("%s: %s", name, what)
	c := r.card.begin(name, what)
	if err := play(ctx, c); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r.check(ctx, c)
	c.end()
	return nil
}

// newSent returns the next message of a kind.
func (r *run) newSent(kind taskKind) *sentTask {
	r.n++
	token := fmt.Sprintf("prove-%x-%d", r.Seed, r.n)
	pattern := r.Message
	if kind == asking {
		pattern = r.Ask
	}
	s := &sentTask{kind: kind, saw: r.saw, message: message{id: token, text: withToken(pattern, token)}}
	if r.pushes == "" {
		s.message.push = r.webhook.base + "/" + url.PathEscape(token)
	}
	if kind == streamed {
		s.follower = newFollower()
	}
	r.all = append(r.all, s)
	return s
}

// batch returns messages for one experiment.
func (r *run) batch(n int) (batch []*sentTask) {
	for i := range n {
		kind := kinds[i%len(kinds)]
		switch {
		case kind == streamed && !r.streaming, kind == asking && r.usualEnds[asking] == "", kind == canceled && r.usualEnds[canceled] == "":
			kind = plain
		}
		batch = append(batch, r.newSent(kind))
	}
	return batch
}
