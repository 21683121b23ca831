// A task that a planner made, checked and written as the database reads it. Every rule of the table is checked here first, so that a bad task
// is named by its index and not by a constraint. Pure.
import { kindOf, type Problem } from "../errors/problems.js";
import { jsonProblems } from "../values/json_values.js";
import { indexProblem } from "./names.js";

/** The most bytes of one task's parameters, as JSON. */
export const PARAMETER_BYTES = 256 * 1024;

const known_fields = new Set(["index", "parameters", "metadata", "parent", "bbox"]);

export interface CheckedTask {
  problems: Problem[];
  /** JSON text; of no use where there are problems. */
  text: string;
  /** The bytes of its parameters. */
  bytes: number;
}

export function checkedTask(task: unknown): CheckedTask {
  const problems: Problem[] = [];
  if (typeof task !== "object" || task === null || Array.isArray(task)) {
    problems.push({ path: "$", problem: `is ${kindOf(task)}`, fix: "A planned task is an object." });
    return { problems, text: "", bytes: 0 };
  }
  const { index, parameters, metadata, parent, bbox } = task as Record<string, unknown>;
  const problem = (path: string, text: string | null, fix = "") => {
    if (text !== null) problems.push({ path, problem: text, fix });
  };
  for (const field of Object.keys(task)) {
    if (!known_fields.has(field))
      problem(`$.${field}`, "is not a field of a task", "Put it into parameters or metadata.");
  }
  if (index !== undefined && index !== null) problem("$.index", indexProblem(index));
  if (parent !== undefined && parent !== null) problem("$.parent", indexProblem(parent));
  if (bbox !== undefined && bbox !== null) problem("$.bbox", bboxProblem(bbox), "[west, south, east, north]");
  const p = objectText("$.parameters", parameters, problems);
  const m = objectText("$.metadata", metadata, problems);
  let text = typeof index === "string" ? `{"i":${JSON.stringify(index)}` : `{"i":null`;
  if (p !== undefined) text += `,"p":${p.text}`;
  if (m !== undefined) text += `,"m":${m.text}`;
  if (typeof parent === "string") text += `,"parent":${JSON.stringify(parent)}`;
  if (Array.isArray(bbox)) text += `,"bbox":${JSON.stringify(bbox)}`;
  return { problems, text: `${text}}`, bytes: Math.max(p?.bytes ?? 0, m?.bytes ?? 0) };
}

function objectText(path: string, value: unknown, problems: Problem[]): { text: string; bytes: number } | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object" || Array.isArray(value)) {
    problems.push({ path, problem: `is ${kindOf(value)}`, fix: "It must be an object." });
    return undefined;
  }
  const found = jsonProblems(value);
  for (const problem of found) problems.push({ ...problem, path: path + problem.path.slice(1) });
  if (found.length > 0) return undefined;
  const text = JSON.stringify(value);
  const bytes = text.length * 3 > PARAMETER_BYTES ? Buffer.byteLength(text) : text.length;
  if (bytes > PARAMETER_BYTES) {
    const fix = "Put the data into storage and pass a reference.";
    problems.push({ path, problem: `has ${bytes} bytes; the limit is ${PARAMETER_BYTES}`, fix });
  }
  return { text, bytes };
}

function bboxProblem(bbox: unknown): string | null {
  const good = Array.isArray(bbox) && (bbox.length === 4 || bbox.length === 6) && bbox.every(Number.isFinite);
  return good ? null : "must be 4 or 6 finite numbers";
}
