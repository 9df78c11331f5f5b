package wire

import (
	"longhaul/a2a/codec"
	"longhaul/api/push"
	"longhaul/opt/outbox"
	optwire "longhaul/opt/wire"
)

// ReadCreatePush reads the params of a method that adds a push config.
func ReadCreatePush(r *Reader) push.PushCreateParams {
	o := r.params()
	p := push.PushCreateParams{TaskID: o.NeedText("taskId")}
	if r.in.Version == V10 {
		p.Config = pushConfig(r, o)
		return p
	}
	if inner, ok := o.Child("pushNotificationConfig"); ok {
		p.Config = pushConfig(r, inner)
	} else {
		o.Missing("pushNotificationConfig")
	}
	return p
}

// ReadSamplePush reads the params of a push config of a sample, with only a task and a URL.
func ReadSamplePush(r *Reader) push.PushCreateParams {
	o := r.params()
	return push.PushCreateParams{
		TaskID: o.NeedText("taskId"), Config: push.PushRequest{PushConfig: codec.PushConfig{URL: o.NeedText("url")}, Version: string(V10)},
	}
}

// inlinePush reads the push config in the configuration of a send, nil for none. The
// config is for the task of the message.
func inlinePush(r *Reader, o codec.Object, name, taskID string) *push.PushRequest {
	inner, ok := o.Child(name)
	if !ok {
		return nil
	}
	if named := inner.Text("taskId"); named != "" && named != taskID {
		inner.Wrong("taskId", "must be empty: the config is for the task of the message")
	}
	return new(pushConfig(r, inner))
}

// pushConfig reads the members of a push config, which the service checks.
func pushConfig(r *Reader, o codec.Object) push.PushRequest {
	p := push.PushRequest{PushConfig: codec.ReadPushConfig(o), Version: string(r.in.Version), Path: o.Path(), SchemeField: "authentication.scheme"}
	if r.in.Version == V03 {
		p.SchemeField = "authentication.schemes"
	}
	return p
}

// ReadGetPush reads the params of a method that returns a push config. In 0.3 it may
// have no id.
func ReadGetPush(r *Reader) push.PushParams { return pushParams(r, r.in.Version == V03) }

// ReadDeletePush reads the params of a method that removes a push config.
func ReadDeletePush(r *Reader) push.PushParams { return pushParams(r, false) }

func pushParams(r *Reader, optional bool) push.PushParams {
	o := r.params()
	task, config, read := "taskId", "id", o.NeedText
	if r.in.Version == V03 {
		task, config = "id", "pushNotificationConfigId"
	}
	if optional {
		read = o.Text
	}
	return push.PushParams{TaskID: o.NeedText(task), ID: read(config)}
}

// ReadListPushes reads the params of a list of push configs.
func ReadListPushes(r *Reader) push.PushListParams {
	o := r.params()
	if r.in.Version == V03 {
		return push.PushListParams{TaskID: o.NeedText("id")}
	}
	return push.PushListParams{TaskID: o.NeedText("taskId"), PageToken: o.Text("pageToken"), Limit: readPageSize(outbox.MaxPushes)(o, "pageSize")}
}

// WritePush returns the wire form of a push config, without its secrets.
func WritePush(v Version, p outbox.PushConfig) any {
	out := codec.PushConfig{TaskID: p.TaskID, ID: p.ID, URL: p.URL}
	if p.Scheme != "" {
		out.Schemes = []string{p.Scheme}
	}
	return v.Push(out)
}

type pushPage struct {
	Configs []any  `json:"configs"`
	Next    string `json:"nextPageToken"`
}

// WritePushPage returns the wire form of a page of push configs.
func WritePushPage(v Version, p push.PushPage) any {
	list := optwire.Each(p.Configs, func(c outbox.PushConfig) any { return WritePush(v, c) })
	if v == V03 {
		return list
	}
	return pushPage{list, p.Next}
}

// WriteNothing returns the wire form of an empty result.
func WriteNothing(v Version, _ struct{}) any {
	if v == V03 {
		return nil
	}
	return struct{}{}
}
