// The look of a job on the screen: one line per stage. Pure: a status and the width of the screen in, lines out.
import pc from "picocolors";
import { doneOf, type Pace } from "../../core/shown/pace.js";
import { isTerminal } from "../../core/shown/statuses.js";
import { printable, truncate } from "../../core/values/printable.js";
import type { JobRecord, StageRecord } from "../../engine/verbs/records.js";
import { count, rate, seconds } from "./figures.js";

export interface Look {
  width: number;
  colour: boolean;
  paces: ReadonlyMap<number, Pace>;
}

type Paint = (text: string) => string;
type Colours = Record<"green" | "red" | "yellow" | "cyan" | "dim" | "bold", Paint>;

const marks: Record<string, string> = {
  completed: "✔",
  partial_success: "◐",
  failed: "✘",
  cancelled: "⊘",
  skipped: "↷",
  processing: "▶",
  planning: "…",
  waiting: "·",
  waiting_approval: "◇",
  paused: "‖",
  queued: "·",
  retrying: "↻",
};

const widest_bar = 30;
const narrowest_bar = 6;

export function colours(on: boolean): Colours {
  const { green, red, yellow, cyan, dim, bold } = pc.createColors(on);
  return { green, red, yellow, cyan, dim, bold };
}

export function statusPaint(status: string, c: Colours): Paint {
  if (status === "completed") return c.green;
  if (status === "failed") return c.red;
  if (["partial_success", "cancelled", "waiting_approval", "paused"].includes(status)) return c.yellow;
  return status === "processing" || status === "planning" ? c.cyan : c.dim;
}

/** The whole view: a headline, a line per stage, and what waits for a person; none wider than the screen. */
export function renderStages(status: JobRecord, look: Look): string[] {
  const name_width = Math.min(24, Math.max(...status.stages.map((stage) => stage.name.length), 4));
  const paint = statusPaint("paused", colours(look.colour));
  return [
    headline(status, look),
    ...status.stages.map((stage) => stageLine(stage, isPaused(status), name_width, look)),
    ...[...nextRetries(status), ...waitingForPeople(status)].map((text) => paint(truncate(text, look.width))),
  ];
}

/** For each stage whose tasks wait for another attempt: when the first comes, until when they come, and why. */
export function nextRetries(status: JobRecord): string[] {
  if (isTerminal(status.status)) return [];
  return status.stages.flatMap(({ name, next_retry }) => {
    if (!next_retry) return [];
    const { attempt, max_attempts, run_at, gives_up_at, error } = next_retry;
    const of = max_attempts === null ? "" : ` of ${max_attempts}`;
    const wait = seconds(Math.max(0, Date.parse(run_at) - Date.parse(status.now)) / 1000);
    const end = gives_up_at === null ? "" : `, gives up at ${new Date(gives_up_at).toLocaleTimeString("sv-SE")}`;
    return [
      `${marks.retrying} ${printable(name)}: attempt ${attempt}${of} in ${wait}${end}: ${printable(error?.message ?? "", 300)}`,
    ];
  });
}

export function isPaused(status: JobRecord): boolean {
  return Boolean(status.paused_at) && !isTerminal(status.status);
}

/** A pause and gates end by somebody's word only: who or what it is, and the command that goes on. */
export function waitingForPeople(status: JobRecord): string[] {
  const id = shortId(status.job_id);
  const lines: string[] = [];
  if (isPaused(status)) {
    const why = status.pause_reason ? `: ${printable(status.pause_reason)}` : "";
    lines.push(`${marks.paused} paused by ${printable(status.paused_by, 40)}${why}`, `  go on: fanfold continue ${id}`);
  }
  for (const { name, gate } of status.stages.filter((stage) => stage.status === "waiting_approval")) {
    lines.push(`${marks.waiting_approval} ${printable(name)} asks: ${printable(gate?.message ?? "go on?")}`);
    lines.push(`  fanfold approve ${id} --stage ${printable(name)}`);
  }
  return lines;
}

export function headline(status: JobRecord, look: Look): string {
  const c = colours(look.colour);
  const paint = statusPaint(status.status, c);
  const words = [
    { text: printable(status.job_type, 63), paint: c.bold },
    { text: shortId(status.job_id), paint: c.dim },
    { text: status.run > 1 ? `run ${status.run}` : "", paint: c.dim },
    { text: status.epoch > 1 ? `epoch ${status.epoch}` : "", paint: c.dim },
    { text: status.status, paint },
    { text: isPaused(status) ? "paused" : "", paint: c.yellow },
    { text: elapsed(status), paint: c.dim },
  ];
  return joinFitting(words, "  ", look.width);
}

/** Twelve hex digits name a job well enough to type, and any unique prefix is accepted. */
export function shortId(job_id: string): string {
  return printable(job_id.slice(0, 12));
}

function elapsed(status: JobRecord): string {
  if (!status.started_at) return "";
  const end = Date.parse(status.finished_at ?? status.now);
  return seconds(Math.max(0, end - Date.parse(status.started_at)) / 1000);
}

interface Word {
  text: string;
  paint: Paint;
}

