package clients_test

import (
	"context"
	"slices"

	"github.com/google/go-cmp/cmp"

	a2a03 "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/v2/a2a"

	"longhaul/internal/test"
)

// A hook is a push config as a peer sends or shows it.
type hook struct {
	TaskID      string `json:"taskId,omitempty"`
	ID          string `json:"id,omitempty"`
	URL         string `json:"url,omitempty"`
	Token       string `json:"token,omitempty"`
	Scheme      string `json:"scheme,omitempty"`
	Credentials string `json:"credentials,omitempty"`
}

// A hooker is a peer that can manage push configs.
type hooker interface {
	putHook(ctx context.Context, h hook) (hook, error)
	hook(ctx context.Context, taskID, id string) (hook, error)
	hooks(ctx context.Context, taskID string) ([]hook, error)
	removeHook(ctx context.Context, taskID, id string) error
}

// A config comes with a message, others are added; each client reads them back
// without their secrets, replaces them and removes them. Nothing answers at their
// addresses, and the task does not come to a state that is delivered.
func (v *visit) pushConfigs() {
	peer := v.peer.(hooker)
	inline := hook{URL: "https://192.0.2.1/inline", Token: "canary", Scheme: "Bearer", Credentials: "canary"}
	t := v.sent(message{Text: "work 10m", Leave: true, Push: &inline})

	first := v.listed(peer, t.ID, 1)[0]
	want := hook{TaskID: t.ID, ID: first.ID, URL: inline.URL, Scheme: "Bearer"}
	if diff := cmp.Diff(want, first); diff != "" || first.ID == "" {
		v.Errorf("the config of the message (-want +got):\n%s", diff)
	}
	mine := hook{TaskID: t.ID, ID: "mine", URL: "https://192.0.2.1/mine", Token: "canary", Scheme: "Basic", Credentials: "canary"}
	for _, url := range []string{"https://192.0.2.1/mine", "https://192.0.2.1/moved"} {
		mine.URL = url
		want = hook{TaskID: t.ID, ID: "mine", URL: url, Scheme: "Basic"}
		made := test.Value(peer.putHook(v.ctx, mine))(v)
		test.Equal(v, "put", want, made)
		read := test.Value(peer.hook(v.ctx, t.ID, "mine"))(v)
		test.Equal(v, "get", want, read)
	}
	test.Equal(v, "list", []hook{first, want}, v.listed(peer, t.ID, 2))
	for _, id := range []string{"mine", "mine", first.ID} {
		if err := peer.removeHook(v.ctx, t.ID, id); err != nil {
			v.Errorf("remove %s: %v", id, err)
		}
	}
	v.listed(peer, t.ID, 0)

	_, err := peer.putHook(v.ctx, hook{TaskID: t.ID, URL: "https://10.0.0.5/hook"})
	v.refused(err, errInvalid)
	_, err = peer.putHook(v.ctx, hook{TaskID: "obj-aaaaaaaaaaaaaaaaaaaaaaaaaa", URL: inline.URL})
	v.refused(err, errNotFound)
	_, err = peer.hook(v.ctx, t.ID, "mine")
	v.refused(err, errNotFound)
	v.canceled(t.ID)
}

// listed returns the configs of a task, which are n.
func (v *visit) listed(peer hooker, taskID string, n int) []hook {
	v.Helper()
	list, err := peer.hooks(v.ctx, taskID)
	if err != nil || len(list) != n {
		v.Fatalf("list: %+v, %v, want %d", list, err, n)
	}
	return list
}

func (h hook) config() *a2a.PushConfig {
	out := &a2a.PushConfig{TaskID: a2a.TaskID(h.TaskID), ID: h.ID, URL: h.URL, Token: h.Token}
	if h.Scheme != "" {
		out.Auth = &a2a.PushAuthInfo{Scheme: h.Scheme, Credentials: h.Credentials}
	}
	return out
}

func hookOf(c *a2a.PushConfig) hook {
	if c == nil {
		return hook{}
	}
	out := hook{TaskID: string(c.TaskID), ID: c.ID, URL: c.URL, Token: c.Token}
	if c.Auth != nil {
		out.Scheme, out.Credentials = c.Auth.Scheme, c.Auth.Credentials
	}
	return out
}

