// The effect log: what handlers really did, whatever the database says about it. One append-only file per process, one
// line per start, per end and per finish the database has confirmed, written with a single system call, so that a kill -9 leaves whole lines.
import { mkdirSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import type { TaskContext } from "../../src/core/task/context.js";
import type { FinishReply, FinishRequest } from "../../src/engine/work/commands.js";
import type { TaskContext as WorkerContext } from "../../src/worker/run/context.js";

export interface Effect {
  /** Nanoseconds of CLOCK_MONOTONIC, which is the same for all processes of a machine. */
  at: number;
  what: "start" | "end";
  /** Names one execution of one task; the task's result carries it. */
  run: string;
  job_id: string;
  stage: string;
  stage_id: number;
  ordinal: number;
  attempt: number;
  claim_id: number;
  worker_id: string;
  effect_key: string;
  process: string;
  /** Of an end: whether the handler returned or threw. */
  outcome?: "returned" | "threw";
}

/** The database answered a finish and took this task's result: from here on it must never be lost. */
export interface Ack {
  at: number;
  what: "ack";
  stage_id: number;
  ordinal: number;
  claim_id: number;
  /** The execution whose result was confirmed; null when it went to storage. */
  run: string | null;
}

/** Notes the start of an execution; gives its name, and how to note its end. */
export type Recorder = (ctx: TaskContext) => { run: string; end(outcome: Effect["outcome"]): void };

export interface EffectLog {
  record: Recorder;
  acknowledged(finish: FinishRequest, reply: FinishReply): void;
}

export function openEffects(dir: string, process_name: string): EffectLog {
  mkdirSync(dir, { recursive: true });
  const file = openSync(join(dir, `${process_name}.jsonl`), "a");
  let runs = 0;
  const acknowledged = ({ claims, done }: FinishRequest, { refused, repeated = [] }: FinishReply) => {
    const stages = new Map((JSON.parse(claims) as { c: number; g: number }[]).map(({ c, g }) => [c, g]));
    // What was done before is confirmed too, but which of two runs of this worker was kept is not said.
    const late = new Set([...refused, ...repeated].map(([claim_id, ordinal]) => `${claim_id}/${ordinal}`));
    const ordinals = numbers(done.ordinals);
    const results = JSON.parse(`[${done.results}]`) as ({ run: string } | null)[];
    const lines = numbers(done.claims).flatMap((claim_id, number) => {
      const ordinal = ordinals[number]!;
      if (late.has(`${claim_id}/${ordinal}`)) return [];
      const run = results[number]?.run ?? null;
      const ack: Ack = { at: monotonicNow(), what: "ack", stage_id: stages.get(claim_id)!, ordinal, claim_id, run };
      return [`${JSON.stringify(ack)}\n`];
    });
    if (lines.length > 0) writeSync(file, lines.join(""));
  };
  const record: Recorder = (ctx) => {
    const facts = { ...claimOf(ctx), run: `${process_name}/${++runs}`, process: process_name };
    const write = (what: Effect["what"], more: Partial<Effect>) =>
      writeSync(file, `${JSON.stringify({ at: monotonicNow(), what, ...facts, ...more })}\n`);
    write("start", {});
    return { run: facts.run, end: (outcome) => void write("end", { outcome }) };
  };
  return { record, acknowledged };
}

/** Nanoseconds, the same for all processes of a machine. */
export const monotonicNow = () => Number(process.hrtime.bigint());
const numbers = (text: string) => (text === "" ? [] : text.split(",").map(Number));

export function readEffects(dir: string): { effects: Effect[]; acks: Ack[] } {
  const lines = readdirSync(dir)
    // What follows the last line end is empty, or a line that its process is writing at this moment.
    .flatMap((name) => readFileSync(join(dir, name), "utf8").split("\n").slice(0, -1))
    .map((line) => JSON.parse(line) as Effect | Ack)
    .sort((a, b) => a.at - b.at);
  return {
    effects: lines.filter((line): line is Effect => line.what !== "ack"),
    acks: lines.filter((line): line is Ack => line.what === "ack"),
  };
}

/** The claim and the worker are not a handler's business, so the context does not offer them: here they are the evidence. */
function claimOf(ctx: TaskContext) {
  const { claim } = ctx as WorkerContext;
  // The worker's id changes with each registration of a process; its scratch folder is named by the one that runs this task.
  // The process of an isolated handler was told the id itself.
  const { services, order } = ctx as unknown as { services: { scratch_dir: string }; order?: { worker_id: string } };
  return {
    job_id: ctx.job_id ?? "",
    stage: ctx.stage,
    stage_id: claim.stage.stage_id,
    ordinal: ctx.ordinal,
    attempt: ctx.attempt,
    claim_id: claim.claim_id,
    worker_id: order?.worker_id ?? basename(services.scratch_dir),
    effect_key: ctx.effect_key,
  };
}
