// One verb for all jobs that fit a filter.
import { job_bulk_api } from "../../core/api/job_bulk.js";
import { BadRequest } from "../../core/errors/errors.js";
import type { Problem } from "../../core/errors/problems.js";
import { countBulk, runBulk } from "../../engine/verbs/job_bulk.js";
import { redrive } from "../../engine/verbs/redrive.js";
import { routes } from "../http/route.js";
import { jobFilter } from "../jobs/job_filter.js";

export const jobBulkRoutes = () =>
  routes(job_bulk_api, {
    async bulk({ engine, body, actor, signal }) {
      const { action, filter, job_ids, before, dry_run, reason, cursor } = body;
      const problems: Problem[] = [];
      if (job_ids !== undefined && Object.keys(filter).length > 0)
        problems.push({ path: "body.job_ids", problem: "stands beside a filter", fix: "Give one of the two." });
      // Nobody cancels everything by leaving something out.
      if (job_ids === undefined && !dry_run && before === undefined)
        problems.push({ path: "body.before", problem: "is missing", fix: "Count first: `before` of the dry run." });
      if (problems.length > 0) throw new BadRequest("the request is not right", { problems });
      const asked_for = job_ids === undefined ? jobFilter(filter) : { job_ids };
      const request = { action, filter: asked_for, before, reason, cursor, actor: actor(body.actor) };
      const reply = dry_run ? await countBulk(engine, request) : await runBulk(engine, request, signal);
      return { action, dry_run, ...reply };
    },
    redrive: ({ engine, body, actor, signal }) => redrive(engine, { ...body, actor: actor(body.actor) }, signal),
  });
