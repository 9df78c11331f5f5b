package serve

import (
	"context"
	"os"

	"go.uber.org/zap"

	"longhaul/api"
	"longhaul/api/hook"
	"longhaul/api/quota"
	apiservice "longhaul/api/service"
)

// The triggers start work for events of other systems.
type triggers struct {
	stopper
	file string // "" for none
	log  *zap.Logger

	list []hook.Trigger
	page *hook.Page // nil before there is one
}

// Start reads the file.
func (t *triggers) Start(context.Context) (err error) {
	if t.file != "" {
		t.list, err = hook.Load(t.file, os.LookupEnv)
	}
	return err
}

// Reload reads the file again.
func (t *triggers) Reload() {
	if t.file == "" || t.page == nil {
		return
	}
	list, err := hook.Load(t.file, os.LookupEnv)
	if err != nil {
		t.log.Error("Kept the triggers from before", zap.Error(err))
		return
	}
	t.page.Replace(list)
	t.log.Info("Read the triggers again", zap.Int("triggers", len(list)))
}

// door returns what takes events, nil without a file.
func (t *triggers) door(operations *apiservice.Service) api.TokenPage {
	if t.file == "" {
		return nil
	}
	t.page = hook.New(hook.Config{
		Calls: operations.Calls, Messages: operations.Messages, Triggers: t.list, Log: t.log,
		Wrong: quota.New(quota.Config{Rate: wrongLinksPerSecond, Burst: wrongLinksAtOnce}),
	})
	return t.page
}
