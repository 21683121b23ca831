// Platform requests: routed by their recipe, validated, and handed to SQL, which opens their jobs and ends them.
import type { z } from "zod";
import type { ReplyOf } from "../../core/api/endpoint.js";
import {
  type request_body,
  type request_record,
  requests_api,
  type submitted_request,
  type WouldRequest,
} from "../../core/api/platform/requests.js";
import type { Job } from "../../core/declare/declare.js";
import { validateParameters } from "../../core/declare/parameters.js";
import type { Recipe } from "../../core/declare/recipe.js";
import { BadRequest } from "../../core/errors/errors.js";
import { refuseAddresses } from "../../core/places/outbound.js";
import { usableTraceparent } from "../../core/values/traceparent.js";
import type { Engine } from "../engine.js";
import { blueprintText, receivers } from "./bulk.js";
import type { KeptBlueprints } from "./kept_blueprints.js";
import { asked } from "./reply.js";
import { callVerb } from "./verb.js";

export type RequestSubmit = z.input<typeof request_body>;
export type RequestRecord = z.output<typeof request_record>;
export type SubmittedRequest = z.output<typeof submitted_request>;
export type RequestPage = ReplyOf<typeof requests_api.list>;
export type RequestFailures = ReplyOf<typeof requests_api.failures>;

export interface RequestOptions {
  actor?: string | undefined;
  traceparent?: string | undefined;
}

const recipe_texts = new WeakMap<Recipe, string>();

export class Requests {
  constructor(
    private readonly engine: Engine,
    private readonly kept: KeptBlueprints,
    private readonly kept_recipes: KeptBlueprints,
  ) {}

