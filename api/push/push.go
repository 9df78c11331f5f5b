package push

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.uber.org/zap"

	"longhaul/a2a/codec"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/api/write"
	"longhaul/opt"
	"longhaul/opt/outbox"
	"longhaul/opt/shown"
)

// The longest values of a push config, in bytes.
const (
	maxPushURL         = 2048
	maxPushToken       = 1024
	maxPushCredentials = 8192
)

// defaultPush is the id of a config that has none, where versions allow that.
const defaultPush = "default"

// challenged are the schemes of Authorization with credentials that depend on an answer of the
// server, so that deliveries cannot have them.
var challenged = []string{"digest", "hoba", "mutual", "negotiate", "ntlm", "scram-sha-1", "scram-sha-256"}

// schemeForm is the form of the name of a scheme.
var schemeForm = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$")

func isPushScheme(name string) bool {
	return schemeForm.MatchString(name) && !slices.Contains(challenged, strings.ToLower(name))
}

// A PushRequest is a push config as a client gives it.
type PushRequest struct {
	codec.PushConfig        // without an id to have one made; the first of its schemes that deliveries can have is used
	Version          string // of the protocol of the request, which deliveries follow

	Path        string // of its members in the request, with a trailing dot
	SchemeField string // the member with Schemes
}

// PushCreateParams are the params of a method that adds a push config.
type PushCreateParams struct {
	TaskID string
	Config PushRequest
}

// PushParams are the params of a method about one push config.
type PushParams struct{ TaskID, ID string }

// PushListParams are the params of a list of push configs.
type PushListParams struct {
	TaskID    string
	PageToken string
	Limit     int
}

// PushPage is a page of push configs.
type PushPage struct {
	Configs []outbox.PushConfig
	Next    string // token of the next page, "" for none
}

// Pushes has the operations on push configs. The configs that they return have no
// secrets.
type Pushes struct {
	Journal Journal
	Read    read.Reader
	Out     write.Writer
	IDs     call.IDs
	Pages   *call.Pages

	CheckURL func(ctx context.Context, rawURL string) error // nil: no states are pushed
	States   outbox.PushSet                                 // that new configs deliver
	Log      *zap.Logger
}

// A Journal keeps push configs and the deliveries to them, for a tenant.
type Journal interface {
	read.PushLister
	// PutPush adds a config or replaces the one with its id. The task of an inline
	// one may be about to begin. The error wraps outbox.ErrPushLimit if there are too
	// many. undo removes the config or restores the replaced one, unless p was stored
	// before or the config was changed since.
	PutPush(ctx context.Context, p outbox.PushConfig) (undo func(context.Context) error, err error)
	// RemovePush removes a config, if it is there.
	RemovePush(ctx context.Context, tenant, taskID, id string) error
	// Deliveries returns the deliveries of a task, in the order of its states.
	Deliveries(ctx context.Context, tenant, taskID string) ([]outbox.Delivery, error)
	// Redeliver makes one due again whose config is there.
	Redeliver(ctx context.Context, tenant, taskID, configID string, n int64) error
}

// Pushes reports whether the agent delivers states to URLs.
func (s *Pushes) Pushes() bool { return s.CheckURL != nil }

// CreatePush adds a config to a task, or replaces the one with the same id. If the
// task is in a state that is delivered, that state is the first delivery.
func (s *Pushes) CreatePush(ctx context.Context, c *call.Call, p PushCreateParams) (outbox.PushConfig, error) {
	config, err := s.check(ctx, c, p.Config)
	if err != nil {
		return config, err
	}
	v, err := s.Read.Task(ctx, c, p.TaskID, shown.TaskWant{})
	if err != nil {
		return config, err
	}
	config.TaskID = v.Task.ID
	if config.ID, err = s.idOf(c, config, p.Config.Path); err != nil {
		return config, err
	}
	if _, err := s.put(ctx, config); err != nil {
		return config, err
	}
	return s.GetPush(ctx, c, PushParams{TaskID: config.TaskID, ID: config.ID})
}

