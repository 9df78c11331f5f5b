package wire

import (
	"longhaul/api/push"
	"longhaul/opt"
	optwire "longhaul/opt/wire"
)

// ReadDelivery reads the params of a page about one delivery.
func ReadDelivery(r *Reader) push.DeliveryParams {
	o := r.params()
	return push.DeliveryParams{TaskID: o.NeedText("id"), ConfigID: o.NeedText("config"), Event: o.NeedText("event")}
}

// Deliveries returns the deliveries of a task. They are the same in all versions.
func Deliveries(_ Version, list []opt.Delivery) any {
	return optwire.DeliveryList{Deliveries: each(list, optwire.DeliveryOf)}
}

// Delivery returns a delivery. It is the same in all versions.
func Delivery(_ Version, d opt.Delivery) any { return optwire.DeliveryOf(d) }
