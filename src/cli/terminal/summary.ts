// How a job's end, a job and a list of things read. Pure: records in, lines out.

import { doneOf } from "../../core/shown/pace.js";
import { isTerminal } from "../../core/shown/statuses.js";
import { printable, truncate } from "../../core/values/printable.js";
import type { JobRecord } from "../../engine/verbs/records.js";
import { exit_codes } from "./failure.js";
import { seconds, tasks } from "./figures.js";
import { colours, shortId, statusPaint } from "./view.js";

export function exitCodeOf(status: string): number {
  if (status === "completed") return exit_codes.done;
  if (status === "partial_success") return exit_codes.partial_success;
  return status === "failed" || status === "cancelled" ? exit_codes.failed : exit_codes.done;
}

export interface FailedTask {
  index: string;
  stage: string;
  error: unknown;
}

/** What to say when a job has ended: one line, its error, the first failed tasks, its result, and what can be done next. */
export function endLines(status: JobRecord, failed: readonly FailedTask[], colour: boolean): string[] {
  const c = colours(colour);
  const word = statusPaint(status.status, c)(status.status.replace("_", " "));
  const done = status.stages.reduce((sum, stage) => sum + doneOf(stage), 0);
  const lines = [`${printable(status.job_type)} ${shortId(status.job_id)} ${word}${tookText(status)}: ${tasks(done)}`];
  if (status.error) lines.push(`  ${c.red("error")} ${errorText(status.error)}`);
  for (const task of failed)
    lines.push(`  ${c.red("✘")} ${printable(task.stage)}/${printable(task.index, 100)}: ${errorText(task.error)}`);
  if (status.result !== null && status.result !== undefined) lines.push(`  result ${resultText(status.result)}`);
  return lines;
}

/** What the submitter of a job, or the person who let it go on, does next. */
export function howToFollow(kind: "server" | "embedded", status: JobRecord["status"], job_id: string): string[] {
  const id = shortId(job_id);
  if (isTerminal(status)) return [`  look at it: fanfold status ${id}`];
  if (kind === "server") return [`  follow it: fanfold watch ${id}`];
  return [
    "  stored; nothing runs until a process works on the embedded database:",
    `  fanfold watch ${id}   works on it and shows it`,
    "  fanfold up                   works on whatever is stored, until stopped",
  ];
}

/** For a job that did not end well: the one command that goes on. */
export function resumeText({ job_id, resume_from_stage, stages }: JobRecord): string {
  const stage = stages.find(({ number }) => number === resume_from_stage);
  const from = stage ? ` from stage ${stage.number} (${printable(stage.name)})` : "";
  return `can be resumed${from}: fanfold resume ${shortId(job_id)}`;
}

function tookText(status: JobRecord): string {
  if (!status.started_at || !status.finished_at) return "";
  return ` in ${seconds((Date.parse(status.finished_at) - Date.parse(status.started_at)) / 1000)}`;
}

export function errorText(error: unknown): string {
  if (typeof error === "string") return printable(error, 500);
  if (typeof error !== "object" || error === null) return "unknown error";
  const { message, code } = error as { message?: unknown; code?: unknown };
  const text = printable(message ?? JSON.stringify(error), 500);
  return code ? `${text} (${printable(code, 60)})` : text;
}

export function resultText(result: unknown): string {
  return printable(JSON.stringify(result), 1000);
}

/** The data of an event in a few words: what is a list or an object is only counted. */
export function dataText(data: Record<string, unknown> | null): string {
  const words = Object.entries(data ?? {}).map(([key, value]) => {
    if (Array.isArray(value)) return `${key}=[${value.length}]`;
    if (typeof value === "object" && value !== null) return `${key}={${Object.keys(value).length}}`;
    return value === null ? "" : `${key}=${printable(value, 60)}`;
  });
  return words.filter((word) => word !== "").join(" ");
}

/** Left-aligned columns, cut where the screen ends (an infinite one has no end). The last column takes what is left. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], width: number): string[] {
  // In a pipe or a file nothing is cut but what no reader would want whole.
  const longest = Number.isFinite(width) ? 200 : 10_000;
  const cells = [head, ...rows].map((row) => row.map((cell) => printable(cell, longest)));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => [...(row[column] ?? "")].length)));
  return cells.map((row) =>
    truncate(
      row
        .map((cell, column) => pad(cell, widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
      width,
    ),
  );
}

/** Columns and a text beside them; below them where the screen is too narrow for it. */
export function tableAndText(
  head: readonly string[],
  rows: readonly { cells: readonly string[]; text: string }[],
  width: number,
): string[] {
  const columns = rows.map(({ cells }) => cells);
  const [first = "", ...lines] = table(head, columns, width);
  const beside = Math.max(0, ...lines.map((line) => [...line].length)) + 2;
  const told = rows.flatMap(({ text }, at) => {
    const line = lines[at] ?? "";
    const shown = printable(text);
    if (shown === "") return [line];
    return beside + [...shown].length <= width ? [pad(line, beside) + shown] : [line, truncate(`  ${shown}`, width)];
  });
  return [first, ...told];
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - [...text].length));
}

/** A moment by the clocks of a zone, which it names: 2030-03-31 03:00:00 Europe/Zurich. */
export function momentIn(iso: string | null | undefined, time_zone: string): string {
  if (!iso) return "";
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? "" : `${at.toLocaleString("sv-SE", { timeZone: time_zone })} ${time_zone}`;
}

/** A moment as the list shows it: local time, to the second. */
export function moment(iso: string | null | undefined): string {
  if (!iso) return "";
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? "" : at.toLocaleString("sv-SE");
}