  /** Once for each dataset, resource and version, however often it is sent, unless a next run is forced. */
  async submit(request: RequestSubmit, options: RequestOptions = {}): Promise<SubmittedRequest> {
    const { db, tenant } = this.engine;
    const { recipe, parameters } = await this.#read(request);
    const text = textOf(recipe);
    const blueprints = await this.#blueprints(recipe);
    const sent = JSON.stringify({ ...this.#sent(request, options), parameters, blueprints });
    for (let again = 0; ; again++) {
      const hash = await this.kept_recipes.hashOf(db, tenant, text);
      const reply = await asked<SubmittedRequest | null>(
        db.sql`select platform.submit_request(${hash}::text, ${sent}::text::json) as reply`,
      );
      if (reply !== null || again === 1) return reply!;
      // It was remembered here, and is not there: a transaction was rolled back, or a backup restored.
      this.kept_recipes.forget(tenant, text);
    }
  }

  /** Which recipe, which jobs, which names it would be, and what is wrong. Nothing is written. */
  async dryRun(request: RequestSubmit): Promise<WouldRequest> {
    const { recipe, parameters } = await this.#read(request);
    const blueprints = Object.fromEntries(
      recipe.recipe.jobs.filter(({ job }) => this.engine.registry.jobs.has(job)).map(({ job }) => [job, ""]),
    );
    const sent = JSON.stringify({ ...this.#sent(request, {}), parameters, blueprints });
    const told = await asked<Omit<WouldRequest, "dry_run" | "parameters">>(
      this.engine.db.sql`select platform.dry_request(${textOf(recipe)}::text::jsonb, ${sent}::text::json) as reply`,
    );
    return { ...told, dry_run: true, parameters };
  }

  /** By any id it goes by: its own, its release's, a job's or an item's of it, dataset/resource[/version]. */
  get(request_id: string): Promise<RequestRecord> {
    return asked(
      this.engine.db.sql`select platform.get_request(${request_id}::text, ${this.engine.tenant}::text) as reply`,
    );
  }

  list(filter: Parameters<typeof callVerb<typeof requests_api.list>>[2] = {}): Promise<RequestPage> {
    return callVerb(this.engine, requests_api.list, filter);
  }

  failures(given: { hours?: number; limit?: number } = {}): Promise<RequestFailures> {
    return callVerb(this.engine, requests_api.failures, given);
  }

  cancel(
    request_id: string,
    given: { reason?: string | undefined; actor?: string | undefined; dry_run?: boolean } = {},
  ) {
    return callVerb(this.engine, requests_api.cancel, { request_id, ...given });
  }

  decide(
    request_id: string,
    given: { approved: boolean; job?: string | undefined; reason?: string | undefined; actor?: string | undefined },
  ) {
    return callVerb(this.engine, requests_api.decide, { request_id, ...given });
  }

  /** Goes on with what failed; with mode force it is processed again, with what was asked for. */
  async resubmit(
    request_id: string,
    {
      mode = "resume",
      reason,
      actor,
    }: { mode?: "resume" | "force" | undefined; reason?: string | undefined; actor?: string | undefined } = {},
  ): Promise<SubmittedRequest> {
    const { db, tenant } = this.engine;
    if (mode === "resume") {
      return asked(
        db.sql`select platform.resume_request(${request_id}::text, ${reason ?? null}::text, ${tenant}::text, ${actor ?? null}::text) as reply`,
      );
    }
    const { dataset_id, resource_id, version_id, data_type, files, parameters, metadata, labels, priority } =
      await this.get(request_id);
    return this.submit(
      {
        dataset_id,
        resource_id,
        version_id,
        data_type,
        files,
        parameters,
        metadata,
        labels: labels as Record<string, string>,
        priority,
        mode: "force",
      },
      { actor },
    );
  }

  async #read(request: RequestSubmit): Promise<{ recipe: Recipe; parameters: Record<string, unknown> }> {
    const { data_type, files, webhooks } = request;
    const recipe = await this.engine.recipes.routed({ data_type, files });
    const { accepts } = recipe.recipe;
    const count = files?.length ?? 0;
    if (accepts !== null && count > 0 && (count < accepts.min_files || count > accepts.max_files)) {
      const problem = `are ${count}, and data type ${recipe.data_type} takes ${accepts.min_files} to ${accepts.max_files}`;
      throw new BadRequest("the request is not right", {
        problems: [{ path: "body.files", problem, fix: "Send as many, or name another data_type." }],
      });
    }
    if (webhooks !== undefined) refuseAddresses(receivers(webhooks), this.engine.outbound);
    return { recipe, parameters: (await validateParameters(asJob(recipe), request.parameters)).parameters };
  }

  #sent(
    { client_id, request_type, metadata, parameters: _p, data_type: _d, ...rest }: RequestSubmit,
    { actor, traceparent }: RequestOptions,
  ) {
    const said = {
      ...metadata,
      ...(client_id === undefined ? {} : { client_id }),
      ...(request_type === undefined ? {} : { request_type }),
    };
    return { ...rest, metadata: said, tenant: this.engine.tenant, actor, traceparent: usableTraceparent(traceparent) };
  }

  /** The job types of a recipe that this process has in code, by the hash under which the database keeps them. */
  async #blueprints(recipe: Recipe): Promise<Record<string, string>> {
    const { db, tenant, registry } = this.engine;
    const hashes: Record<string, string> = {};
    for (const { job } of recipe.recipe.jobs) {
      const known = registry.jobs.get(job);
      if (known !== undefined && !(job in hashes))
        hashes[job] = await this.kept.hashOf(db, tenant, blueprintText(known));
    }
    return hashes;
  }
}

function textOf(recipe: Recipe): string {
  let text = recipe_texts.get(recipe);
  if (text === undefined) {
    text = JSON.stringify(recipe.recipe);
    recipe_texts.set(recipe, text);
  }
  return text;
}

/** Parameters of a request are checked by the same code as those of a job. */
function asJob({ data_type, recipe, schema, is_sent }: Recipe): Job {
  const blueprint = {
    type: data_type,
    description: recipe.description,
    parameters: recipe.parameters,
    identity: null,
    deadline_s: null,
    stages: [],
  };
  return {
    kind: "job",
    type: data_type,
    blueprint,
    schema,
    planners: new Map(),
    conditions: new Map(),
    ...(is_sent === true ? { is_sent } : {}),
    problems: [],
  };
}
