// Datasets and their releases: looked at, looked up, approved, rejected, revoked, unpublished. Pure.
import { z } from "zod";
import { endpointsOf } from "../endpoint.js";
import { actor, dry_run, json, limit, reason, time, told } from "../fields.js";

export const approvals = ["pending_review", "approved", "rejected", "revoked"] as const;
export const clearances = ["uncleared", "restricted", "public"] as const;

const name = (most: number, what: string) => z.string().min(1).max(most).describe(what);
const dataset_id = name(255, "The dataset");
const resource_id = name(255, "The resource of the dataset");
const version_id = name(50, "The version of the resource");
const id = z
  .string()
  .min(3)
  .max(600)
  .describe(
    "The id of a release or its request (8 characters are enough), or dataset/resource[/version]; without a version the newest counts",
  )
  .meta({ examples: ["dem/alps/2"] });

export const release = z
  .object({
    release_id: z.string(),
    dataset_id: z.string(),
    resource_id: z.string(),
    version_id: z.string(),
    ordinal: z.int().describe("Its place among the versions of the resource, from 1"),
    revision: z.int().describe("How often it was made"),
    data_type: z.string(),
    request_id: z.string().describe("The request that makes it now"),
    status: z.string().describe("The status of that request"),
    wants_approval: z.boolean(),
    approval: z.enum(approvals),
    clearance: z.enum(clearances),
    reviewer: z.string().nullable().describe("Who decided last"),
    reason: z.string().nullable(),
    decided_at: time.nullable(),
    latest: z.boolean().describe("The highest of those that are approved and whose request ended well: computed"),
    created_by: z.string(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Release" });

export type ReleaseRecord = z.output<typeof release>;

const decided = z.object({
  release,
  verb: z.string(),
  after: z.enum(approvals).describe("What it is, or in a dry run would be"),
  jobs: z
    .array(z.string())
    .describe("The jobs that take a revoked release down; in a dry run the jobs whose files would go"),
  ...told,
});

const required_reason = z.string().trim().min(1).max(1000).describe("Why, for the record");
const endpoint = endpointsOf({ tag: "platform", scope: "read" });

export const releases_api = {
  datasets: endpoint("GET /api/platform/datasets", {
    cli: "datasets",
    sql: "platform.list_datasets",
    summary: "Resources of datasets, each with its newest and its latest release",
    query: z.strictObject({
      dataset_id: dataset_id.optional(),
      approval: z.enum(approvals).optional().describe("The approval of the newest release"),
      limit,
      cursor: z.string().max(2000).optional().describe("`next` of the page before, unchanged"),
    }),
    reply: z.object({
      datasets: z.array(
        z.object({
          dataset_id: z.string(),
          resource_id: z.string(),
          releases: z.int(),
          newest: release,
          latest: release.nullable(),
        }),
      ),
      next: z.string().nullable(),
    }),
  }),
  releases: endpoint("GET /api/platform/releases", {
    cli: "datasets show {resource}",
    sql: "platform.list_releases",
    summary: "The releases of one resource, newest first, with who decided what",
    query: z.strictObject({ dataset_id, resource_id }),
    reply: z.object({
      dataset_id: z.string(),
      resource_id: z.string(),
      releases: z.array(
        release.extend({
          decisions: z.array(
            z.object({
              decision: z.string(),
              by: z.string(),
              at: time,
              reason: z.string().nullable(),
              clearance: z.string().nullable(),
              revision: z.int().nullable(),
            }),
          ),
        }),
      ),
    }),
    errors: [404],
  }),
  lookup: endpoint("GET /api/platform/catalog/lookup", {
    cli: "datasets lookup {resource}",
    sql: "platform.lookup",
    summary: "What there is to be had of a resource: the version that is named, or the latest",
    description:
      "Always 200: `found` says whether there is one, and `why` why not. `result_data` has the services of the request that made it.",
    query: z.strictObject({ dataset_id, resource_id, version_id: version_id.optional() }),
    reply: z.object({
      found: z.boolean(),
      why: z.string().nullable(),
      release: release.nullable(),
      result_data: json,
    }),
  }),
  approve: endpoint("POST /api/platform/approve", {
    cli: "datasets approve {id}",
    scope: "operate",
    sql: { name: "platform.decide_release", also: { verb: "approve" } },
    summary: "Approve a release: what publishes it goes on",
    description:
      "In one transaction with the gate of its request, the record of who and why, and the webhook `request.approved`.",
    body: z.strictObject({
      id,
      clearance: z.enum(clearances).optional().describe("How far it may go; restricted when left out"),
      reason,
      actor,
      dry_run,
    }),
    reply: decided,
    errors: [404, 409],
  }),
  reject: endpoint("POST /api/platform/reject", {
    cli: "datasets reject {id}",
    scope: "operate",
    sql: { name: "platform.decide_release", also: { verb: "reject" } },
    summary: "Reject a release: the gate of its request fails",
    body: z.strictObject({ id, reason: required_reason, actor, dry_run }),
    reply: decided,
    errors: [404, 409],
  }),
  revoke: endpoint("POST /api/platform/revoke", {
    cli: "datasets revoke {id}",
    scope: "operate",
    sql: { name: "platform.decide_release", also: { verb: "revoke" } },
    summary: "Revoke an approved release, and take it down",
    description: "Jobs that remove its items and files are submitted with the decision, in one transaction.",
    body: z.strictObject({ id, reason: required_reason, actor, dry_run }),
    reply: decided,
    errors: [404, 409],
  }),
  unpublish: endpoint("POST /api/platform/unpublish", {
    sql: "platform.unpublish_release",
    cli: "datasets unpublish {id}",
    scope: "operate",
    summary: "What of a release would go out of the catalogue, and with dry_run false: take it down",
    body: z.strictObject({
      id,
      dry_run: z.boolean().default(true).describe("true, which is usual: list what would go, and change nothing"),
      reason,
      actor,
    }),
    reply: z.object({
      release,
      made_by: z.array(z.string()).describe("The jobs that made what is there"),
      file_count: z.int(),
      bytes: z.int(),
      files: z
        .array(z.object({ ref: z.string(), bytes: z.int(), media_type: z.string(), adopted: z.boolean() }))
        .describe("The first 10,000. Adopted ones stay: only their records go"),
      tables: z
        .array(z.object({ kind: z.string(), ref: z.string(), bytes: z.int().nullable() }))
        .describe("What is neither file nor item, by kind; the first 10,000"),
      items: z
        .array(z.object({ collection: z.string(), item_id: z.string() }))
        .describe("In the catalogue, the first 10,000"),
      jobs: z.array(z.string()).describe("Those that take it down"),
      ...told,
    }),
    errors: [404, 409],
  }),
};
