package serve

import (
	"context"
	"os"
	"strings"
	"time"

	"go.uber.org/zap"

	"longhaul/activities/notice"
	"longhaul/api"
	"longhaul/api/answerpage"
	"longhaul/api/chat"
	"longhaul/api/console"
	"longhaul/api/gateform"
	"longhaul/api/quota"
	apiservice "longhaul/api/service"
	"longhaul/internal/chatapp"
	"longhaul/internal/process"
	"longhaul/internal/seal"
	"longhaul/internal/signing"
	"longhaul/opt/outbox"
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
func (l *answerLinks) URL(a outbox.AnswerLink) (string, error) {
	token, err := l.Sign(a)
	return l.base + "/answer/" + token, err
}

// The notices reach people at gates: through channels, with links by which they answer.
type notices struct {
	stopper
	file     string // with the channels; "" for none
	answers  bool   // this process only takes answers of chat platforms
	settings linkSettings
	reach    *reach
	store    *store
	log      *zap.Logger

	channels []notice.Channel
	links    *answerLinks     // nil for none
	to       *notice.Channels // the sender; nil in a process that sends no notices
	chats    *chat.Page       // nil in a process that takes no answers of chat platforms
}

// base returns the base of the URLs of the API, "" if it is not set.
func (n *notices) base() string { return strings.TrimSuffix(n.settings.PublicURL, "/") }

// Start reads the file with the channels and the keys of answer links.
func (n *notices) Start(context.Context) (err error) {
	if n.links, err = n.settings.links(); err != nil {
		return err
	}
	if n.links != nil && !secureIssuer(n.settings.PublicURL) {
		n.log.Warn("Answer links cross the network unencrypted: they are credentials. Set --public-url to an https URL", zap.String("publicUrl", n.settings.PublicURL))
	}
	if n.channels, err = n.read(); err != nil {
		return err
	}
	for _, app := range n.apps() {
		if app.Kind == chatapp.Mattermost && !process.IsServer(n.settings.PublicURL) {
			return process.Usagef("the channel %s of %s needs --public-url: its buttons name the URL of this server", app.Name, n.file)
		}
	}
	return nil
}

// apps returns the apps of the channels at chat platforms.
func (n *notices) apps() (list []chatapp.App) {
	for _, c := range n.channels {
		if app, ok := c.App(); ok {
			list = append(list, app)
		}
	}
	return list
}

// read reads the file with the channels.
func (n *notices) read() ([]notice.Channel, error) {
	if n.file == "" {
		return nil, nil
	}
	load := notice.Load
	if n.answers {
		load = notice.LoadChats
	}
	return load(n.file, os.LookupEnv, func(rawURL string) error { return ownURL(n.reach.channels, rawURL) })
}

// Reload reads the file with the channels again. Notices that were made go to the channels of
// their names.
func (n *notices) Reload() {
	if n.file == "" {
		return
	}
	list, err := n.read()
	if err != nil {
		n.log.Error("Kept the channels for notices from before", zap.Error(err))
		return
	}
	n.channels = list
	if n.to != nil { // first, since the journal makes notices for new ones at once
		n.to.Replace(list)
	}
	if n.chats != nil {
		n.chats.Replace(n.apps())
	}
	n.store.journal.SetChannels(n.forJournal())
	n.log.Info("Read the channels for notices again", zap.Int("channels", len(list)))
}

// forJournal returns the channels for which the journal makes notices.
func (n *notices) forJournal() (list []outbox.Channel) {
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
func (n *notices) page(operations *apiservice.Service, keys gateform.Keys, withConsole bool) api.TokenPage {
	if n.links == nil {
		return nil
	}
	gates := ""
	if withConsole {
		gates = console.GatesPath
	}
	return answerpage.New(answerpage.Config{
		Calls: operations.Calls, Gates: operations.Gates, Links: n.links, Console: gates, Expired: signing.ErrLinkExpired, Keys: keys,
		Wrong: quota.New(quota.Config{Rate: wrongLinksPerSecond, Burst: wrongLinksAtOnce}), Log: n.log,
	})
}

// chatPage returns what takes answers of chat platforms, nil without a file of channels.
func (n *notices) chatPage(operations *apiservice.Service, keys gateform.Keys) api.TokenPage {
	if n.file == "" {
		return nil
	}
	n.chats = chat.New(chat.Config{
		Calls: operations.Calls, Gates: operations.Gates, Apps: n.apps(), Keys: keys, Sender: n.reach.channels, PublicURL: n.base(), Log: n.log,
		Wrong: quota.New(quota.Config{Rate: wrongLinksPerSecond, Burst: wrongLinksAtOnce}),
	})
	return n.chats
}

// sender returns what sends notices, signed with keys unless that is nil.
func (n *notices) sender(keys *signing.Keeper) *notice.Channels {
	cfg := notice.Config{Channels: n.channels, Sender: n.reach.channels, LinksFor: n.settings.AnswerLinkTTL, Log: n.log, PublicURL: n.base()}
	if cfg.PublicURL != "" {
		cfg.GatesPath = console.GatesPath
	}
	if n.links != nil {
		cfg.Links = n.links
	}
	if keys != nil {
		cfg.Signer = keys
	}
	n.to = notice.New(cfg)
	return n.to
}
