// What happened, in words: an event's kind and data as a sentence. Pure. What is said elsewhere (actor, reason, time) is left out.
import { count, tasks as tasksText } from "../../../../src/core/shown/figures.js";
import type { JobEvent } from "./records.js";

export interface Told {
  text: string;
  /** The status whose sign stands beside it. */
  sign: string;
  /** What the sentence leaves out of the data. */
  rest: Record<string, unknown>;
}

type Data = Record<string, unknown>;
type Teller = (data: Data, stage: string) => { text: string; sign: string; said?: readonly string[] };

const tellers: Record<string, Teller> = {
  "job.submitted": () => ({ text: "The job was submitted", sign: "queued" }),
  "job.released": () => ({ text: "The jobs it waited for have ended: it may start", sign: "queued" }),
  "job.paused": ({ queued }) => ({
    text: `The job was paused${tasks(queued, "waits", "wait")}`,
    sign: "paused",
    said: ["queued"],
  }),
  "job.continued": ({ queued }) => ({
    text: `The job goes on${tasks(queued, "may run", "may run")}`,
    sign: "processing",
    said: ["queued"],
  }),
  "job.resumed": (data) => repaired("The job was resumed", data),
  "job.retried": (data) => repaired(retriedWhat(data), data),
  "job.completed": () => ({ text: "The job completed", sign: "completed" }),
  "job.partial_success": () => ({ text: "The job ended as a partial success", sign: "partial_success" }),
  "job.failed": () => ({ text: "The job failed", sign: "failed" }),
  "job.cancelled": () => ({ text: "The job was cancelled", sign: "cancelled" }),
  "stage.planned": ({ total }, stage) => ({
    text: `${stage} was planned: ${tasksText(n(total))}`,
    sign: "planning",
    said: ["total"],
  }),
  "stage.waiting_approval": (_, stage) => ({ text: `${stage} waits for approval`, sign: "waiting_approval" }),
  "stage.approved": (_, stage) => ({ text: `${stage} was approved`, sign: "completed" }),
  "stage.rejected": (_, stage) => ({ text: `${stage} was rejected`, sign: "failed" }),
  "stage.reopened": ({ again, kept }, stage) => ({
    text: `${stage} was opened again: ${count(n(again))} to run, ${count(n(kept))} kept`,
    sign: "retrying",
    said: ["again", "kept", "epoch"],
  }),
  "stage.completed": (data, stage) => ended(`${stage} completed`, data, "completed"),
  "stage.partial_success": (data, stage) => ended(`${stage} ended within its budget`, data, "partial_success"),
  "stage.failed": (data, stage) => ended(`${stage} failed`, data, "failed"),
  "stage.skipped": (_, stage) => ({
    text: `${stage} was skipped`,
    sign: "skipped",
    said: ["total", "completed", "failed", "skipped"],
  }),
  "stage.cancelled": (data, stage) => ended(`${stage} was cancelled`, data, "cancelled"),
  "task.skipped": ({ task_id, was }, stage) => ({
    text: `Task ${text(task_id)} of ${stage} was skipped${was === undefined ? "" : `; it was ${text(was)}`}`,
    sign: "skipped",
    said: ["task_id", "was"],
  }),
  "task.retried": ({ task_id }) => ({ text: `Task ${text(task_id)} runs again`, sign: "retrying", said: ["task_id"] }),
  "task.cancelled": ({ task_id }) => ({
    text: `Task ${text(task_id)} was cancelled`,
    sign: "cancelled",
    said: ["task_id"],
  }),
  "janitor.took_back": ({ target }) => ({
    text: `What ${text(target)} held was taken back, and is queued again`,
    sign: "retrying",
    said: ["target"],
  }),
  "janitor.expired": () => ({ text: "The deadline passed: the job was failed", sign: "failed", said: ["target"] }),
  "janitor.timed_out": ({ target }) => ({
    text: `${capital(text(target))} ran past its time-out, and was failed`,
    sign: "failed",
    said: ["target"],
  }),
  "janitor.mended": ({ target }) => ({
    text: `${capital(text(target))} was in a wrong state, and was mended`,
    sign: "retrying",
    said: ["target"],
  }),
};

export function storyOf({ kind, data }: Pick<JobEvent, "kind" | "data">, stage_name: string | null): Told {
  const known = data ?? {};
  const named = stage_name ?? (typeof known.stage === "string" ? known.stage : null);
  const stage = named === null ? "A stage" : `Stage ${named}`;
  const teller = Object.hasOwn(tellers, kind) ? tellers[kind] : undefined;
  const told = teller?.(known, stage) ?? other(kind, known);
  const said = new Set([...(told.said ?? []), "stage", "run_id"]);
  const rest = Object.fromEntries(Object.entries(known).filter(([key, value]) => !said.has(key) && value !== null));
  return { text: told.text, sign: told.sign, rest };
}

function other(kind: string, data: Data): ReturnType<Teller> {
  const [family = "", ...what] = kind.split(".");
  const words = what.join(" ").replaceAll("_", " ");
  const target = typeof data.target === "string" ? `: ${data.target}` : "";
  if (family === "alert") return { text: `Alert: ${words}${target}`, sign: "failed", said: ["target"] };
  if (family === "janitor") return { text: `The janitor ${words}${target}`, sign: "retrying", said: ["target"] };
  return { text: `${capital(family)} ${words}`, sign: "queued" };
}

function repaired(begins: string, data: Data): ReturnType<Teller> {
  const { again, kept, epoch } = data;
  return {
    text: `${begins} (epoch ${count(n(epoch))}): ${count(n(again))} to run again, ${count(n(kept))} kept`,
    sign: "retrying",
    said: ["again", "kept", "epoch", "kind", "target", "from_stage"],
  };
}

function retriedWhat({ kind, target }: Data): string {
  if (kind === "stage") return `Stage ${text(target)} is run again`;
  if (kind === "group") return `Error group ${text(target)} is run again`;
  if (kind === "task") return `Task ${text(target)} is run again`;
  return "Part of the job is run again";
}

function ended(begins: string, { total, completed, failed, skipped }: Data, sign: string): ReturnType<Teller> {
  const all = n(completed) === n(total);
  const parts = [all ? tasksText(n(total)) : `${count(n(completed))} of ${count(n(total))} completed`];
  if (n(failed) > 0) parts.push(`${count(n(failed))} failed`);
  if (n(skipped) > 0) parts.push(`${count(n(skipped))} skipped`);
  const told = n(total) > 0 ? `: ${parts.join(", ")}` : "";
  return { text: `${begins}${told}`, sign, said: ["total", "completed", "failed", "skipped"] };
}

function tasks(given: unknown, one: string, many: string): string {
  const of = n(given);
  if (of === 0) return "";
  return of === 1 ? `: 1 task ${one}` : `: ${count(of)} tasks ${many}`;
}

function n(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : String(value ?? "");
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The families people filter by. */
export const families = [
  { id: "", text: "Everything" },
  { id: "job", text: "The job" },
  { id: "stage", text: "Stages" },
  { id: "task", text: "Tasks" },
  { id: "janitor,alert", text: "Janitor and alerts" },
] as const;
