package wire

import (
	"longhaul/api/push"
	"longhaul/opt"
)

// ReadCreatePush reads the params of a method that adds a push config.
func ReadCreatePush(r *Reader) push.PushCreateParams {
	o := r.params()
	o.tenant()
	p := push.PushCreateParams{TaskID: o.needText("taskId")}
	if r.Version == V10 {
		p.Config = pushConfig(o.object)
		return p
	}
	if inner, ok := o.child("pushNotificationConfig"); ok {
		p.Config = pushConfig(inner)
	} else {
		o.missing("pushNotificationConfig")
	}
	return p
}

// inlinePush reads the push config in the configuration of a send, nil for none. The
// config is for the task of the message.
func inlinePush(o object, name, taskID string) *push.PushRequest {
	inner, ok := o.child(name)
	if !ok {
		return nil
	}
	if named := inner.text("taskId"); named != "" && named != taskID {
		inner.wrong("taskId", "must be empty: the config is for the task of the message")
	}
	p := pushConfig(inner)
	return &p
}

// pushConfig reads the members of a push config, which the service checks.
func pushConfig(o object) push.PushRequest {
	p := push.PushRequest{
		ID: o.text("id"), URL: o.text("url"), Token: o.text("token"), Version: string(o.r.Version), Path: o.path, SchemeField: "authentication.scheme",
	}
	auth, ok := o.child("authentication")
	if !ok {
		return p
	}
	p.Credentials = auth.text("credentials")
	if o.r.Version == V03 {
		p.SchemeField = "authentication.schemes"
		p.Schemes = auth.texts("schemes")
	} else if scheme := auth.text("scheme"); scheme != "" {
		p.Schemes = []string{scheme}
	}
	return p
}

// ReadGetPush reads the params of a method that returns a push config. In 0.3 it may
// have no id.
func ReadGetPush(r *Reader) push.PushParams { return pushParams(r, r.Version == V03) }

// ReadDeletePush reads the params of a method that removes a push config.
func ReadDeletePush(r *Reader) push.PushParams { return pushParams(r, false) }

func pushParams(r *Reader, optional bool) push.PushParams {
	o := r.params()
	o.tenant()
	task, config, read := "taskId", "id", o.needText
	if r.Version == V03 {
		task, config = "id", "pushNotificationConfigId"
	}
	if optional {
		read = o.text
	}
	return push.PushParams{TaskID: o.needText(task), ID: read(config)}
}

// ReadListPushes reads the params of a list of push configs.
func ReadListPushes(r *Reader) push.PushListParams {
	o := r.params()
	o.tenant()
	if r.Version == V03 {
		return push.PushListParams{TaskID: o.needText("id")}
	}
	return push.PushListParams{TaskID: o.needText("taskId"), PageToken: o.text("pageToken"), Limit: o.pageSize(opt.MaxPushes)}
}

type push10 struct {
	TaskID         string      `json:"taskId"`
	ID             string      `json:"id"`
	URL            string      `json:"url"`
	Authentication *pushAuth10 `json:"authentication,omitempty"`
}

type pushAuth10 struct {
	Scheme string `json:"scheme"`
}

type push03 struct {
	TaskID string       `json:"taskId"`
	Config pushConfig03 `json:"pushNotificationConfig"`
}

type pushConfig03 struct {
	ID             string      `json:"id"`
	URL            string      `json:"url"`
	Authentication *pushAuth03 `json:"authentication,omitempty"`
}

type pushAuth03 struct {
	Schemes []string `json:"schemes"`
}

// WritePush returns the wire form of a push config, without its secrets.
func WritePush(v Version, p opt.PushConfig) any {
	if v == V03 {
		out := push03{p.TaskID, pushConfig03{ID: p.ID, URL: p.URL}}
		if p.Scheme != "" {
			out.Config.Authentication = &pushAuth03{[]string{p.Scheme}}
		}
		return out
	}
	out := push10{TaskID: p.TaskID, ID: p.ID, URL: p.URL}
	if p.Scheme != "" {
		out.Authentication = &pushAuth10{p.Scheme}
	}
	return out
}

type pushPage struct {
	Configs []any  `json:"configs"`
	Next    string `json:"nextPageToken"`
}

// WritePushPage returns the wire form of a page of push configs.
func WritePushPage(v Version, p push.PushPage) any {
	list := make([]any, 0, len(p.Configs))
	for _, config := range p.Configs {
		list = append(list, WritePush(v, config))
	}
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
