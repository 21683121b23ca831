// Executes a process: its inputs are looked at whole, then it is a job, or a request, like any other. What is waited for is bounded: where the
// end does not come in time, the answer is the job that goes on.
import { isDeepStrictEqual } from "node:util";
import type { processes_api } from "../../../../core/api/ogc/processes.js";
import { request_body } from "../../../../core/api/platform/requests.js";
import { issueProblems, validateParameters } from "../../../../core/declare/parameters.js";
import { BadRequest, FanfoldError } from "../../../../core/errors/errors.js";
import type { Problem } from "../../../../core/errors/problems.js";
import { refuseAddresses } from "../../../../core/places/outbound.js";
import type { JobWebhook } from "../../../../core/places/webhooks.js";
import { subscribed } from "../../../../engine/verbs/bulk.js";
import type { SubmitReply } from "../../../../engine/verbs/records.js";
import type { Call } from "../../../http/route.js";
import { longest_wait_ms, untilEnded } from "../../../jobs/await_end.js";
import { refuse } from "../items_request.js";
import { type OgcCall, ogcCallOf } from "../ogc_call.js";
import { type ExecuteRequest, type Execution, readExecute } from "./inputs.js";
import { readPrefer } from "./prefer.js";
import { findProcess, mediaTypeOf, type Process } from "./process.js";
import { fetched } from "./references.js";
import { appendLink, sendResults, valuesOf } from "./results.js";
import { runOf, statusInfo, usual_execution } from "./run.js";

type ExecuteCall = Call<typeof processes_api.execute>;

/** What stands in the metadata of what was executed here. */
export const kept_as = "ogc";

export async function execute(call: ExecuteCall): Promise<unknown> {
  const ogc = ogcCallOf(call);
  const { engine, params, body, request } = call;
  const process = await findProcess(engine, params.process_id, ogc.links);
  const problems: Problem[] = [];
  const asked = readExecute(body, process, request.headers.accept ?? "", problems);
  refusedAddresses(call, asked, problems);
  // What is fetched is looked at with the rest, unless something is wrong before.
  if (problems.length === 0) await fetched(call, asked, problems);
  if (process.data_type !== null) return executeRecipe(call, ogc, process, asked, problems);
  const known = await engine.findJob(process.job_type!);
  await collect(problems, validateParameters(known, asked.inputs));
  refuse(problems);
  const prefer = readPrefer(request.headers.prefer);
  const submitted = await submit(call, process, asked);
  const waits = !prefer.async && process.offers_sync;
  if (waits || prefer.wait_s !== null) {
    call.place.wait();
    const most_ms = prefer.wait_s === null ? longest_wait_ms : prefer.wait_s * 1000;
    const ended = await untilEnded(engine, submitted.job_id, [call.signal, call.service.stopping], most_ms);
    // A caller who asked for a job gets one, however soon it ended.
    if (ended && waits) return results(call, ogc, process, asked.execution, submitted.job_id);
  }
  return created(call, ogc, await engine.status(submitted.job_id), prefer.async);
}

/** The same inputs asked for in the same way are the same job; one that ended badly, or was asked for otherwise, is run anew. */
async function submit(call: ExecuteCall, process: Process, asked: ExecuteRequest): Promise<SubmitReply> {
  const { engine, service, place, traceparent, actor } = call;
  const { inputs, execution, subscriber } = asked;
  const wanted = {
    metadata: { [kept_as]: execution },
    traceparent,
    actor: actor(),
    ...(subscriber === null ? {} : { webhooks: [subscriberOf(call, process, asked)] }),
  };
  const once = (mode: "reuse" | "force") =>
    service.submits.submit(
      engine,
      process.job_type!,
      inputs,
      { ...wanted, mode },
      { is_small: false, enter: place.enter },
    );
  // A job keeps the subscriber of the submit that made it.
  if (subscriber !== null) return once("force");
  const submitted = await once("reuse");
  if (submitted.created) return submitted;
  const there = await engine.status(submitted.job_id);
  const ended_well = there.finished_at === null || there.status === "completed";
  return ended_well && isDeepStrictEqual(executionOf(there), execution) ? submitted : once("force");
}

