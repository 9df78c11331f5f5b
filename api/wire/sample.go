package wire

import (
	"longhaul/a2a/codec"
	"longhaul/api/message"
	"longhaul/api/push"
	"longhaul/opt"
	optwire "longhaul/opt/wire"
)

// ReadSample reads the params of a scenario.
func ReadSample(r *Reader) message.SampleParams {
	return message.SampleParams{Scenario: r.params().NeedText("scenario")}
}

// SampleStarted returns the task of a scenario.
func SampleStarted(_ Version, s message.SampleStarted) any {
	return map[string]string{"taskId": s.TaskID}
}

// ReadSamplePush reads the params of a push config, with only a task and a URL.
func ReadSamplePush(r *Reader) push.PushCreateParams {
	o := r.params()
	return push.PushCreateParams{
		TaskID: o.NeedText("taskId"), Config: push.PushRequest{PushConfig: codec.PushConfig{URL: o.NeedText("url")}, Version: string(V10)},
	}
}

// SamplePush returns a push config of a sample.
func SamplePush(_ Version, p opt.PushConfig) any {
	return map[string]any{"taskId": p.TaskID, "pushConfig": optwire.PushRecord{URL: p.URL}}
}
