// ctx.zones in a worker without a way into the zones: the service says where bytes go and come from, and what a task publishes is told with its
// finish. A file goes up in parts where the service takes it itself, and goes on after an interruption; into a bucket it goes in one piece.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, stat as lookAt, open, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import type { Effect } from "../core/api/work/effects.js";
import type { FileArrived, UploadTarget } from "../core/api/work/files.js";
import type { WorkTask } from "../core/api/work.js";
import { work_api } from "../core/api/work.js";
import { classify, Permanent, Transient } from "../core/errors/errors.js";
import { quoted } from "../core/errors/problems.js";
import { formatZoneRef, type TaskZones, type ZoneRef } from "../core/places/zones.js";
import { pause } from "./abort.js";
import type { Caller } from "./call.js";
import { refusedBytes, type Transport } from "./transport.js";

/** What one read may hold in memory. */
const largest_read = 4 * 1024 * 1024;
const TRIES = 6;

export interface RemoteFilesParts {
  worker_id: string;
  call: Caller;
  bytes: Transport["bytes"];
  task: WorkTask;
  signal(): AbortSignal;
  effect(effect: Effect): void;
  /** A file of this attempt has begun to be written. */
  uploaded(ref: ZoneRef): void;
}

export function openRemoteZones(parts: RemoteFilesParts): TaskZones {
  const { worker_id, call } = parts;
  const params = { worker_id };
  const { task_id, claim_id, attempt } = parts.task;
  const held = { task_id, claim_id, attempt };

  const content = (ref: ZoneRef, headers: Record<string, string> = {}) => read(parts, ref, headers);

  const zones: TaskZones = {
    async stat(ref) {
      return (await call(work_api.stat_file, { params, query: { ...ref }, signal: parts.signal() })).stat;
    },

    async list(zone, prefix, options = {}) {
      return call(work_api.list_files, { params, query: { zone, prefix, ...options }, signal: parts.signal() });
    },

    async read(ref, offset, length) {
      if (!Number.isSafeInteger(offset) || offset < 0 || !Number.isSafeInteger(length) || length < 0) {
        throw new Permanent("an offset and a length are whole numbers from 0", { code: "bad_range" });
      }
      if (length > largest_read) {
        throw new Permanent(`one read gives at most ${largest_read} bytes: download the object`, { code: "bad_range" });
      }
      if (length === 0) return new Uint8Array();
      const response = await content(ref, { range: `bytes=${offset}-${offset + length - 1}` });
      if (response.status === 416) return new Uint8Array();
      const all = new Uint8Array(await response.arrayBuffer());
      return response.status === 206 ? all : all.subarray(offset, offset + length);
    },

    async download(ref, file, { max_bytes = Number.POSITIVE_INFINITY } = {}) {
      return download(await content(ref), ref, file, max_bytes);
    },

    async publish(file, { zone, prefix, name, media_type }) {
      const bytes = (await lookAt(file)).size;
      const sha256 = await checksum(file);
      const body = { ...held, zone, prefix, name, media_type, bytes, sha256 };
      const target = await call(work_api.new_file, { params, body, signal: parts.signal() });
      const ref = { zone, key: target.key };
      parts.uploaded(ref);
      await upload(parts, target, file, bytes);
      parts.effect({ effect: "publish", ...ref, bytes, sha256, media_type });
      return { ...ref, name, href: target.href ?? "", bytes, sha256, media_type };
    },

    async adopt(ref, { media_type, bytes, sha256 }) {
      const found = await zones.stat(ref);
      if (found === null) throw new Permanent(`there is no object ${formatZoneRef(ref)} to adopt`, { code: "missing" });
      if (found.bytes !== bytes) {
        const why = `it has ${found.bytes} bytes, not ${bytes}: it was changed meanwhile`;
        throw new Permanent(`${formatZoneRef(ref)} cannot be adopted: ${why}`, { code: "altered" });
      }
      const { zone, key } = ref;
      parts.effect({ effect: "adopt", zone, key, bytes, sha256, media_type });
      const name = key.split("/").at(-1) ?? key;
      return { zone, key, name, href: `fanfold://${zone}/${key}`, bytes, sha256, media_type };
    },

    async retract({ zone, key }, { remove_adopted = false } = {}) {
      if (typeof key !== "string" || key === "") throw new Permanent(`${quoted(key)} is no key`, { code: "bad_key" });
      parts.effect({ effect: "retract", zone, key, remove_adopted });
    },
  };
  return zones;
}

/** The JSON text of a result that is too large for the finish, in the file that the finish then names. */
export async function spill(parts: Omit<RemoteFilesParts, "effect" | "uploaded">, text: string) {
  const { worker_id, call, task } = parts;
  const { task_id, claim_id, attempt } = task;
  const content = Buffer.from(text, "utf8");
  const facts = { bytes: content.length, sha256: createHash("sha256").update(content).digest("hex") };
  const body = { task_id, claim_id, attempt, spill: true as const, ...facts };
  const target = await call(work_api.new_file, { params: { worker_id }, body, signal: parts.signal() });
  await upload(parts, target, content, content.length);
  return { key: target.key, ...facts };
}

