// fanfold/client: everything a program without database access needs. Re-exports only.
export type { Answered, Caller, CallOptions } from "./call.js";
export { ConnectionError, ServiceError } from "./told_errors.js";
export type { ClientOptions } from "./transport.js";
export {
  type VerifiedWebhook,
  verifyWebhook,
  type WebhookRefusal,
  WebhookRefused,
  type WebhookToVerify,
} from "./webhook.js";
