// Where the rows of a report come from, a page at a time: given with the task, a file in storage, the results of the stage
// before, or the tasks of a job. Each source can be read twice: once for its columns, once for the report.

import { Permanent } from "../../core/errors/errors.js";
import { isOfTenant, type Ref, tenantPrefix } from "../../core/places/store.js";
import type { Loose, TaskContext } from "../../core/task/context.js";

export type Row = Record<string, unknown>;

export interface Rows {
  /** Known before anything is read; else the rows are asked. */
  columns: readonly string[] | null;
  pages(): AsyncIterable<Row[]>;
}

const PAGE_ROWS = 1000;
/** One line of a file of rows; a row that is longer is not one. */
const LINE_BYTES = 1024 * 1024;
const MOST_COLUMNS = 500;

/** Whatever is no object becomes one, so that a list of texts is a table of one column. */
export function asRow(value: unknown): Row {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Row;
  return { value };
}

export function givenRows(rows: readonly unknown[]): Rows {
  return {
    columns: null,
    async *pages() {
      for (let at = 0; at < rows.length; at += PAGE_ROWS) yield rows.slice(at, at + PAGE_ROWS).map(asRow);
    },
  };
}

export function previousRows(ctx: TaskContext, stage: string | undefined): Rows {
  const previous = stage === undefined ? ctx.previous : ctx.previous(stage);
  return {
    columns: null,
    async *pages() {
      for await (const items of previous.results()) {
        // A task that returned a list made rows; else its result is one.
        yield items.flatMap(({ result }) => (Array.isArray(result) ? result.map(asRow) : [asRow(result)]));
      }
    },
  };
}

/** A file of the tenant's with one JSON value per line. It is proven whole before the report is stored: a bad one throws at its end. */
export function storedRows(ctx: TaskContext, ref: Ref): Rows {
  if (!isOfTenant(ref, ctx.tenant_id)) {
    const own = tenantPrefix(ctx.tenant_id);
    throw new Permanent(`rows are read from files below ${own} only, and ${ref.key.slice(0, 200)} is not one`, {
      code: "foreign_file",
    });
  }
  return {
    columns: null,
    async *pages() {
      let page: Row[] = [];
      for await (const line of lines(ctx.storage.getStream(ref))) {
        page.push(asRow(parsed(line)));
        if (page.length < PAGE_ROWS) continue;
        yield page;
        page = [];
      }
      if (page.length > 0) yield page;
    },
  };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new Permanent("the file of rows is not one JSON value per line", { code: "bad_rows", cause });
  }
}

async function* lines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  for await (const piece of pieces) {
    const texts = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = texts.pop()!;
    if (rest.length > LINE_BYTES) throw new Permanent("a line of the file of rows is over 1 MB", { code: "bad_rows" });
    for (const text of texts) if (text.trim() !== "") yield text;
  }
  rest += decoder.decode();
  if (rest.trim() !== "") yield rest;
}

const task_columns = `stage index task_id status attempt duration_ms finished_at
  error_code error_message result`.split(/\s+/);

interface TaskPage {
  tasks: Row[];
  next: unknown;
}

/** The tasks of a job with how each ended, in the order of stages and ordinals. */
export function taskRows(ctx: TaskContext, job_id: string): Rows {
  return {
    columns: task_columns,
    async *pages() {
      for (let after: unknown = null; ; ) {
        const cursor = after === null ? null : JSON.stringify(after);
        const [reply] = await ctx.db(
          (session) =>
            session.sql<{ page: TaskPage }>`select app.report_tasks(${job_id}::text, ${cursor}::text::json) as page`,
        );
        const { tasks, next } = reply!.page;
        yield tasks.map(withoutSpilled);
        if (next === null) return;
        after = next;
      }
    },
  };
}

/** A result that lies in storage is named, not read: it is over a megabyte. */
function withoutSpilled({ spill, ...task }: Row): Row {
  if (spill === null || spill === undefined) return task;
  const { key, bytes, sha256 } = spill as Loose;
  return { ...task, result: { stored: key, bytes, sha256 } };
}

/** Every name that occurs, in the order of first appearance. */
export async function columnsOf(rows: Rows, signal: AbortSignal): Promise<readonly string[]> {
  if (rows.columns !== null) return rows.columns;
  const names = new Set<string>();
  for await (const page of rows.pages()) {
    signal.throwIfAborted();
    for (const row of page) for (const name in row) names.add(name);
    if (names.size > MOST_COLUMNS) {
      throw new Permanent(`the rows have more than ${MOST_COLUMNS} columns: name those you want in \`columns\``, {
        code: "too_many_columns",
      });
    }
  }
  return [...names];
}
