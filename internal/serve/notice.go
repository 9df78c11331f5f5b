package serve

import (
	"fmt"
	"os"
	"strings"
	"time"

	"go.uber.org/zap"

	"longhaul/activities/notice"
	"longhaul/api"
	"longhaul/api/answerpage"
	"longhaul/api/console"
	"longhaul/api/quota"
	apiservice "longhaul/api/service"
	"longhaul/internal/egress"
	"longhaul/internal/process"
	"longhaul/internal/seal"
	"longhaul/internal/signing"
	"longhaul/opt"
)

// noticeSettings name the channels for notices about gates.
type noticeSettings struct {
	Notices string `help:"File with the channels (webhooks and SMTP) that get notices about gates; see docs/notices.md." env:"LONGHAUL_NOTICES" placeholder:"FILE"`
}

// linkSettings are about links by which people answer. The API and the workers need
// the same.
type linkSettings struct {
	PublicURL     string         `help:"URL on the agent card, and of answer links; the default for the card is made from --addr." env:"LONGHAUL_PUBLIC_URL" placeholder:"URL"`
	AnswerKeys    process.Secret `help:"Keys of answer links: 32 bytes in base64 each, separated by commas. The first signs, all verify. Without any there are no answer links." env:"LONGHAUL_ANSWER_KEYS" placeholder:"KEYS"`
	AnswerLinkTTL time.Duration  `name:"answer-link-ttl" help:"How long an answer link is valid, unless its gate expires before." default:"168h" env:"LONGHAUL_ANSWER_LINK_TTL"`
}

// links returns what signs and verifies answer links, nil for none.
func (s linkSettings) links() (*answerLinks, error) {
	if s.AnswerKeys == "" {
		return nil, nil
	}
	keys, err := seal.Parse(string(s.AnswerKeys))
	if err != nil {
		return nil, process.Usagef("--answer-keys: %v", err)
	}
	signed, err := signing.NewLinks(nil, keys...)
	switch {
	case err != nil:
		return nil, process.Usagef("--answer-keys: %v", err)
	case s.PublicURL == "":
		return nil, process.Usagef("--answer-keys needs --public-url: answer links begin with it")
	case !process.IsServer(s.PublicURL):
		return nil, errPublicURL(s.PublicURL)
	case s.AnswerLinkTTL <= 0:
		return nil, process.Usagef("--answer-link-ttl must be above 0")
	}
	return &answerLinks{signed, strings.TrimSuffix(s.PublicURL, "/")}, nil
}

// answerLinks makes the URLs of answer links.
type answerLinks struct {
	*signing.Links
	base string
}

// URL implements [notice.Linker].
func (l *answerLinks) URL(a opt.AnswerLink) (string, error) {
	token, err := l.Sign(a)
	return l.base + "/answer/" + token, err
}

// A notices has the channels of a service and the keys of its answer links.
type notices struct {
	channels []notice.Channel
	links    *answerLinks // nil for none
	linksFor time.Duration
	base     string                           // of the URLs of the API, "" if it is not set
	reread   func() ([]notice.Channel, error) // reads the file again; nil without a file
	to       *notice.Channels                 // the sender; nil in a process that sends no notices
}

// newNotices reads the file with the channels and the keys of answer links.
func newNotices(cfg noticeSettings, links linkSettings, reach egressSettings) (n notices, err error) {
	n.linksFor, n.base = links.AnswerLinkTTL, strings.TrimSuffix(links.PublicURL, "/")
	if n.links, err = links.links(); err != nil || cfg.Notices == "" {
		return n, err
	}
	n.reread = func() ([]notice.Channel, error) {
		to, err := reach.client()
		if err != nil {
			return nil, err
		}
		defer to.Close()
		return notice.Load(cfg.Notices, os.LookupEnv, func(rawURL string) error { return webhookDenied(to.CheckURL(rawURL)) })
	}
	n.channels, err = n.reread()
	return n, err
}

// reloadNotices reads the file with the channels again, if there is one. Notices that were
// made go to the channels of their names.
func reloadNotices(s *service) {
	if s.notices.reread == nil {
		return
	}
	list, err := s.notices.reread()
	if err != nil {
		s.log.Error("Kept the channels for notices from before", zap.Error(err))
		return
	}
	s.notices.channels = list
	if s.notices.to != nil { // first, since the journal makes notices for new ones at once
		s.notices.to.Replace(list)
	}
	s.journal.SetChannels(s.notices.forJournal())
	s.log.Info("Read the channels for notices again", zap.Int("channels", len(list)))
}

// webhookDenied returns the error for a webhook of the operator that egress denies: the rule,
// and what to do. It is nil for nil.
func webhookDenied(denied error) error {
	switch {
	case denied == nil:
		return nil
	case egress.Private(denied):
		return fmt.Errorf("must be an https URL of a public host (%s); for development, %s also allows http, this machine and private networks", egress.Rule(denied), egress.AllowPrivate)
	}
	return fmt.Errorf("must be an https URL of a public host, without a user or a fragment, that --egress-deny does not name (%s)", egress.Rule(denied))
}

// forJournal returns the channels for which the journal makes notices.
func (n notices) forJournal() (list []opt.Channel) {
	for _, c := range n.channels {
		list = append(list, c.Channel)
	}
	return list
}

// Wrong answer links that one address may send, per second and at once.
const (
	wrongLinksPerSecond = 5
	wrongLinksAtOnce    = 100
)

// page returns what serves answer links, nil for none.
func (n notices) page(operations *apiservice.Service, keys answerpage.KeyLister, withConsole bool, log *zap.Logger) api.TokenPage {
	if n.links == nil {
		return nil
	}
	gates := ""
	if withConsole {
		gates = console.GatesPath
	}
	return answerpage.New(answerpage.Config{
		Calls: operations.Calls, Gates: operations.Gates, Links: n.links, Console: gates, Expired: signing.ErrLinkExpired, Keys: keys,
		Wrong: quota.New(quota.Config{Rate: wrongLinksPerSecond, Burst: wrongLinksAtOnce}), Log: log,
	})
}

// sender returns what sends notices.
func (n notices) sender(to *egress.Client, keys *signing.Keeper, log *zap.Logger) *notice.Channels {
	cfg := notice.Config{Channels: n.channels, Sender: to, LinksFor: n.linksFor, Log: log}
	if n.links != nil {
		cfg.Links = n.links
	}
	if keys != nil {
		cfg.Signer = keys
	}
	return notice.New(cfg)
}
