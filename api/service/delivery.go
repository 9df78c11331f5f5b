package service

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"longhaul/opt"
)

// A DeliveryParams names a delivery of a task.
type DeliveryParams struct {
	TaskID, ConfigID string
	Event            string // the number of the event that brought the state
}

// deliveries has the operations on deliveries to push configs.
type deliveries struct{ pushes *pushes }

// ListDeliveries returns the deliveries of a task with their latest attempts, in
// the order of its states.
func (s deliveries) ListDeliveries(ctx context.Context, c *Call, p IDParams) ([]opt.Delivery, error) {
	if !s.pushes.Pushes() {
		return nil, ErrNoPush
	}
	v, err := s.pushes.read.task(ctx, c, p.ID, opt.TaskWant{})
	if err != nil {
		return nil, err
	}
	return s.pushes.cfg.Journal.Deliveries(ctx, c.Tenant, v.Task.ID)
}

// Redeliver makes a delivery due again after any outcome, as long as its config
// exists. A delivery that is due stays due.
func (s deliveries) Redeliver(ctx context.Context, c *Call, p DeliveryParams) (opt.Delivery, error) {
	_, err := s.ListDeliveries(ctx, c, IDParams{p.TaskID}) // checks the task
	if err != nil {
		return opt.Delivery{}, err
	}
	n, err := strconv.ParseInt(p.Event, 10, 64)
	if err != nil {
		return opt.Delivery{}, invalid("event", "must be the number of an event, as the list of deliveries shows it")
	}
	missing := &Fault{Kind: NotFound, Message: "Delivery not found, or its push config is gone", Reason: reasonNoDelivery}
	if !isValidID(p.ConfigID) {
		return opt.Delivery{}, missing
	}
	detached, cancel := s.pushes.out.detached(ctx)
	defer cancel()
	if err := s.pushes.cfg.Journal.Redeliver(detached, c.Tenant, p.TaskID, p.ConfigID, n); errors.Is(err, opt.ErrUnknown) {
		return opt.Delivery{}, missing
	} else if err != nil {
		return opt.Delivery{}, err
	}
	list, err := s.ListDeliveries(ctx, c, IDParams{p.TaskID})
	i := slices.IndexFunc(list, func(d opt.Delivery) bool { return d.ConfigID == p.ConfigID && d.N == n })
	if err == nil && i < 0 {
		err = missing
	}
	if err != nil {
		return opt.Delivery{}, err
	}
	return list[i], nil
}
