package wire

import (
	"longhaul/api/service"
	"longhaul/opt"
)

// ReadSample reads the params of a scenario.
func ReadSample(r *Reader) service.SampleParams {
	return service.SampleParams{Scenario: r.params().needText("scenario")}
}

// SampleStarted returns the task of a scenario.
func SampleStarted(_ Version, s service.SampleStarted) any {
	return map[string]string{"taskId": s.TaskID}
}

// ReadSamplePush reads the params of a push config, with only a task and a URL.
func ReadSamplePush(r *Reader) service.PushCreateParams {
	o := r.params()
	return service.PushCreateParams{
		TaskID: o.needText("taskId"), Config: service.PushRequest{URL: o.needText("url"), Version: string(V10)},
	}
}

// SamplePush returns a push config of a sample.
func SamplePush(_ Version, p opt.PushConfig) any {
	return map[string]any{"taskId": p.TaskID, "pushConfig": pushRecord{URL: p.URL}}
}
