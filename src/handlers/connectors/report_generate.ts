// connector.report.generate: a report about a job, or over rows, as JSON, HTML or CSV. Written to storage as it is made, so that
// its length costs no memory; its readers read data, whatever the values try to be.
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { defineHandler } from "../../core/declare/declare.js";
import { Permanent } from "../../core/errors/errors.js";
import { tenantPrefix } from "../../core/places/store.js";
import type { Loose, TaskContext } from "../../core/task/context.js";
import { csvLine } from "./report_csv.js";
import { heading, page_end, pageStart, table, table_end, tableRow, tableStart } from "./report_html.js";
import { columnsOf, givenRows, previousRows, type Rows, storedRows, taskRows } from "./report_rows.js";

const formats = {
  json: { media_type: "application/json", extension: "json" },
  html: { media_type: "text/html; charset=utf-8", extension: "html" },
  csv: { media_type: "text/csv; charset=utf-8", extension: "csv" },
} as const;

const stored_file = z.object({
  store: z.string().max(100),
  key: z.string().max(1024),
  bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

/** Exactly one. Left out: the results of the stage before. */
const source = z.union([
  z.strictObject({ job_id: z.union([z.literal("self"), z.string().regex(/^[0-9a-f]{4,64}$/)]) }),
  z.strictObject({ rows: z.array(z.unknown()) }),
  z.strictObject({ file: stored_file }),
  z.strictObject({ previous: z.union([z.literal(true), z.string().min(1).max(100)]) }),
]);

export const report_parameters = z.strictObject({
  format: z.enum(["json", "html", "csv"]),
  title: z.string().min(1).max(200).default("Report"),
  name: z
    .string()
    .regex(/^[A-Za-z0-9_][A-Za-z0-9_-]{0,79}$/)
    .default("report"),
  source: source.default({ previous: true }),
  columns: z.array(z.string().min(1).max(200)).min(1).max(500).optional(),
  /** Excel takes a CSV file for UTF-8 only with it. */
  byte_order_mark: z.boolean().default(false),
});
type Parameters = z.output<typeof report_parameters>;

interface Plan {
  title: string;
  made_at: string;
  job: Loose | null;
  columns: readonly string[];
  rows: Rows;
  byte_order_mark: boolean;
  /** Called with the rows of each page that was written. */
  counted(rows: number): void;
}

export const reportGenerate = defineHandler(
  "connector.report.generate",
  { parameters: report_parameters, timeout_s: 3600 },
  async (parameters, ctx) => {
    const { format, name, title } = parameters;
    const { job, rows } = await opened(parameters, ctx);
    const columns = parameters.columns ?? (await columnsOf(rows, ctx.signal));
    let count = 0;
    const plan: Plan = {
      title,
      job,
      columns,
      rows,
      byte_order_mark: parameters.byte_order_mark,
      made_at: new Date().toISOString(),
      counted: (more) => {
        ctx.signal.throwIfAborted();
        count += more;
        ctx.progress(0, `${count} rows`);
      },
    };
    const { media_type, extension } = formats[format];
    // Only this attempt's: what a dead one left behind is never taken for the report.
    const key = `${tenantPrefix(ctx.tenant_id)}reports/${ctx.task_id}-${ctx.attempt}-${randomUUID().slice(0, 8)}/${name}.${extension}`;
    const ref = await ctx.storage.putStream(key, batched(writers[format](plan)));
    const href = `/api/tasks/${ctx.task_id}/asset`;
    ctx.deliver({ name: `${name}.${extension}`, location: href });
    return {
      format,
      rows: count,
      asset: {
        name: `${name}.${extension}`,
        href,
        media_type,
        bytes: ref.bytes,
        checksum: `sha256:${ref.sha256}`,
        ref,
      },
    };
  },
);

async function opened({ source: from }: Parameters, ctx: TaskContext): Promise<{ job: Loose | null; rows: Rows }> {
  if ("rows" in from) return { job: null, rows: givenRows(from.rows) };
  if ("file" in from) return { job: null, rows: storedRows(ctx, from.file) };
  if ("previous" in from) {
    return { job: null, rows: previousRows(ctx, from.previous === true ? undefined : from.previous) };
  }
  const job_id = from.job_id === "self" ? ctx.job_id : from.job_id;
  if (job_id === null)
    throw new Permanent('a task that stands alone has no job of its own: name one instead of "self"');
  const [reply] = await ctx.db((session) => session.sql<{ job: Loose }>`select app.report_job(${job_id}::text) as job`);
  return { job: reply!.job, rows: taskRows(ctx, reply!.job.job_id) };
}

const writers: Record<Parameters["format"], (plan: Plan) => AsyncGenerator<string>> = {
  csv: async function* ({ columns, rows, byte_order_mark, counted }) {
    if (byte_order_mark) yield "\ufeff";
    yield csvLine(columns);
    for await (const page of rows.pages()) {
      counted(page.length);
      for (const row of page) yield csvLine(columns.map((column) => own(row, column)));
    }
  },
  json: async function* ({ title, made_at, job, columns, rows, counted }) {
    const head = { title, made_at, columns, ...(job === null ? {} : { job: jobFacts(job) }) };
    yield `${JSON.stringify(head).slice(0, -1)},"rows":[`;
    let separator = "\n";
    for await (const page of rows.pages()) {
      counted(page.length);
      for (const row of page) {
        yield separator +
          JSON.stringify(Object.fromEntries(columns.map((column) => [column, own(row, column) ?? null])));
        separator = ",\n";
      }
    }
    yield "\n]}\n";
  },
  html: async function* ({ title, made_at, job, columns, rows, counted }) {
    yield pageStart(title, `Made ${made_at}`);
    if (job !== null) yield* aboutJob(job);
    yield heading(job === null ? "Rows" : "Tasks") + tableStart(columns);
    for await (const page of rows.pages()) {
      counted(page.length);
      for (const row of page) yield tableRow(columns.map((column) => own(row, column)));
    }
    yield table_end + page_end;
  },
};

/** A row may have any names, also those that every object has. */
function own(row: Record<string, unknown>, column: string): unknown {
  return Object.hasOwn(row, column) ? row[column] : undefined;
}

const job_facts = `job_id job_type run status epoch labels correlation_id created_at started_at finished_at
  error result`.split(/\s+/);
const outcome_facts = ["objective", "importance", "status", "total", "completed", "failed", "skipped", "recovery"];
const stage_facts = `number name task_type status total completed failed skipped cancelled
  opened_at closed_at`.split(/\s+/);
const deliverable_facts = ["name", "stage", "count", "location", "usable"];

function picked(record: Loose, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, record[name] ?? null]));
}