func (p *goPeer) putHook(ctx context.Context, h hook) (hook, error) {
	c, err := p.CreateTaskPushConfig(ctx, h.config())
	return hookOf(c), p.word(err)
}

func (p *goPeer) hook(ctx context.Context, taskID, id string) (hook, error) {
	c, err := p.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigRequest{TaskID: a2a.TaskID(taskID), ID: id})
	return hookOf(c), p.word(err)
}

func (p *goPeer) hooks(ctx context.Context, taskID string) (out []hook, err error) {
	list, err := p.ListTaskPushConfigs(ctx, &a2a.ListTaskPushConfigRequest{TaskID: a2a.TaskID(taskID)})
	for _, c := range list {
		out = append(out, hookOf(c))
	}
	return out, p.word(err)
}

func (p *goPeer) removeHook(ctx context.Context, taskID, id string) error {
	return p.word(p.DeleteTaskPushConfig(ctx, &a2a.DeleteTaskPushConfigRequest{TaskID: a2a.TaskID(taskID), ID: id}))
}

func (h hook) config03() *a2a03.PushConfig {
	out := &a2a03.PushConfig{ID: h.ID, URL: h.URL, Token: h.Token}
	if h.Scheme != "" {
		out.Auth = &a2a03.PushAuthInfo{Schemes: []string{h.Scheme}, Credentials: h.Credentials}
	}
	return out
}

func hookOf03(c *a2a03.TaskPushConfig) hook {
	if c == nil {
		return hook{}
	}
	out := hook{TaskID: string(c.TaskID), ID: c.Config.ID, URL: c.Config.URL, Token: c.Config.Token}
	if c.Config.Auth != nil {
		out.Scheme, out.Credentials = slices.Concat(c.Config.Auth.Schemes, []string{""})[0], c.Config.Auth.Credentials
	}
	return out
}

func (p *goPeer03) putHook(ctx context.Context, h hook) (hook, error) {
	c, err := p.SetTaskPushConfig(ctx, &a2a03.TaskPushConfig{TaskID: a2a03.TaskID(h.TaskID), Config: *h.config03()})
	return hookOf03(c), p.word(err)
}

func (p *goPeer03) hook(ctx context.Context, taskID, id string) (hook, error) {
	c, err := p.GetTaskPushConfig(ctx, &a2a03.GetTaskPushConfigParams{TaskID: a2a03.TaskID(taskID), ConfigID: id})
	return hookOf03(c), p.word(err)
}

func (p *goPeer03) hooks(ctx context.Context, taskID string) (out []hook, err error) {
	list, err := p.ListTaskPushConfig(ctx, &a2a03.ListTaskPushConfigParams{TaskID: a2a03.TaskID(taskID)})
	for _, c := range list {
		out = append(out, hookOf03(c))
	}
	return out, p.word(err)
}

func (p *goPeer03) removeHook(ctx context.Context, taskID, id string) error {
	return p.word(p.DeleteTaskPushConfig(ctx, &a2a03.DeleteTaskPushConfigParams{TaskID: a2a03.TaskID(taskID), ConfigID: id}))
}

func (p *jsPeer) putHook(ctx context.Context, h hook) (out hook, err error) {
	err = p.node.call(ctx, "putHook", args{Peer: p.name, Hook: h}, &out)
	return out, err
}

func (p *jsPeer) hook(ctx context.Context, taskID, id string) (out hook, err error) {
	err = p.node.call(ctx, "hook", args{Peer: p.name, Hook: hook{TaskID: taskID, ID: id}}, &out)
	return out, err
}

func (p *jsPeer) hooks(ctx context.Context, taskID string) (out []hook, err error) {
	err = p.node.call(ctx, "hooks", args{Peer: p.name, Hook: hook{TaskID: taskID}}, &out)
	return out, err
}

func (p *jsPeer) removeHook(ctx context.Context, taskID, id string) error {
	return p.node.call(ctx, "removeHook", args{Peer: p.name, Hook: hook{TaskID: taskID, ID: id}}, new(any))
}
