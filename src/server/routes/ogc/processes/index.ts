// OGC API Processes at /ogc/processes and /ogc/jobs: a standard door in front of the jobs and requests of the caller's tenant. A thin mapping:
// what is decided is decided where it is for every other door.
import { processes_api } from "../../../../core/api/ogc/processes.js";
import { operations_api } from "../../../../core/api/operations.js";
import { requests_api } from "../../../../core/api/platform/requests.js";
import type { Problem } from "../../../../core/errors/problems.js";
import { isTerminal } from "../../../../core/shown/statuses.js";
import { type Route, routes } from "../../../http/route.js";
import { crumbsOf } from "../html/feature_pages.js";
import { recordPage } from "../html/plain_pages.js";
import { processesPage, runsPage } from "../html/process_pages.js";
import { readLimit, refuse } from "../items_request.js";
import { asked, json, type OgcLinks, with_f } from "../links.js";
import { inTurn, type OgcCall, ogcCallOf } from "../ogc_call.js";
import { told } from "../told.js";
import { execute, executionOf } from "./execute.js";
import { listRuns } from "./job_list.js";
import { descriptionOf, findProcess, listProcesses, ofBlueprint, summaryOf } from "./process.js";
import { oneValue, rawValue, sendResults, valuesOf } from "./results.js";
import { findRun, isRequest, runOf, statusInfo } from "./run.js";

export function processesRoutes(): Route[] {
  return routes(processes_api, {
    async list(call) {
      const ogc = ogcCallOf(call);
      const problems: Problem[] = [];
      const limit = Math.min(readLimit(call.query.limit, problems, 1000), 1000);
      refuse(problems);
      const all = await inTurn(ogc, () => listProcesses(call.engine));
      const after = call.query.token;
      const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
      const shown = all.slice(from, from + limit);
      const here = `${ogc.links.root}/processes`;
      const last = from + limit < all.length ? shown.at(-1)?.id : undefined;
      const next = last === undefined ? null : asked(here, call.query, { token: last, f: undefined });
      const as_json = asked(here, call.query, { f: undefined });
      const answer = {
        processes: shown.map((process) => summaryOf(process, ogc.links)),
        links: listLinks(ogc.links, as_json, next),
      };
      return told(ogc, call.query.f, answer, () => processesPage(ogc.links, shown, with_f(as_json, "json"), next));
    },
    async process(call) {
      const ogc = ogcCallOf(call);
      const process = await findProcess(call.engine, call.params.process_id, ogc.links);
      const answer = descriptionOf(process, ogc.links);
      const as_json = with_f(ogc.links.process(process.id), "json");
      const crumbs = [
        ...crumbsOf(ogc.links).slice(0, 1),
        { href: `${ogc.links.root}/processes?f=html`, title: "Processes" },
      ];
      return told(ogc, call.query.f, answer, () => recordPage(process.id, crumbs, as_json, answer));
    },
    execute,
    async jobs(call) {
      const ogc = ogcCallOf(call);
      const { runs, token } = await listRuns(ogc, call.query);
      const here = `${ogc.links.root}/jobs`;
      const next = token === null ? null : asked(here, call.query, { token, f: undefined });
      const as_json = asked(here, call.query, { f: undefined });
      const jobs = runs.map((run) => statusInfo(run, ogc.links));
      const answer = { jobs, links: listLinks(ogc.links, as_json, next) };
      return told(ogc, call.query.f, answer, () => runsPage(ogc.links, jobs, with_f(as_json, "json"), next));
    },
    async job(call) {
      const ogc = ogcCallOf(call);
      const run = runOf(await findRun(call.engine, call.params.process_job_id, ogc.links));
      const answer = statusInfo(run, ogc.links);
      if (run.finished_at === null) call.reply.header("retry-after", "2");
      const as_json = with_f(ogc.links.job(run.id), "json");
      const crumbs = [...crumbsOf(ogc.links).slice(0, 1), { href: `${ogc.links.root}/jobs?f=html`, title: "Jobs" }];
      return told(ogc, call.query.f, answer, () => recordPage(run.id.slice(0, 12), crumbs, as_json, answer));
    },
    async dismiss(call) {
      const ogc = ogcCallOf(call);
      const { engine, params, actor } = call;
      const record = await findRun(engine, params.process_job_id, ogc.links);
      // Asking twice is asking once; what ended otherwise is refused with how it ended.
      if (record.status !== "cancelled") {
        const by = { reason: "dismissed", actor: actor() };
        if (isRequest(record)) await engine.call(requests_api.cancel, { request_id: record.request_id, ...by });
        else await engine.call(operations_api.cancel, { job_id: record.job_id, ...by });
      }
      return dismissed(await findRun(engine, params.process_job_id, ogc.links), ogc);
    },
    async results(call) {
      const ogc = ogcCallOf(call);
      const found = await foundResults(call.params.process_job_id, ogc);
      const answer = await inTurn(ogc, async () => sendResults(call.reply, await found.told(), ogc.links));
      call.reply.header("cache-control", "private, no-cache");
      return answer;
    },
    async output(call) {
      const ogc = ogcCallOf(call);
      const found = await foundResults(call.params.process_job_id, ogc);
      const told = await inTurn(ogc, () => found.told());
      const value = oneValue(told, call.params.output_id);
      return rawValue(call.reply, told.process.outputs[call.params.output_id], value);
    },
  });
}

function listLinks(links: OgcLinks, here: string, next: string | null) {
  const more = next === null ? [] : [{ rel: "next", href: next, type: json, title: "The next page" }];
  return [...links.here(here, "This list"), ...more];
}

/** Its tasks may still be stopping: it is dismissed all the same, and nothing new of it begins. */
function dismissed(record: Awaited<ReturnType<typeof findRun>>, { links }: OgcCall) {
  const run = runOf(record);
  return statusInfo(isTerminal(record.status as never) ? run : { ...run, own_status: "cancelled" }, links);
}

async function foundResults(id: string, ogc: OgcCall) {
  const { engine } = ogc.call;
  const record = await findRun(engine, id, ogc.links);
  return {
    async told() {
      const process = isRequest(record)
        ? await findProcess(engine, runOf(record).process_id, ogc.links)
        : ofBlueprint(await blueprintOf(record.job_type, ogc), engine);
      const values = await valuesOf(ogc, record, process);
      return { job_id: id, process, execution: executionOf(record), values };
    },
  };
}

/** A type that is gone has left its jobs, and those their results. */
async function blueprintOf(type: string, { call: { engine } }: OgcCall) {
  const known = (await engine.blueprints.list()).find((one) => one.type === type);
  if (known !== undefined) return known;
  const nothing = { parameters: null, identity: null, deadline_s: null, stages: [], description: null };
  return {
    type,
    ...nothing,
    source: "saved" as const,
    version: null,
    saved_at: null,
    saved_by: null,
    declaration: null,
  };
}
