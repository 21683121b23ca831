// The results of a job: its outputs as one document, each by itself, or several in a message of several parts; by value, or where they are.
import type { FastifyReply } from "fastify";
import { max_result_bytes } from "../../../../core/api/jobs.js";
import { isTerminal } from "../../../../core/shown/statuses.js";
import type { JobRecord } from "../../../../engine/verbs/records.js";
import type { RequestRecord } from "../../../../engine/verbs/requests.js";
import { OtherAnswer } from "../../../http/route.js";
import { json, type OgcLinks } from "../links.js";
import type { OgcCall } from "../ogc_call.js";
import { NoResults, NoSuchOutput, ResultNotReady } from "./exceptions.js";
import type { Execution } from "./inputs.js";
import { mediaTypeOf, type Output, type Process, whole_result } from "./process.js";
import { isRequest, runOf } from "./run.js";

/** By output; those that it did not give are left out. Throws why there are none. */
export type Values = Map<string, unknown>;

export async function valuesOf(ogc: OgcCall, record: JobRecord | RequestRecord, process: Process): Promise<Values> {
  const { call, links } = ogc;
  const run = runOf(record);
  const ended = isRequest(record) ? record.finished_at !== null : isTerminal(record.status);
  if (!ended) throw new ResultNotReady(links.job(run.id));
  if (record.status === "failed" || record.status === "cancelled") {
    const what = record.status === "failed" ? "the job failed" : "the job was dismissed";
    throw new NoResults(
      `${what}: ${run.message}`,
      run.error?.code ?? record.status,
      `${links.job(run.id)} links to what lets it go on`,
    );
  }
  if (isRequest(record)) return new Map([[whole_result, record.result_data ?? {}]]);
  if (record.stages.at(-1)?.total !== 1) return new Map([[whole_result, summaryOf(record, links)]]);
  const result =
    record.result_spill === null
      ? record.result
      : await call.engine.result(record.job_id, { max_bytes: max_result_bytes });
  if (!process.has_named_outputs) return new Map([[whole_result, result ?? null]]);
  const given = typeof result === "object" && result !== null ? (result as Record<string, unknown>) : {};
  return new Map(
    Object.keys(process.outputs).flatMap((name) => (Object.hasOwn(given, name) ? [[name, given[name]]] : [])),
  );
}

/** A job whose last stage is many tasks has no one result: what it delivered, and where the results of its tasks are. */
function summaryOf({ job_id, status, deliverables, outcomes }: JobRecord, { base }: OgcLinks) {
  const last = outcomes.at(-1);
  const counts = { completed: last?.completed ?? 0, failed: last?.failed ?? 0, skipped: last?.skipped ?? 0 };
  return { status, ...counts, deliverables, tasks: { href: `${base}/api/jobs/${job_id}/tasks`, type: json } };
}

export interface Told {
  job_id: string;
  process: Process;
  execution: Execution;
  values: Values;
}

/** The usual status of the call, or 204 where all there is to say stands in the header Link. */
export function sendResults(reply: FastifyReply, told: Told, links: OgcLinks): unknown {
  const wanted = wantedOf(told);
  if (told.execution.response === "document") return documentOf(told, wanted, links);
  if (wanted.length === 1) return sendOne(reply, told, wanted[0]!, links);
  return severalParts(told, wanted, links);
}

type Wanted = [name: string, mode: "value" | "reference"];

function wantedOf({ process, execution: { outputs }, values }: Told): Wanted[] {
  const asked: Wanted[] =
    outputs === null ? Object.keys(process.outputs).map((name) => [name, "value"]) : Object.entries(outputs);
  return asked.filter(([name]) => values.has(name));
}

function documentOf({ job_id, process, values }: Told, wanted: Wanted[], links: OgcLinks): Record<string, unknown> {
  return Object.fromEntries(
    wanted.map(([name, mode]) => {
      const value = values.get(name);
      const output = process.outputs[name];
      if (mode === "reference") return [name, { href: links.output(job_id, name), type: typeOf(output, value) }];
      return [name, inDocument(value, output)];
    }),
  );
}

/** An object stands in a wrapper, so that it is not taken for one; a bounding box is known by its fields. */
function inDocument(value: unknown, output: Output | undefined): unknown {
  const media_type = output === undefined ? null : mediaTypeOf(output);
  if (media_type !== null && typeof value === "string") {
    const encoding = output?.schema.contentEncoding;
    return { value, mediaType: media_type, ...(encoding === undefined ? {} : { encoding }) };
  }
  const is_object = typeof value === "object" && !Array.isArray(value);
  return !is_object || (value !== null && "bbox" in value) ? value : { value };
}

function sendOne(reply: FastifyReply, told: Told, [name, mode]: Wanted, links: OgcLinks): unknown {
  const { process, values, job_id } = told;
  const value = values.get(name);
  if (mode === "value") return rawValue(reply, process.outputs[name], value);
  const link = `<${links.output(job_id, name)}>; rel="${encodeURIComponent(name)}"; type="${typeOf(process.outputs[name], value)}"`;
  appendLink(reply, link);
  reply.status(204);
  return undefined;
}

export function appendLink(reply: FastifyReply, link: string): void {
  const before = reply.getHeader("link");
  reply.header("link", before === undefined ? link : `${before}, ${link}`);
}

export function rawValue(reply: FastifyReply, output: Output | undefined, value: unknown): OtherAnswer {
  // Whatever it is, a browser runs nothing of it.
  reply.header("content-security-policy", "default-src 'none'; sandbox");
  return new OtherAnswer(withCharset(typeOf(output, value)), bytesOf(output, value));
}

export function oneValue({ process, values }: Told, name: string): unknown {
  if (!values.has(name)) throw new NoSuchOutput(name, Object.keys(process.outputs));
  return values.get(name);
}

function typeOf(output: Output | undefined, value: unknown): string {
  const declared = output === undefined ? null : mediaTypeOf(output);
  if (typeof value !== "string") return json;
  return declared !== null && /^[a-z]+\/[a-z0-9.+-]+$/i.test(declared) ? declared : "text/plain";
}

function withCharset(type: string): string {
  return /^text\/|json$/.test(type) ? `${type}; charset=utf-8` : type;
}

function bytesOf(output: Output | undefined, value: unknown): Buffer {
  if (typeof value !== "string") return Buffer.from(JSON.stringify(value ?? null));
  return Buffer.from(value, output?.schema.contentEncoding === "base64" ? "base64" : "utf8");
}

/** RFC 2387; a part that is elsewhere is empty and says where. */
function severalParts({ job_id, process, values }: Told, wanted: Wanted[], links: OgcLinks): OtherAnswer {
  const boundary = `fanfold-${job_id.slice(0, 24)}`;
  const parts = wanted.flatMap(([name, mode]) => {
    const [output, value] = [process.outputs[name], values.get(name)];
    const id = `Content-ID: <${encodeURIComponent(name)}>`;
    const type = `Content-Type: ${withCharset(typeOf(output, value))}`;
    const head = mode === "value" ? [type, id] : [type, id, `Content-Location: ${links.output(job_id, name)}`];
    const body = mode === "value" ? bytesOf(output, value) : Buffer.alloc(0);
    return [Buffer.from(`--${boundary}\r\n${head.join("\r\n")}\r\n\r\n`), body, Buffer.from("\r\n")];
  });
  const whole = Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
  return new OtherAnswer(`multipart/related; boundary=${boundary}`, whole);
}
