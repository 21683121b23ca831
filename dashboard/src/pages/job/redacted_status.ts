// A job's status to send to somebody: what stands under a key that sounds like a secret is left out.
import { withoutSecretKeys } from "../../../../src/core/redaction.js";
import type { Job } from "./records.js";

export function redactedStatus(job: Job): string {
  return JSON.stringify(withoutSecretKeys(job), null, 2);
}