function jobFacts(job: Loose) {
  const list = (records: Loose, names: readonly string[]) => (records ?? []).map((one: Loose) => picked(one, names));
  return {
    ...picked(job, job_facts),
    outcomes: list(job.outcomes, outcome_facts),
    stages: list(job.stages, stage_facts),
    deliverables: list(job.deliverables, deliverable_facts),
  };
}

function* aboutJob(job: Loose): Generator<string> {
  const { outcomes, stages, deliverables, ...facts } = jobFacts(job);
  const rowsOf = (records: Loose[], names: readonly string[]) => records.map((one) => names.map((name) => one[name]));
  yield heading("Job") + table(["field", "value"], Object.entries(facts));
  yield heading("Outcomes") + table(outcome_facts, rowsOf(outcomes, outcome_facts));
  yield heading("Stages") + table(stage_facts, rowsOf(stages, stage_facts));
  if (deliverables.length > 0) {
    yield heading("Deliverables") + table(deliverable_facts, rowsOf(deliverables, deliverable_facts));
  }
}

/** Many small pieces would cost a write each. */
async function* batched(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let batch = "";
  for await (const piece of pieces) {
    batch += piece;
    if (batch.length < 65_536) continue;
    yield batch;
    batch = "";
  }
  if (batch !== "") yield batch;
}