// idOf returns the id of a config that a client adds: the same for a repeat under
// the same idempotency key.
func (s *Pushes) idOf(c *call.Call, config outbox.PushConfig, path string) (id string, err error) {
	_, ofChannel := outbox.ChannelIn(config.ID)
	switch {
	case ofChannel:
		return "", call.InvalidField(path+"id", "must not begin as the ids of channels for notices do")
	case config.ID != "" && !call.IsValidID(config.ID):
		return "", call.InvalidField(path+"id", "must have no control characters and at most "+strconv.Itoa(call.MaxID)+" bytes")
	case config.ID != "":
		return config.ID, nil
	case c.Rules.DefaultPush:
		return defaultPush, nil
	case c.Key != "":
		return derivedPushID(c, config.TaskID, "key:"+c.Key), nil
	}
	id, err = s.IDs.Random()
	return "push-" + strings.TrimPrefix(id, "obj-"), err
}

// derivedPushID returns the id of a config of a task that a request made, which has
// a key.
func derivedPushID(c *call.Call, taskID, key string) string {
	return "push-" + strings.TrimPrefix(opt.DerivedObjectiveID(c.Tenant, c.Principal, "push:"+taskID+":"+key), "obj-")
}

// GetPush returns a config of a task.
func (s *Pushes) GetPush(ctx context.Context, c *call.Call, p PushParams) (outbox.PushConfig, error) {
	list, err := s.list(ctx, c, p.TaskID)
	if err != nil {
		return outbox.PushConfig{}, err
	}
	if i := configIndex(c, list, p.ID); i >= 0 {
		return list[i], nil
	}
	return outbox.PushConfig{}, &call.Fault{Kind: call.TaskNotFound, Message: "Task not found: the task has no such push notification config"}
}

// configIndex returns the index of the config with an id in a list, -1 for none. Where
// versions allow configs without an id, the id of the task or an empty id finds
// that config; an empty id finds the oldest config if all have ids.
func configIndex(c *call.Call, list []outbox.PushConfig, id string) int {
	called := func(id string) int {
		return slices.IndexFunc(list, func(p outbox.PushConfig) bool { return p.ID == id })
	}
	i := called(id)
	if i >= 0 || !c.Rules.DefaultPush || len(list) == 0 || id != "" && id != list[0].TaskID {
		return i
	}
	if i = called(defaultPush); i < 0 && id == "" {
		i = 0
	}
	return i
}

// ListPushes returns a page of the configs of a task, the oldest first.
func (s *Pushes) ListPushes(ctx context.Context, c *call.Call, p PushListParams) (PushPage, error) {
	all, err := s.list(ctx, c, p.TaskID)
	if err != nil {
		return PushPage{}, err
	}
	of := call.PageOf{Kind: "push configs", Tenant: c.Tenant, Filter: []string{p.TaskID}}
	after, err := s.Pages.Cursor(ctx, of, p.PageToken)
	if err != nil {
		return PushPage{}, err
	}
	all = slices.DeleteFunc(all, func(p outbox.PushConfig) bool {
		return after != shown.Cursor{} && p.CreatedAt.Millis() <= after.At.Millis()
	})
	page := PushPage{Configs: all}
	if p.Limit > 0 && len(all) > p.Limit {
		page.Configs = all[:p.Limit]
		last := page.Configs[p.Limit-1]
		page.Next, err = s.Pages.Token(ctx, of, shown.Cursor{At: last.CreatedAt, ID: last.ID})
	}
	return page, err
}

// list returns the configs of a task that the caller names.
func (s *Pushes) list(ctx context.Context, c *call.Call, taskID string) ([]outbox.PushConfig, error) {
	if !s.Pushes() {
		return nil, call.ErrNoPush
	}
	v, err := s.Read.Task(ctx, c, taskID, shown.TaskWant{})
	if err != nil {
		return nil, err
	}
	list, err := s.Journal.Pushes(ctx, c.Tenant, v.Task.ID)
	for i := range list {
		list[i].Token, list[i].Credentials = "", ""
	}
	return list, err
}

// DeletePush removes a config of a task. One that is not there is no error.
func (s *Pushes) DeletePush(ctx context.Context, c *call.Call, p PushParams) (struct{}, error) {
	list, err := s.list(ctx, c, p.TaskID)
	if err != nil {
		return struct{}{}, err
	}
	i := configIndex(c, list, p.ID)
	if i < 0 {
		return struct{}{}, nil
	}
	ctx, cancel := s.Out.Detached(ctx)
	defer cancel()
	return struct{}{}, s.Journal.RemovePush(ctx, c.Tenant, list[i].TaskID, list[i].ID)
}