function subscriberOf(call: ExecuteCall, process: Process, { subscriber, execution }: ExecuteRequest): JobWebhook {
  const modes =
    execution.outputs ?? Object.fromEntries(Object.keys(process.outputs).map((name) => [name, "value" as const]));
  const outputs = Object.fromEntries(
    Object.entries(modes).map(([name, mode]) => {
      const output = process.outputs[name]!;
      const encoding = output.schema.contentEncoding as string | undefined;
      return [name, { mode, path: encodeURIComponent(name), media_type: mediaTypeOf(output) ?? undefined, encoding }];
    }),
  );
  return {
    subscriber: { ...subscriber!, root: ogcCallOf(call).links.root, named: process.has_named_outputs, outputs },
  };
}

/** What policy forbids is told with the rest; where an address leads to is judged when it is called. */
function refusedAddresses({ engine }: ExecuteCall, { subscriber }: ExecuteRequest, problems: Problem[]): void {
  if (subscriber === null || problems.some(({ path }) => path.startsWith("subscriber"))) return;
  try {
    refuseAddresses(subscribed(subscriber), engine.outbound);
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    problems.push(...error.problems);
  }
}

export function executionOf({ metadata }: { metadata: Record<string, unknown> | null }): Execution {
  return (metadata?.[kept_as] as Execution | undefined) ?? usual_execution;
}

async function results(call: ExecuteCall, ogc: OgcCall, process: Process, execution: Execution, job_id: string) {
  const record = await call.engine.status(job_id);
  const values = await valuesOf(ogc, record, process);
  appendLink(call.reply, `<${ogc.links.job(job_id)}>; rel=monitor`);
  return sendResults(call.reply, { job_id, process, execution, values }, ogc.links);
}

function created(
  { reply }: ExecuteCall,
  { links }: OgcCall,
  record: Parameters<typeof runOf>[0],
  is_preferred: boolean,
) {
  const run = runOf(record);
  reply.status(201).header("location", links.job(run.id));
  if (is_preferred) reply.header("preference-applied", "respond-async");
  return statusInfo(run, links);
}

async function executeRecipe(
  call: ExecuteCall,
  ogc: OgcCall,
  process: Process,
  asked: ExecuteRequest,
  problems: Problem[],
) {
  const { engine, request, traceparent, actor } = call;
  const { inputs, execution, subscriber } = asked;
  const read = request_body.safeParse({ ...inputs, data_type: process.data_type });
  if (!read.success) problems.push(...atInputs(issueProblems(read.error.issues, inputs)));
  refuse(problems);
  const metadata = { ...read.data!.metadata, [kept_as]: execution };
  // What the body of a platform request cannot name, its submit takes all the same.
  const webhooks = subscriber === null ? {} : { webhooks: [subscriberOf(call, process, asked)] as never };
  const sent = { ...read.data!, metadata, ...webhooks };
  const submitted = await engine.requests.submit(sent, { traceparent, actor: actor() });
  const prefer = readPrefer(request.headers.prefer);
  return created(call, ogc, await engine.requests.get(submitted.request_id), prefer.async);
}

async function collect(problems: Problem[], checking: Promise<unknown>): Promise<void> {
  try {
    await checking;
  } catch (error) {
    if (!(error instanceof FanfoldError) || error.http_status !== 400) throw error;
    problems.push(...atInputs(error.problems));
  }
}

/** "$.n" of the parameters is "inputs.n" of the request. */
function atInputs(problems: readonly Problem[]): Problem[] {
  return problems.map((one) => ({ ...one, path: `inputs${one.path.replace(/^\$/, "")}` }));
}
