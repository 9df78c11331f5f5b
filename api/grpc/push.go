package grpc

import (
	"github.com/a2aproject/a2a-go/v2/a2apb/v1"

	"longhaul/api/push"
	"longhaul/opt/outbox"
)

// newPush returns a push config without its secrets.
func newPush(p outbox.PushConfig) *a2apb.TaskPushNotificationConfig {
	out := &a2apb.TaskPushNotificationConfig{TaskId: p.TaskID, Id: p.ID, Url: p.URL}
	if p.Scheme != "" {
		out.Authentication = &a2apb.AuthenticationInfo{Scheme: p.Scheme}
	}
	return out
}

func newPushPage(p push.PushPage) *a2apb.ListTaskPushNotificationConfigsResponse {
	return &a2apb.ListTaskPushNotificationConfigsResponse{Configs: convertAll(p.Configs, newPush), NextPageToken: p.Next}
}
