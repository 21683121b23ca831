// Files that a client brings into bronze: announced, sent in parts, and there once all of them are. Pure.
import { z } from "zod";
import { endpointsOf } from "../endpoint.js";
import { actor, cursor, limit, reason, time } from "../fields.js";

const upload_id = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, "is not an upload's id, as POST /api/files returned it")
  .describe("The upload's id");
const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, "is not a SHA-256: 64 characters of 0-9 and a-f")
  .meta({ examples: ["0".repeat(64)] });
export const upload_states = ["open", "publishing", "completed"] as const;

/** The most bytes of one call to this server: each part has a minute to arrive. */
export const server_part_bytes = 8 * 1024 * 1024;
export const store_part_bytes = 64 * 1024 * 1024;
export const most_parts = 10_000;

const upload = z
  .object({
    upload_id: z.string(),
    ref: z.string().describe("What jobs call the file: bronze:<key>"),
    key: z.string(),
    state: z
      .enum(upload_states)
      .describe("open: parts are awaited; publishing: it is put in its place; completed: it is there"),
    bytes: z.int(),
    part_bytes: z.int().describe("The size of every part but the last"),
    media_type: z.string(),
    sha256: z.string().nullable().describe("What the caller says it is; of a completed one, what it is"),
    overwrite: z.boolean(),
    actor: z.string(),
    created_at: time,
    expires_at: time.nullable().describe("When an upload that is not continued ends"),
    completed_at: time.nullable(),
  })
  .meta({ id: "Upload" });

const upload_with_parts = upload
  .extend({
    part_count: z.int(),
    missing: z.int().describe("How many parts are missing"),
    parts: z
      .array(
        z.object({
          part: z.int().describe("From 1"),
          offset: z.int().describe("Where in the file it begins"),
          bytes: z.int(),
          method: z.literal("PUT"),
          url: z
            .string()
            .describe("Beginning with /: of this server, sent with the key. Else of a store: sent without it"),
          headers: z.record(z.string(), z.string()).describe("To be sent with it, exactly"),
        }),
      )
      .describe("The first 100 of those that are missing; addresses of a store are good for an hour"),
  })
  .meta({ id: "UploadWithParts" });

export type UploadRecord = z.output<typeof upload>;
export type UploadWithParts = z.output<typeof upload_with_parts>;

const endpoint = endpointsOf({ tag: "files", scope: "submit", params: { upload_id } });

export const uploads_api = {
  begin: endpoint("POST /api/files", {
    summary: "Bring a file into the zone bronze",
    description:
      "Announces a file. It is sent in parts, each with one PUT to the address that the answer has for it, in any order and " +
      "several at a time; `POST /api/files/{upload_id}/complete` then checks size and checksum and puts it in its place, where jobs " +
      "find it as `bronze:<key>`. Until then no reader sees any of it. After an interruption `GET /api/files/{upload_id}` says " +
      "which parts are missing. A file that is there already stays, unless `overwrite` is true.",
    body: z.strictObject({
      key: z.string().min(1).max(1024).describe("Where it is to lie: dem/scene 1.tif"),
      bytes: z.int().min(0).describe("Its size"),
      sha256: sha256.optional().describe("Compared with what has arrived; a file that is another one is not taken"),
      media_type: z
        .string()
        .regex(/^[\w!#$&^.+-]{1,80}\/[\w!#$&^.+-]{1,80}$/, "is not a media type such as image/tiff")
        .meta({ examples: ["image/tiff"] })
        .optional(),
      overwrite: z.boolean().default(false).describe("Also where a file is there already"),
      actor,
    }),
    reply: upload_with_parts,
    status: 201,
    errors: [409, 413, 422],
  }),
  list: endpoint("GET /api/files", {
    sql: "list_uploads",
    summary: "List the files that were brought over HTTP, and those under way, newest first",
    scope: "read",
    query: z.strictObject({
      state: z.enum(upload_states).optional(),
      prefix: z.string().max(1024).optional().describe("Only keys that begin so"),
      limit,
      cursor,
    }),
    reply: z.object({ uploads: z.array(upload), next: z.string().nullable() }),
  }),
  get: endpoint("GET /api/files/{upload_id}", {
    summary: "What is missing of an upload, and where to send it",
    long: true,
    reply: upload_with_parts,
    errors: [404],
  }),
  complete: endpoint("POST /api/files/{upload_id}/complete", {
    summary: "All parts are sent: put the file in its place",
    description:
      "Reads what has arrived, compares size and checksum, and answers when the file is there. Asking again is safe. A file whose " +
      "checksum is another one is not taken, and the upload is over.",
    body: z.strictObject({ actor }).prefault({}),
    reply: upload,
    errors: [404, 409, 422],
    repeatable: true,
  }),
  remove: endpoint("DELETE /api/files/{upload_id}", {
    summary: "Give an upload up, or remove the file that it brought",
    query: z.strictObject({ reason, actor }),
    reply: upload,
    errors: [404],
  }),
};

/** Answered by src/server/files/upload_parts.ts, past the usual routes: its body is not JSON and not kept in memory. */
export const upload_parts_api = {
  put: endpoint("PUT /api/files/{upload_id}/parts/{part}", {
    summary: "Send one part of a file",
    description:
      "Its bytes as the body, with Content-Length. It is there whole or not at all; sent again it takes the place of what was there. " +
      "Only where the answer of `POST /api/files` names this address: parts for a bucket are sent there.",
    params: z.strictObject({ upload_id, part: z.coerce.number().int().min(1).max(most_parts).describe("From 1") }),
    reply: z.object({ part: z.int(), bytes: z.int(), sha256: z.string() }),
    body: z.unknown().describe("The bytes of the part"),
    body_types: ["application/octet-stream"],
    body_limit: store_part_bytes,
    errors: [404, 409],
  }),
};
