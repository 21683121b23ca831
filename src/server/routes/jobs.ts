// Jobs: submitted, looked at, waited for, listed.
import type { FastifyReply } from "fastify";
import type { z } from "zod";
import type { BodyOf } from "../../core/api/endpoint.js";
import { jobs_api, max_result_bytes, submit_options } from "../../core/api/jobs.js";
import { BadRequest, NotFound, StorageError } from "../../core/errors/errors.js";
import { didYouMean, jsonPath, max_problems, type Problem, quoted } from "../../core/errors/problems.js";
import { isTerminal } from "../../core/shown/statuses.js";
import type { SubmitReply } from "../../engine/verbs/records.js";
import { type Call, routes } from "../http/route.js";
import { untilEnded } from "../jobs/await_end.js";
import { isSmallSubmit } from "../jobs/gathered_submits.js";
import { jobFilter } from "../jobs/job_filter.js";
import { jobView } from "../jobs/job_view.js";
import { StacLinks } from "./stac/links.js";

const ASK_AGAIN_S = 2;

export const jobsRoutes = () =>
  routes(jobs_api, {
    async submit({ engine, service, signal, place, params, query, body, request, reply, traceparent, actor }) {
      const { parameters, mode, dry_run, options } = readSubmit(body, query.resume === true);
      if (dry_run) {
        place.enter();
        reply.status(200);
        const told = await service.long_calls.within(engine.tenant, signal, () =>
          engine.dryRun(params.job_type, parameters, { ...options, mode }),
        );
        // Which of the two it is, the status does not tell: `dry_run` does.
        return told as unknown as SubmitReply;
      }
      const wanted = { ...options, mode, traceparent, actor: actor() };
      const bytes = Number(request.headers["content-length"] ?? 0);
      const call = { is_small: isSmallSubmit(jobs_api.submit, request), bytes, enter: place.enter };
      const submitted = await service.submits.submit(engine, params.job_type, parameters, wanted, call);
      if (!submitted.created) reply.status(200);
      return submitted;
    },
    async submit_batch({ engine, params, body: { items, mode }, reply, traceparent, actor }) {
      const by = actor();
      const owned = items.map((item) => ({ ...item, actor: by }));
      const jobs = await engine.submitMany(params.job_type, owned, { mode, traceparent });
      const created = jobs.filter((job) => job.created).length;
      if (created === 0) reply.status(200);
      return { jobs, created };
    },
    status: statusOf,
    get: statusOf,
    list: ({ engine, query: { limit, cursor, progress, ...filter } }) =>
      engine.jobs({ ...jobFilter(filter), limit, cursor, progress }),
    counts: ({ engine, service, query }) => service.counts.of(engine, jobFilter(query)),
    async result({ engine, params, reply }) {
      const { job_id, status } = await engine.queries.jobState(params.job_id);
      if (!isTerminal(status)) {
        underWay(reply);
        return { job_id, status, result: null };
      }
      const result = await engine.result(job_id, { max_bytes: max_result_bytes }).catch((error: unknown) => {
        if (!(error instanceof StorageError) || error.reason === "unavailable") throw error;
        // Where the file should be, and what is there instead, is the operator's to know.
        engine.log.warn({ err: error, job_id }, "a stored result cannot be read");
        throw gone(job_id, error);
      });
      return { job_id, status, result: result ?? null };
    },
  });

function gone(job_id: string, cause: StorageError): NotFound {
  return new NotFound("the stored result of this job is not there any more, or is not what was written", {
    hint: `GET /api/jobs/${job_id}/verify names the task; run it again`,
    cause,
  });
}

