// The one way out: whatever calls the outside world for a tenant goes through here. Re-exports only.
export { default_policy, type OutboundPolicy } from "../../../core/places/outbound.js";
export type { Body } from "./body.js";
export { OutboundRefused, refusal_message } from "./errors.js";
export {
  type GuardedHead,
  type GuardedRequest,
  type GuardedResponse,
  guardedExchange,
  guardedRequest,
} from "./request.js";
