// A delivery's state, as it is shown.
import type { ReplyOf } from "../../../../src/core/api/endpoint.js";
import type { deliveries_api } from "../../../../src/core/api/webhooks.js";

export type Delivery = ReplyOf<typeof deliveries_api.list>["deliveries"][number];
export type DeliveryStatus = Delivery["status"];

export const looks: Record<DeliveryStatus, { status: string; label: string }> = {
  pending: { status: "queued", label: "pending" },
  delivered: { status: "completed", label: "delivered" },
  failed: { status: "failed", label: "failed" },
  discarded: { status: "cancelled", label: "discarded" },
};

export function look({ status, attempts }: Delivery) {
  return status === "pending" && attempts > 0 ? { status: "retrying", label: "retrying" } : looks[status];
}