function stageLine(stage: StageRecord, job_paused: boolean, name_width: number, look: Look): string {
  const c = colours(look.colour);
  const paused = job_paused && (stage.status === "processing" || stage.status === "planning");
  const shown = paused ? "paused" : stage.status;
  const paint = statusPaint(shown, c);
  const pace = paused ? undefined : look.paces.get(stage.number);
  const name = truncate(printable(stage.name), name_width).padEnd(name_width);
  const words: Word[] = [
    { text: `${marks[shown] ?? "?"} ${name}`, paint },
    { text: counts(stage), paint: (text) => text },
    { text: paused ? "paused" : "", paint: c.yellow },
    { text: paused && stage.processing > 0 ? `${count(stage.processing)} still running` : "", paint: c.dim },
    { text: stage.failed > 0 ? `${count(stage.failed)} failed` : "", paint: c.red },
    { text: stage.retrying > 0 ? `${count(stage.retrying)} retrying` : "", paint: c.yellow },
    { text: stage.skipped > 0 ? `${count(stage.skipped)} skipped` : "", paint: c.dim },
    { text: stage.cancelled > 0 ? `${count(stage.cancelled)} cancelled` : "", paint: c.yellow },
    { text: pace ? rate(pace.per_s) : "", paint: c.dim },
    { text: pace && pace.eta_s !== null ? `ETA ${seconds(pace.eta_s)}` : "", paint: c.dim },
  ];
  const room = look.width - lengthOf(words, "  ") - 2;
  if (stage.total === null || stage.total === 0 || room < narrowest_bar) return joinFitting(words, "  ", look.width);
  const [head, ...rest] = words as [Word, ...Word[]];
  const bar = renderBar(stage, Math.min(widest_bar, room), c);
  const tail = joinFitting(rest, "  ", look.width);
  return `${head.paint(head.text)}  ${bar}  ${tail}`;
}

function counts(stage: StageRecord): string {
  if (stage.status === "waiting_approval") return "waits for approval";
  if (stage.total === null) return stage.status;
  // A gate that was rejected fails its stage before there are any.
  if (stage.total === 0) return stage.status === "completed" ? "no tasks" : stage.status;
  return `${count(doneOf(stage))}/${count(stage.total)}`;
}

/** Rounded down, so that a full bar means that all is done; but a single failure among thousands still shows. */
function renderBar(stage: StageRecord, width: number, c: Colours): string {
  const total = stage.total ?? 0;
  const cells = (part: number) => Math.floor((part / total) * width);
  const bad = stage.failed + stage.cancelled;
  const bad_cells = bad > 0 ? Math.max(1, cells(bad)) : 0;
  const filled = Math.max(bad_cells, cells(Math.min(total, doneOf(stage))));
  const [good, rest] = [filled - bad_cells, width - filled];
  return c.green("█".repeat(good)) + c.red("█".repeat(bad_cells)) + c.dim("░".repeat(rest));
}

function lengthOf(words: readonly Word[], gap: string): number {
  const shown = words.filter((word) => word.text !== "");
  return shown.reduce((sum, word) => sum + word.text.length, 0) + gap.length * Math.max(0, shown.length - 1);
}

/** Joins what fits: a narrow screen loses the words at the end, never wraps. */
function joinFitting(words: readonly Word[], gap: string, width: number): string {
  let room = width;
  const painted: string[] = [];
  for (const word of words) {
    if (word.text === "") continue;
    const need = word.text.length + (painted.length > 0 ? gap.length : 0);
    if (need > room) {
      if (painted.length === 0) painted.push(word.paint(truncate(word.text, room)));
      break;
    }
    painted.push(word.paint(word.text));
    room -= need;
  }
  return painted.join(gap);
}

/** For pipes and log files: what changed since the last line, without bars and colours. */
export function renderChanges(before: JobRecord | null, now: JobRecord, look: Look): string[] {
  const lines: string[] = [];
  const stamp = elapsed(now) || "0.0s";
  for (const stage of now.stages) {
    const old = before?.stages.find((one) => one.number === stage.number);
    if (old && plain(old, null) === plain(stage, null)) continue;
    if (!old && stage.status === "waiting") continue;
    lines.push(`${stamp}  ${plain(stage, isPaused(now) ? null : (look.paces.get(stage.number) ?? null))}`);
  }
  const told = new Set(before ? waitingForPeople(before) : []);
  for (const text of waitingForPeople(now)) if (!told.has(text)) lines.push(`${stamp}  ${text}`);
  if (before && isPaused(before) && !isPaused(now) && !isTerminal(now.status)) lines.push(`${stamp}  goes on`);
  if (before && before.status !== now.status) lines.push(`${stamp}  job ${now.status}`);
  return lines;
}

function plain(stage: StageRecord, pace: Pace | null): string {
  const words = [printable(stage.name), stage.status];
  if (stage.total !== null && stage.status !== "waiting_approval") words.push(counts(stage));
  if (stage.failed > 0) words.push(`${count(stage.failed)} failed`);
  if (stage.retrying > 0) words.push(`${count(stage.retrying)} retrying`);
  if (stage.skipped > 0) words.push(`${count(stage.skipped)} skipped`);
  if (stage.cancelled > 0) words.push(`${count(stage.cancelled)} cancelled`);
  if (pace) words.push(rate(pace.per_s));
  if (pace && pace.eta_s !== null) words.push(`ETA ${seconds(pace.eta_s)}`);
  return words.join("  ");
}
