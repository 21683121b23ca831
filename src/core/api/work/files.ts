// Files of zones for workers without a way into them: what lies there, its bytes, and where a task's own files go. Pure.
import { z } from "zod";
import { zone_names } from "../../places/zones.js";
import { endpointsOf } from "../endpoint.js";
import { sha256 } from "./effects.js";
import { largest_part, largest_upload } from "./limits.js";
import { held_attempt, whole, worker } from "./tasks.js";

/** 409: the task is no longer held (not_allowed_now), or the worker itself is not known any more (stale_worker). */
const errors = [409];

const zone = z.enum(zone_names);
const key = z.string().min(1).max(1024);
const bytes_sent = whole.max(largest_upload).describe("How large the file is");
const stat = z.object({ bytes: z.int(), etag: z.string(), modified_at: z.string() });

const new_file = z.strictObject({
  ...held_attempt,
  zone,
  prefix: z.string().min(1).max(800).describe("Below which it lies, built from ids: dem-2024/tile-x0-y1"),
  name: z.string().min(1).max(200).describe("The last part of its key: cog.tif"),
  media_type: z.string().min(1).max(200),
  bytes: bytes_sent,
  sha256: sha256.optional().describe("Compared with what arrives, where it arrives here"),
});

const new_spill = z.strictObject({
  ...held_attempt,
  spill: z.literal(true).describe("The JSON text of a result that is too large for a finish"),
  bytes: bytes_sent,
  sha256: sha256.optional(),
});

/** What the address of an upload to the server says. */
const upload_query = z.strictObject({
  task_id: z.string().regex(/^\d{1,15}-\d{1,15}$/),
  claim_id: z.coerce.number().int().min(0),
  attempt: z.coerce.number().int().min(0).max(32_767),
  zone: zone.optional().describe("Left out: the file of a result"),
  key,
  bytes: z.coerce.number().int().min(0).max(largest_upload),
  sha256: sha256.optional(),
  media_type: z.string().min(1).max(200).optional(),
});

const arrived = z.object({
  received: z.int().describe("So many bytes have arrived: the next part begins here"),
  complete: z.boolean(),
  sha256: z.string().nullable().describe("Where this call made it complete"),
});

const endpoint = endpointsOf({ tag: "work", scope: "work", errors });

export const files_api = {
  new_file: endpoint("POST /api/workers/{worker_id}/files", {
    errors: [...errors, 422],
    long: false,
    summary: "Where to put a file of a task that is held",
    description:
      "Answers a key of this very attempt and an address to PUT the bytes to. No reader sees the file until a finish names it " +
      "(`effects`, or `spill` of a result) and is taken; one that no finish names is removed later.",
    params: worker,
    body: z.union([new_file, new_spill]),
    reply: z.object({
      zone: zone.nullable().describe("null: the file of a result"),
      key: z.string(),
      ref: z.string().nullable().describe("silver:<key>, as jobs name it"),
      href: z.string().nullable().describe("As a catalogue names it"),
      upload: z.object({
        method: z.literal("PUT"),
        url: z
          .string()
          .describe("Beginning with /: of this service, sent with the key. Else of a store: sent without it"),
        headers: z.record(z.string(), z.string()).describe("To be sent with it, exactly"),
        resumable: z.boolean().describe("false: one PUT of the whole file"),
        part_bytes: z.int().nullable().describe("The most bytes of one PUT"),
        expires_s: z.int().nullable(),
      }),
    }),
    status: 201,
    repeatable: true,
  }),
  arrived: endpoint("GET /api/workers/{worker_id}/files/upload", {
    summary: "How much of a file has arrived at the server",
    params: worker,
    query: upload_query,
    reply: arrived,
  }),
  list_files: endpoint("GET /api/workers/{worker_id}/files", {
    summary: "Files of a zone, in order of key",
    params: worker,
    query: z.strictObject({
      zone,
      prefix: z.string().max(1024).default(""),
      after: z.string().max(4096).optional().describe("`next` of the page before"),
      limit: z.coerce.number().int().min(1).max(1000).default(1000),
    }),
    reply: z.object({ entries: z.array(stat.extend({ key: z.string() })), next: z.string().nullable() }),
  }),
  stat_file: endpoint("GET /api/workers/{worker_id}/files/stat", {
    summary: "Size and version of one file",
    params: worker,
    query: z.strictObject({ zone, key }),
    reply: z.object({ stat: stat.nullable().describe("null: there is no such file") }),
  }),
  read_file: endpoint("GET /api/workers/{worker_id}/files/content", {
    errors: [...errors, 404, 416],
    summary: "The bytes of one file, whole or by Range",
    description:
      "What lies in a bucket is answered with a redirect to an address that the store has signed: send no key there.",
    params: worker,
    query: z.strictObject({ zone, key }),
    reply: z.unknown().describe("The bytes of the file"),
    media_type: "application/octet-stream",
    other_answers: {
      206: { description: "The part that `Range` asks for", media_type: "application/octet-stream" },
      302: { description: "It lies in a bucket", headers: { location: "Where, signed by the store" } },
    },
  }),
};

/** Answered by src/server/files/worker_uploads.ts, past the usual routes: its body is not JSON and not kept in memory. */
export const upload_api = {
  upload: endpoint("PUT /api/workers/{worker_id}/files/upload", {
    summary: "Send a file, or its next part",
    description:
      "To the address that `files` gave. `Content-Range: bytes FIRST-LAST/TOTAL` says which part it is; without it the body is the whole " +
      "file. A part begins where the one before has ended; GET of the same address says how much has arrived.",
    params: worker,
    query: upload_query,
    body: z.unknown().describe("The bytes"),
    body_types: ["application/octet-stream"],
    body_limit: largest_part,
    reply: arrived,
  }),
};

export type NewFile = z.output<typeof new_file>;
export type NewSpill = z.output<typeof new_spill>;
export type UploadQuery = z.output<typeof upload_query>;
export type UploadTarget = z.output<(typeof files_api)["new_file"]["reply"]>;
export type FileArrived = z.output<typeof arrived>;
