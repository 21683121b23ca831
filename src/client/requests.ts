// Platform requests: one dataset in, several jobs, one answer out.
import type { BodyIn, QueryIn, ReplyOf } from "../core/api/endpoint.js";
import { recipes_api } from "../core/api/platform/recipes.js";
import { requests_api } from "../core/api/platform/requests.js";
import { reviews_api } from "../core/api/platform/reviews.js";
import { pause } from "./abort.js";
import type { Asking, Listing } from "./operate.js";
import { listed, type Paged } from "./pages.js";
import type { Transport } from "./transport.js";

export type RequestSubmit = BodyIn<typeof requests_api.submit>;
export type RequestRecord = ReplyOf<typeof requests_api.status>;
export type RequestSummary = ReplyOf<typeof requests_api.list>["requests"][number];
export type SubmittedRequest = ReplyOf<typeof requests_api.submit>;
export type RequestFilter = Omit<QueryIn<typeof requests_api.list>, "cursor" | "limit"> & Listing;
export type RequestEvent = ReplyOf<typeof reviews_api.events>["events"][number];
export type RecipeRecord = ReplyOf<typeof recipes_api.get>;

interface Verb extends Asking {
  reason?: string;
  actor?: string;
}

export class Requests {
  constructor(private readonly transport: Transport) {}

  /** Once for each dataset, resource and version, however often it is sent, unless mode is force. */
  submit(request: RequestSubmit, options: Asking = {}): Promise<SubmittedRequest> {
    return this.transport.call(requests_api.submit, { body: request, query: {}, ...options });
  }

  /** Which recipe, which jobs and which names it would be, and what is wrong. */
  async dryRun(request: RequestSubmit, options: Asking = {}): Promise<Record<string, unknown>> {
    return (await this.transport.call(requests_api.submit, {
      body: request,
      query: { dry_run: "true" },
      ...options,
    })) as unknown as Record<string, unknown>;
  }

  /** By any id it goes by: its own, a job's of it, or dataset/resource[/version]. */
  get(id: string, { detail, ...options }: Asking & { detail?: "full" } = {}): Promise<RequestRecord> {
    return this.transport.call(requests_api.status, { params: { request_id: id }, query: { detail }, ...options });
  }

  /** Resolves with the request at its end, asking as often as the service says. */
  async wait(id: string, { signal, on_status }: Asking & { on_status?: (request: RequestRecord) => void } = {}) {
    for (;;) {
      const request = await this.get(id, signal === undefined ? {} : { signal });
      on_status?.(request);
      if (request.finished_at !== null) return request;
      await pause((request.ask_again_s ?? 2) * 1_000, signal);
    }
  }

  /** Newest first. */
  list(filter: RequestFilter = {}): Paged<RequestSummary> {
    return listed(this.transport, requests_api.list, "requests", filter);
  }

  /** What happened to it and its release, newest first. */
  events(request_id: string, options: Listing = {}): Paged<RequestEvent> {
    return listed(this.transport, reviews_api.events, "events", options, { request_id });
  }

  /** What it makes, beside what stood before: for a reviewer. */
  review(request_id: string, options: Asking = {}) {
    return this.transport.call(reviews_api.review, { params: { request_id }, ...options });
  }

  cancel(request_id: string, { signal, ...body }: Verb & { dry_run?: boolean } = {}) {
    return this.transport.call(requests_api.cancel, { params: { request_id }, body, signal });
  }

  /** Goes on with what failed; with mode force it is processed again. */
  resubmit(request_id: string, { signal, ...body }: Verb & { mode?: "resume" | "force" } = {}) {
    return this.transport.call(requests_api.resubmit, { params: { request_id }, body, signal });
  }

  /** A job of it waits for a person. */
  decide(request_id: string, { signal, ...body }: Verb & { approved: boolean; job?: string }) {
    return this.transport.call(requests_api.decide, { params: { request_id }, body, signal });
  }

  /** What goes wrong, as patterns. */
  failures({ signal, ...query }: Asking & { hours?: number; limit?: number } = {}) {
    return this.transport.call(requests_api.failures, { query, signal });
  }

  async recipes(options: Asking = {}): Promise<RecipeRecord[]> {
    return (await this.transport.call(recipes_api.list, options)).recipes;
  }

  /** All problems at once, as a DeclarationError. */
  saveRecipe(data_type: string, declaration: BodyIn<typeof recipes_api.save>, options: Asking = {}) {
    return this.transport.call(recipes_api.save, { params: { data_type }, body: declaration, ...options });
  }

  removeRecipe(data_type: string, { signal, ...body }: Verb = {}) {
    return this.transport.call(recipes_api.remove, { params: { data_type }, body, signal });
  }
}