/** Bytes of the service, or of the store that it sends us to. */
async function read({ worker_id, bytes, signal }: RemoteFilesParts, ref: ZoneRef, headers: Record<string, string>) {
  const query = new URLSearchParams({ ...ref });
  let address = `/api/workers/${worker_id}/files/content?${query}`;
  for (let hops = 0; ; hops++) {
    const response = await bytes(address, { method: "GET", headers, signal: signal() });
    const location = response.headers.get("location");
    if (response.status === 302 && location !== null && hops === 0) {
      await response.body?.cancel();
      address = location;
      continue;
    }
    if (response.ok || response.status === 416) return response;
    const text = await response.text();
    if (response.status === 404) throw new Permanent(`there is no object ${formatZoneRef(ref)}`, { code: "missing" });
    throw refusedBytes(address, response, text);
  }
}

async function download(response: Response, ref: ZoneRef, file: string, max_bytes: number) {
  const expected = Number(response.headers.get("content-length") ?? Number.NaN);
  const tooLarge = (bytes: number) =>
    new Permanent(`${formatZoneRef(ref)} has ${bytes} bytes; at most ${max_bytes} are taken`, { code: "too_large" });
  const hash = createHash("sha256");
  let bytes = 0;
  let handle: FileHandle | undefined;
  try {
    if (expected > max_bytes) throw tooLarge(expected);
    handle = await open(file, "wx");
    if (response.body !== null) {
      for await (const piece of Readable.fromWeb(response.body as never)) {
        bytes += piece.length;
        if (bytes > max_bytes) throw tooLarge(bytes);
        hash.update(piece);
        await handle.writeFile(piece);
      }
    }
    if (!Number.isNaN(expected) && bytes !== expected) {
      throw new Transient(`${formatZoneRef(ref)} ended after ${bytes} of ${expected} bytes`, { code: "cut_off" });
    }
    const etag = (response.headers.get("etag") ?? "").replaceAll('"', "");
    return { bytes, sha256: hash.digest("hex"), etag };
  } catch (error) {
    await response.body?.cancel().catch(() => {});
    // What was there before is not ours to remove.
    if (handle !== undefined) await rm(file, { force: true }).catch(() => {});
    throw error;
  } finally {
    await handle?.close();
  }
}

type Source = string | Buffer;
type Uploading = Pick<RemoteFilesParts, "bytes" | "signal">;

/** Tried again while that may help: from where the service has got to, or, into a bucket, from the start. */
async function upload(parts: Uploading, { upload: to }: UploadTarget, source: Source, total: number): Promise<void> {
  let sent = 0;
  for (let tries = 0; ; ) {
    try {
      if (!to.resumable) return await putAll(parts, to, source, total);
      if (tries > 0) {
        const arrived = await arrivedAt(parts, to);
        if (arrived.complete) return;
        if (arrived.received > sent) tries = 0;
        sent = arrived.received;
      }
      do {
        const length = Math.min(to.part_bytes ?? total, total - sent);
        const { received, complete } = await putPart(parts, to, source, sent, length, total);
        sent = received;
        if (complete) return;
      } while (sent < total);
      return;
    } catch (error) {
      const { category } = classify(error);
      parts.signal().throwIfAborted();
      if (++tries >= TRIES || (category !== "transient" && category !== "throttled")) throw error;
      await pause(100 * 2 ** tries * (0.5 + Math.random() / 2), parts.signal());
    }
  }
}

async function putAll({ bytes, signal }: Uploading, to: UploadTarget["upload"], source: Source, total: number) {
  const headers = { ...to.headers, "content-length": String(total) };
  const body =
    total === 0
      ? new Uint8Array()
      : typeof source === "string"
        ? (Readable.toWeb(createReadStream(source)) as ReadableStream<Uint8Array>)
        : new Uint8Array(source);
  const response = await bytes(to.url, { method: "PUT", headers, body, signal: signal() });
  const text = await response.text();
  if (!response.ok) throw refusedBytes(to.url, response, text);
}

async function putPart(
  { bytes, signal }: Uploading,
  to: UploadTarget["upload"],
  source: Source,
  offset: number,
  length: number,
  total: number,
): Promise<FileArrived> {
  const is_whole = offset === 0 && length === total;
  const range: Record<string, string> = is_whole
    ? {}
    : { "content-range": `bytes ${offset}-${offset + length - 1}/${total}` };
  const body = await pieceOf(source, offset, length);
  const response = await bytes(to.url, { method: "PUT", headers: { ...to.headers, ...range }, body, signal: signal() });
  const text = await response.text();
  // What begins elsewhere than where the service is goes on from there.
  if (response.status === 409 && text.includes("bytes have arrived")) {
    throw new Transient("the service has got another number of bytes", { code: "upload_offset" });
  }
  if (!response.ok) throw refusedBytes(to.url, response, text);
  return JSON.parse(text) as FileArrived;
}

async function arrivedAt({ bytes, signal }: Uploading, to: UploadTarget["upload"]): Promise<FileArrived> {
  const response = await bytes(to.url, { method: "GET", signal: signal() });
  const text = await response.text();
  if (!response.ok) throw refusedBytes(to.url, response, text);
  return JSON.parse(text) as FileArrived;
}

async function pieceOf(source: Source, offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  if (typeof source !== "string") return new Uint8Array(source.subarray(offset, offset + length));
  const handle = await open(source, "r");
  try {
    const piece = new Uint8Array(length);
    const { bytesRead } = await handle.read(piece, 0, length, offset);
    if (bytesRead !== length) throw new Permanent("the file was changed while it was sent", { code: "altered" });
    return piece;
  } finally {
    await handle.close();
  }
}

async function checksum(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(file, { highWaterMark: 1024 * 1024 })) hash.update(piece);
  return hash.digest("hex");
}