// check returns the config that a client asks for, without its task. Nothing is
// looked up before the URL has been checked.
func (s *Pushes) check(ctx context.Context, c *call.Call, r PushRequest) (p outbox.PushConfig, err error) {
	if !s.Pushes() {
		return p, call.ErrNoPush
	}
	var wrong []call.Violation
	add := func(field, problem string) {
		wrong = append(wrong, call.Violation{Field: r.Path + field, Description: problem})
	}
	tooLong := func(field, value string, most int) {
		if len(value) > most {
			add(field, fmt.Sprintf("is longer than %d bytes", most))
		} else if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c > '~' }) {
			add(field, "must contain only printable ASCII characters")
		}
	}
	tooLong("url", r.URL, maxPushURL)
	tooLong("token", r.Token, maxPushToken)
	tooLong("authentication.credentials", r.Credentials, maxPushCredentials)
	supported := slices.IndexFunc(r.Schemes, isPushScheme)
	switch {
	case supported >= 0:
		p.Scheme = r.Schemes[supported]
	case len(r.Schemes) > 0:
		add(r.SchemeField, "must be the name of a scheme whose credentials need no challenge, such as Bearer or Basic")
	case r.Credentials != "":
		add(r.SchemeField, "is required with credentials")
	}
	if r.URL == "" {
		add("url", "is required")
	} else if err := s.CheckURL(ctx, r.URL); err != nil && len(wrong) == 0 {
		add("url", err.Error())
	}
	if len(wrong) > 0 {
		return p, call.Invalid(wrong...)
	}
	p.Tenant, p.Principal, p.Version, p.States = c.Tenant, c.Principal, r.Version, s.States
	p.ID, p.URL, p.Token, p.Credentials = r.ID, r.URL, r.Token, r.Credentials
	return p, nil
}

func (s *Pushes) put(ctx context.Context, p outbox.PushConfig) (undo func(context.Context) error, err error) {
	ctx, cancel := s.Out.Detached(ctx)
	defer cancel()
	undo, err = s.Journal.PutPush(ctx, p)
	switch {
	case errors.Is(err, outbox.ErrPushLimit):
		err = &call.Fault{
			Kind: call.QueueFull, Message: "The task has too many push notification configs", Reason: call.ReasonPushLimit,
			Info: map[string]string{"taskId": p.TaskID, "limit": strconv.Itoa(outbox.MaxPushes)},
		}
	case errors.Is(err, opt.ErrUnknown):
		err = call.TaskUnknown(p.TaskID)
	}
	return undo, err
}

// CheckInline checks the config that came with a message, if one did.
func (s *Pushes) CheckInline(ctx context.Context, c *call.Call, r *PushRequest) error {
	if r == nil {
		return nil
	}
	if err := c.RequireScopes(call.ManageWebhooks); err != nil {
		return err
	}
	_, err := s.check(ctx, c, *r)
	return err
}

// Attach stores the config that came with a message, before the message is handed
// over, so that no state is missed. key is the same for repeats of the message.
// undo is called with the outcome of handing it over, which it returns; if the
// message was refused, it removes the config or restores the replaced one. After an
// unknown outcome the config stays, for the repeat of the message.
func (s *Pushes) Attach(ctx context.Context, c *call.Call, r *PushRequest, taskID, key string) (undo func(error) error, err error) {
	none := func(err error) error { return err }
	if r == nil {
		return none, nil
	}
	p, err := s.check(ctx, c, *r)
	if err != nil {
		return none, err
	}
	p.TaskID, p.Inline = taskID, true
	if p.ID == "" && !c.Rules.DefaultPush {
		p.ID = derivedPushID(c, taskID, key)
	} else if p.ID, err = s.idOf(c, p, r.Path); err != nil {
		return none, err
	}
	restore, err := s.put(ctx, p)
	if err != nil {
		return none, err
	}
	return func(err error) error {
		if !hasNoEffect(err) {
			return err
		}
		ctx, cancel := s.Out.Detached(ctx)
		defer cancel()
		if failed := restore(ctx); failed != nil {
			s.Log.Warn("Kept the push config of a message that was refused", zap.String("taskId", taskID), zap.Error(failed))
		}
		return err
	}, nil
}

// ErrNoEffect is wrapped by errors that mean for certain that a message has no effect.
var ErrNoEffect = errors.New("it has no effect")

// hasNoEffect reports whether err means for certain that a message has no effect. opt.ErrEnded
// does not: the message repeats one that began work, which has ended.
func hasNoEffect(err error) bool {
	var fault *call.Fault
	return errors.As(err, &fault) || errors.Is(err, ErrNoEffect) || errors.Is(err, opt.ErrConflict)
}
