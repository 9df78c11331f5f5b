package grpc_test

import (
	"context"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
)

func pushOn(c *config) { c.CheckPush = func(context.Context, string) error { return nil } }

func TestPush(t *testing.T) {
	s := newService(t, pushOn)
	req := said("m-1", "slow work")
	req.Configuration = &a2apb.SendMessageConfiguration{
		ReturnImmediately:          true,
		TaskPushNotificationConfig: &a2apb.TaskPushNotificationConfig{Url: "https://client.example.com/inline", Token: "canary"},
	}
	sent, err := s.SendMessage(with(t), req)
	if err != nil {
		t.Fatal(err)
	}
	task := sent.GetTask()
	created, err := s.CreateTaskPushNotificationConfig(with(t), &a2apb.TaskPushNotificationConfig{
		TaskId: task.GetId(), Id: "mine", Url: "https://client.example.com/mine", Token: "canary",
		Authentication: &a2apb.AuthenticationInfo{Scheme: "Bearer", Credentials: "canary"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &a2apb.TaskPushNotificationConfig{
		TaskId: task.GetId(), Id: "mine", Url: "https://client.example.com/mine", Authentication: &a2apb.AuthenticationInfo{Scheme: "Bearer"},
	}
	got, err := s.GetTaskPushNotificationConfig(with(t), &a2apb.GetTaskPushNotificationConfigRequest{TaskId: task.GetId(), Id: "mine"})
	for _, config := range []*a2apb.TaskPushNotificationConfig{created, got} {
		if diff := cmp.Diff(want, config, protocmp.Transform()); diff != "" || err != nil {
			t.Errorf("config mismatch (-want +got):\n%s%v", diff, err)
		}
	}
	first, err := s.ListTaskPushNotificationConfigs(with(t), &a2apb.ListTaskPushNotificationConfigsRequest{TaskId: task.GetId(), PageSize: 1})
	if err != nil || len(first.GetConfigs()) != 1 || first.GetConfigs()[0].GetUrl() != "https://client.example.com/inline" || first.GetConfigs()[0].GetToken() != "" {
		t.Fatalf("first page %v, %v", first, err)
	}
	for range 2 {
		if _, err := s.DeleteTaskPushNotificationConfig(with(t), &a2apb.DeleteTaskPushNotificationConfigRequest{TaskId: task.GetId(), Id: "mine"}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.ListTaskPushNotificationConfigs(with(t), &a2apb.ListTaskPushNotificationConfigsRequest{TaskId: task.GetId()})
	if err != nil || len(all.GetConfigs()) != 1 || all.GetNextPageToken() != "" {
		t.Errorf("after delete %v, %v, want the first alone", all, err)
	}

	_, err = s.GetTaskPushNotificationConfig(with(t), &a2apb.GetTaskPushNotificationConfigRequest{TaskId: task.GetId(), Id: "mine"})
	wantFault(t, "get of what was deleted", err, codes.NotFound, "TASK_NOT_FOUND")
	_, err = s.CreateTaskPushNotificationConfig(with(t), &a2apb.TaskPushNotificationConfig{TaskId: "obj-unknown", Url: "https://a.example.com"})
	wantFault(t, "create at an unknown task", err, codes.NotFound, "TASK_NOT_FOUND")
	_, err = s.ListTaskPushNotificationConfigs(with(t, "authorization", "Bearer other/bob"), &a2apb.ListTaskPushNotificationConfigsRequest{TaskId: task.GetId()})
	wantFault(t, "list by another tenant", err, codes.NotFound, "TASK_NOT_FOUND")
}
