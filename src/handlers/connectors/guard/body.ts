// The body of an answer as it comes: never more bytes are read, decompressed or held than the policy allows, whatever the
// headers promise.
import { PassThrough, pipeline, Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { Permanent } from "../../../core/errors/errors.js";
import type { OutboundPolicy } from "../../../core/places/outbound.js";
import { networkError } from "./errors.js";
import type { Head } from "./hop.js";

export interface Body extends AsyncIterable<Uint8Array> {
  /** Known when the body has been read: there was more than allowed. */
  truncated: boolean;
}

const decoders: ReadonlyMap<string, () => NodeJS.ReadWriteStream> = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

export const accepted_encodings = "gzip, deflate, br";

export function bodyOf(head: Head, policy: OutboundPolicy, host: string, signal: AbortSignal): Body {
  const { response } = head;
  const encoding = (response.headers["content-encoding"] ?? "").trim().toLowerCase();
  const decoder = decoders.get(encoding);
  // Packed twice is how a small answer becomes a huge one twice over.
  if (encoding.includes(",")) {
    throw new Permanent(`the answer of ${host} is encoded more than once (${encoding.slice(0, 60)})`, {
      code: "bad_response",
    });
  }
  const body: Body = { truncated: false, [Symbol.asyncIterator]: () => read() };
  const cut = () => {
    body.truncated = true;
  };
  async function* read(): AsyncGenerator<Uint8Array> {
    const raw = capped(whole(head, signal), policy.max_response_bytes, cut);
    try {
      if (decoder === undefined) yield* raw;
      else yield* capped(decoded(raw, decoder()), policy.max_decompressed_bytes, cut);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // What was cut off cannot be unpacked to its end.
      if (!body.truncated) throw networkError(error, host);
    }
  }
  return body;
}

/** An answer whose end is the connection's looks whole however that ended: half an answer must not pass for one. */
async function* whole({ response, trouble }: Head, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  yield* response as AsyncIterable<Buffer>;
  if (signal.aborted) throw signal.reason;
  const broken = trouble();
  // Nonsense behind the promised length is no part of the answer.
  const is_whole = response.complete && (broken === undefined || response.headers["content-length"] !== undefined);
  if (!is_whole) throw broken ?? Object.assign(new Error("half an answer"), { code: "ECONNRESET" });
}

async function* capped(source: AsyncIterable<Uint8Array>, most: number, onCut: () => void): AsyncGenerator<Uint8Array> {
  // A limit that is none lets nothing through: whatever is compared with it would be.
  let left = Number.isFinite(most) ? most : 0;
  for await (const piece of source) {
    if (piece.length > left) {
      onCut();
      if (left > 0) yield piece.subarray(0, left);
      return;
    }
    left -= piece.length;
    yield piece;
  }
}

function decoded(raw: AsyncIterable<Uint8Array>, decoder: NodeJS.ReadWriteStream): AsyncIterable<Uint8Array> {
  const out = new PassThrough();
  // Each stage waits for the next: a bomb is unpacked no faster than it is read, and not at all once nobody reads.
  pipeline(Readable.from(raw), decoder, out, () => {});
  return out as AsyncIterable<Buffer>;
}

export async function collected(body: Body): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}
