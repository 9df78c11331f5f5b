package push

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/outbox"
	"longhaul/opt/shown"
)

// A DeliveryParams names a delivery of a task.
type DeliveryParams struct {
	TaskID   string `param:"id,needed"`
	ConfigID string `param:"config,needed"`
	Event    string `param:"event,needed"` // the number of the event that brought the state
}

// Deliveries has the operations on deliveries to push configs.
type Deliveries struct{ Pushes *Pushes }

// ListDeliveries returns the deliveries of a task with their latest attempts, in
// the order of its states.
func (s Deliveries) ListDeliveries(ctx context.Context, c *call.Call, p read.IDParams) ([]outbox.Delivery, error) {
	if !s.Pushes.Pushes() {
		return nil, call.ErrNoPush
	}
	v, err := s.Pushes.Read.Task(ctx, c, p.ID, shown.TaskWant{})
	if err != nil {
		return nil, err
	}
	return s.Pushes.Journal.Deliveries(ctx, c.Tenant, v.Task.ID)
}

// Redeliver makes a delivery due again after any outcome, as long as its config
// exists. A delivery that is due stays due.
func (s Deliveries) Redeliver(ctx context.Context, c *call.Call, p DeliveryParams) (outbox.Delivery, error) {
	_, err := s.ListDeliveries(ctx, c, read.IDParams{ID: p.TaskID}) // checks the task
	if err != nil {
		return outbox.Delivery{}, err
	}
	n, err := strconv.ParseInt(p.Event, 10, 64)
	if err != nil {
		return outbox.Delivery{}, call.InvalidField("event", "must be the number of an event, as the list of deliveries shows it")
	}
	missing := &call.Fault{Kind: call.NotFound, Message: "Delivery not found, or its push config is gone", Reason: call.ReasonNoDelivery}
	if !call.IsValidID(p.ConfigID) {
		return outbox.Delivery{}, missing
	}
	detached, cancel := s.Pushes.Out.Detached(ctx)
	defer cancel()
	if err := s.Pushes.Journal.Redeliver(detached, c.Tenant, p.TaskID, p.ConfigID, n); errors.Is(err, opt.ErrUnknown) {
		return outbox.Delivery{}, missing
	} else if err != nil {
		return outbox.Delivery{}, err
	}
	list, err := s.ListDeliveries(ctx, c, read.IDParams{ID: p.TaskID})
	i := slices.IndexFunc(list, func(d outbox.Delivery) bool { return d.ConfigID == p.ConfigID && d.N == n })
	if err == nil && i < 0 {
		err = missing
	}
	if err != nil {
		return outbox.Delivery{}, err
	}
	return list[i], nil
}
