// What happened to a request, in words. Pure. What is said elsewhere (actor, reason, time) is left out.
import type { RequestEvent } from "./records.js";

type Told = { text: string; sign: string };

const told: Readonly<Record<string, Told>> = {
  "request.submitted": { text: "It was asked for", sign: "queued" },
  "request.approval_wanted": { text: "A person is asked for an approval", sign: "waiting_approval" },
  "request.approved": { text: "The gate was opened", sign: "completed" },
  "request.rejected": { text: "It was rejected at the gate", sign: "failed" },
  "request.resumed": { text: "It was resumed", sign: "retrying" },
  "request.cancelling": { text: "It is being cancelled", sign: "cancelled" },
  "request.completed": { text: "The request completed", sign: "completed" },
  "request.partial_success": { text: "The request ended as a partial success", sign: "partial_success" },
  "request.failed": { text: "The request failed", sign: "failed" },
  "request.cancelled": { text: "The request was cancelled", sign: "cancelled" },
  "release.approved": { text: "The release was approved", sign: "approved" },
  "release.rejected": { text: "The release was rejected", sign: "rejected" },
  "release.revoked": { text: "The release was revoked, and is taken down", sign: "revoked" },
  "release.unpublished": { text: "What was made of it is taken down", sign: "cancelled" },
  "release.overwritten": { text: "The release is made again", sign: "retrying" },
};

const of_jobs: Readonly<Record<string, Told>> = {
  submitted: { text: "was opened", sign: "queued" },
  completed: { text: "completed", sign: "completed" },
  partial_success: { text: "ended as a partial success", sign: "partial_success" },
  failed: { text: "failed", sign: "failed" },
  cancelled: { text: "was cancelled", sign: "cancelled" },
  resumed: { text: "was resumed", sign: "retrying" },
  retried: { text: "is run again in part", sign: "retrying" },
  paused: { text: "was paused", sign: "paused" },
  continued: { text: "goes on", sign: "processing" },
};

/** What of `data` belongs into the sentence. */
const said: readonly [name: string, words: (value: string) => string][] = [
  ["run", (value) => `run ${value}`],
  ["data_type", (value) => `by the recipe ${value}`],
  ["job", (value) => `job ${value}`],
  ["clearance", (value) => `clearance ${value}`],
  ["revision", (value) => `revision ${value}`],
  ["epoch", (value) => `epoch ${value}`],
  ["files", (value) => `${value} files`],
];

export function storyOf({ kind, job, data }: Pick<RequestEvent, "kind" | "job" | "data">): Told {
  const [family = "", what = ""] = kind.split(".");
  if (family === "job") {
    const known = Object.hasOwn(of_jobs, what) ? of_jobs[what] : undefined;
    const name = job === null ? "A job" : `Job ${job}`;
    return known === undefined
      ? { text: `${name}: ${what.replaceAll("_", " ")}`, sign: "queued" }
      : { text: `${name} ${known.text}`, sign: known.sign };
  }
  const known = Object.hasOwn(told, kind) ? (told[kind] as Told) : null;
  const more = said.flatMap(([name, words]) => {
    const value = data?.[name];
    return typeof value === "string" || typeof value === "number" ? [words(String(value))] : [];
  });
  const text = known?.text ?? `${family.charAt(0).toUpperCase()}${family.slice(1)} ${what.replaceAll("_", " ")}`;
  return { text: more.length === 0 ? text : `${text}: ${more.join(", ")}`, sign: known?.sign ?? "queued" };
}