async function statusOf(call: Call<typeof jobs_api.status>) {
  const { engine, params, query, reply, signal, service, place, request } = call;
  // A call that waits takes its turn for what it asks, and not for the waiting; one that does not wait is in its turn already.
  const turn = <T>(ask: () => Promise<T>) =>
    query.wait === true ? service.short_calls.within(engine.tenant, signal, ask) : ask();
  if (query.wait === true) {
    place.wait();
    const { status } = await turn(() => engine.queries.jobState(params.job_id));
    // A server that stops does not let its callers wait.
    if (!isTerminal(status)) await untilEnded(engine, params.job_id, [signal, service.stopping]);
  }
  const job = await turn(() => engine.status(params.job_id));
  const asked = query.wait === true || query.status_code === true;
  if (asked && !isTerminal(job.status)) underWay(reply);
  const has_catalog = (await service.catalogs.of(engine)) !== null;
  return jobView(job, has_catalog ? new StacLinks(service.publicUrl(request)).ofJob(job.job_id) : null);
}

const option_names = new Set([...Object.keys(submit_options.shape), "dry_run"]);

type Options = Omit<z.output<typeof submit_options>, "mode" | "resume">;

/** With `parameters`, everything beside them is an option; without, whatever is no option is a parameter. */
function readSubmit({ parameters, ...beside }: BodyOf<typeof jobs_api.submit>, resume_asked: boolean) {
  const given = Object.entries(beside);
  const others = Object.fromEntries(given.filter(([name]) => !option_names.has(name)));
  const { mode, resume, dry_run, ...options } = Object.fromEntries(
    given.filter(([name]) => option_names.has(name)),
  ) as z.output<typeof submit_options> & { dry_run?: boolean };
  const problems: Problem[] = [];
  const old = readOldNames(others, problems);
  if (parameters !== undefined) {
    for (const name of Object.keys(others).slice(0, max_problems)) {
      const close = didYouMean(name, option_names);
      problems.push({
        path: `body${jsonPath([name]).slice(1)}`,
        problem: `${quoted(name)} is not known`,
        fix: close === null ? "Put it into parameters, or leave it out." : `Did you mean ${JSON.stringify(close)}?`,
      });
    }
  }
  const resumes = resume === true || resume_asked;
  if (old.force && (resumes || (mode !== undefined && mode !== "force"))) {
    problems.push({
      path: "body.force_reprocess",
      problem: "is true beside another mode",
      fix: "Give one of the two.",
    });
  }
  if (resumes && mode !== undefined && mode !== "resume") {
    problems.push({ path: "body.mode", problem: `is ${mode}, and resume is true`, fix: "Give one of the two." });
  }
  if (problems.length > 0) throw new BadRequest("the request is not right", { problems });
  return {
    parameters: parameters ?? others,
    mode: resumes ? ("resume" as const) : old.force ? ("force" as const) : mode,
    dry_run: dry_run === true,
    options: options as Options,
  };
}

/**
 * What submits of older systems say: reprocessing is understood, a receiver is answered with what to write instead. None of them becomes a
 * parameter: a secret would be kept with those.
 */
function readOldNames(others: Record<string, unknown>, problems: Problem[]) {
  const { webhook_url, webhook_secret, force_reprocess } = others;
  for (const name of ["webhook_url", "webhook_secret", "force_reprocess"]) delete others[name];
  if (webhook_secret !== undefined && webhook_secret !== null) {
    problems.push({
      path: "body.webhook_secret",
      problem: "a secret is not sent with a job",
      fix: 'POST /api/webhooks makes an endpoint and shows its secret once; name it: "webhooks": [{"endpoint": "we_…"}].',
    });
  }
  if (webhook_url !== undefined && webhook_url !== null) {
    problems.push({
      path: "body.webhook_url",
      problem: "is what older systems take: a receiver has a secret, so that it knows us",
      fix: 'Write "webhooks": [{"url": "https://…", "secret": "secret://<name>"}], or {"endpoint": "we_…"} for one that POST /api/webhooks made.',
    });
  }
  if (![undefined, null, true, false].includes(force_reprocess as boolean)) {
    problems.push({
      path: "body.force_reprocess",
      problem: "is neither true nor false",
      fix: 'Write "mode": "force".',
    });
  }
  return { force: force_reprocess === true };
}

function underWay(reply: FastifyReply): void {
  reply.status(202).header("retry-after", String(ASK_AGAIN_S));
}
