// Checks the tasks a planner makes and gathers them into pages of bounded size. Every rule of the table is checked here
// first, so that a bad task is named by its index and not by a constraint. No I/O of its own.

import { indexProblem } from "../../core/declare/names.js";
import { ContractViolation } from "../../core/errors/errors.js";
import { kindOf, type Problem } from "../../core/errors/problems.js";
import { jsonProblems } from "../../core/values/json_values.js";

export const PAGE_TASKS = 5000;
export const PAGE_BYTES = 4 * 1024 * 1024;
/** Of the JSON of one task's parameters. */
export const PARAMETER_BYTES = 256 * 1024;

const known_fields = new Set(["index", "parameters", "metadata", "parent", "bbox"]);

export class PlanPages {
  /** Tasks so far; the next one's ordinal. */
  total = 0;
  /** Of the largest parameters, by which claims are bounded. */
  task_bytes = 0;
  private from = 0;
  private page: string[] = [];
  private bytes = 0;
  private sent_any = false;
  private readonly indexes = new Set<string>();

  /** `send` gets the ordinal of the first task and a JSON array. */
  constructor(
    private readonly stage: string,
    private readonly send: (from: number, tasks: string) => Promise<void>,
  ) {}

  /** Throws what is wrong with the task; a promise when a page is full and should be awaited. */
  add(task: unknown): Promise<void> | null {
    const text = this.checked(task);
    this.page.push(text);
    this.bytes += text.length;
    this.total++;
    return this.page.length >= PAGE_TASKS || this.bytes >= PAGE_BYTES ? this.flush() : null;
  }

  /** The first page is sent even when it is empty: it wipes what a planner that died may have left. */
  async flush(): Promise<void> {
    if (this.page.length === 0 && this.sent_any) return;
    const { from, page } = this;
    this.from = this.total;
    this.page = [];
    this.bytes = 0;
    this.sent_any = true;
    await this.send(from, `[${page.join()}]`);
  }

  private checked(task: unknown): string {
    if (typeof task !== "object" || task === null || Array.isArray(task)) {
      this.refuse(String(this.total), [
        { path: "$", problem: `is ${kindOf(task)}`, fix: "A planned task is an object." },
      ]);
    }
    const { index, parameters, metadata, parent, bbox } = task as Record<string, unknown>;
    const name = typeof index === "string" ? index : String(this.total);
    const problems: Problem[] = [];
    const problem = (path: string, text: string | null, fix = "") => {
      if (text !== null) problems.push({ path, problem: text, fix });
    };
    for (const field of Object.keys(task as object)) {
      if (!known_fields.has(field))
        problem(`$.${field}`, "is not a field of a task", "Put it into parameters or metadata.");
    }
    if (index !== undefined && index !== null) problem("$.index", indexProblem(index));
    if (parent !== undefined && parent !== null) problem("$.parent", indexProblem(parent));
    if (bbox !== undefined && bbox !== null) problem("$.bbox", bboxProblem(bbox), "[west, south, east, north]");
    if (this.indexes.has(name)) problem("$.index", "is the index of another task of this stage", "Indexes are unique.");
    this.indexes.add(name);
    const p = this.json("$.parameters", parameters, problems);
    const m = this.json("$.metadata", metadata, problems);
    if (problems.length > 0) this.refuse(name, problems);
    let text = typeof index === "string" ? `{"i":${JSON.stringify(index)}` : `{"i":null`;
    if (p !== undefined) text += `,"p":${p}`;
    if (m !== undefined) text += `,"m":${m}`;
    if (typeof parent === "string") text += `,"parent":${JSON.stringify(parent)}`;
    if (Array.isArray(bbox)) text += `,"bbox":${JSON.stringify(bbox)}`;
    return `${text}}`;
  }

  private json(path: string, value: unknown, problems: Problem[]): string | undefined {
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
    this.task_bytes = Math.max(this.task_bytes, bytes);
    if (bytes > PARAMETER_BYTES) {
      const fix = "Put the data into storage and pass a reference.";
      problems.push({ path, problem: `has ${bytes} bytes; the limit is ${PARAMETER_BYTES}`, fix });
    }
    return text;
  }

  private refuse(name: string, problems: Problem[]): never {
    const title = `Task "${name}" of stage "${this.stage}" cannot be planned`;
    throw new ContractViolation(title, { problems });
  }
}

function bboxProblem(bbox: unknown): string | null {
  const good = Array.isArray(bbox) && (bbox.length === 4 || bbox.length === 6) && bbox.every(Number.isFinite);
  return good ? null : "must be 4 or 6 finite numbers";
}
