// A delivery's state, as it is shown.
import type { Reply } from "../../api/call.js";

export type Delivery = Reply<"deliveries.list">["deliveries"][number];
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
