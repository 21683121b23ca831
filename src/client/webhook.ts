// Whether a webhook came from whom it says, as Standard Webhooks v1 signs: HMAC-SHA256 over "id.timestamp.body", exactly the
// bytes that came. WebCrypto compares in constant time.
import { BadRequest, Unauthenticated } from "../core/errors/errors.js";
import { kindOf } from "../core/errors/problems.js";

export type WebhookRefusal = "missing_header" | "bad_header" | "too_old" | "too_new" | "no_match" | "not_json";

/** It is not to be believed. Answer 401 or 400, and do nothing else. */
export class WebhookRefused extends Unauthenticated {
  readonly reason: WebhookRefusal;

  constructor(reason: WebhookRefusal, message: string, hint?: string) {
    super(message, hint === undefined ? {} : { hint });
    this.reason = reason;
  }
}

export interface WebhookToVerify {
  /** whsec_…, as it was shown when the endpoint was made. */
  secret?: string;
  /** Several while one is being replaced: any of them will do. */
  secrets?: readonly string[];
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As it came: parsing it and writing it again changes bytes, and the signature is over bytes. */
  body: string | Uint8Array;
  /** How old or how far ahead it may be, in seconds. Default: 300. */
  tolerance_s?: number;
  /** The time to compare with. Default: now. */
  now?: Date;
}

export interface VerifiedWebhook<Payload = unknown> {
  /** The same on every try to deliver it: remember it, and a repeated delivery does nothing twice. */
  id: string;
  timestamp: Date;
  payload: Payload;
}

/** Throws WebhookRefused, or BadRequest when it is asked in a way that cannot work. */
export async function verifyWebhook<Payload = unknown>(given: WebhookToVerify): Promise<VerifiedWebhook<Payload>> {
  const keys = secretKeys(given);
  const body = bytesOf(given.body);
  const id = header(given.headers, "webhook-id");
  const stamp = header(given.headers, "webhook-timestamp");
  const signatures = header(given.headers, "webhook-signature");
  const timestamp = checkedTime(stamp, given.now ?? new Date(), given.tolerance_s ?? 300);
  const signed = joined(new TextEncoder().encode(`${id}.${stamp}.`), body);
  if (!(await matches(keys, signatures, signed))) {
    const hint = "give the body as it came, and the secret of this very endpoint";
    throw new WebhookRefused("no_match", "no signature of the webhook fits", hint);
  }
  return { id, timestamp, payload: readPayload(body) as Payload };
}

const algorithm = { name: "HMAC", hash: "SHA-256" };

/** Every secret against every signature: how many there are is no secret, which one fits is. */
async function matches(keys: readonly Uint8Array[], header: string, signed: Uint8Array): Promise<boolean> {
  const signatures = header
    .split(" ")
    .filter((one) => one.startsWith("v1,"))
    .map((one) => fromBase64(one.slice(3)))
    .filter((bytes): bytes is Uint8Array => bytes !== null && bytes.length === 32)
    .slice(0, 50);
  let found = false;
  for (const secret of keys) {
    const key = await crypto.subtle.importKey("raw", secret, algorithm, false, ["verify"]);
    for (const signature of signatures) {
      const fits = await crypto.subtle.verify(algorithm.name, key, signature, signed);
      found = fits || found;
    }
  }
  return found;
}

function secretKeys({ secret, secrets }: WebhookToVerify): Uint8Array[] {
  const given = [...(secret === undefined ? [] : [secret]), ...(secrets ?? [])];
  if (given.length === 0) throw new BadRequest("no secret was given", { hint: "give secret: the endpoint's whsec_…" });
  return given.map((text) => {
    const bytes = typeof text === "string" ? fromBase64(text.replace(/^whsec_/, "")) : null;
    // The secret itself stays out of the message.
    if (bytes === null || bytes.length === 0) {
      throw new BadRequest("a secret is not one", { hint: "give it as it was shown: whsec_ and base64" });
    }
    return bytes;
  });
}

function bytesOf(body: unknown): Uint8Array {
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  throw new BadRequest(`the body must be the text or the bytes that came, not ${kindOf(body)}`, {
    hint: "read the raw body before anything parses it, e.g. express.raw({ type: () => true }) or await request.text()",
  });
}

function header(headers: WebhookToVerify["headers"], name: string): string {
  const all = headers instanceof Headers ? [headers.get(name)] : named(headers, name);
  const values = all.filter((value) => value !== undefined && value !== null && value !== "");
  if (values.length === 0) throw new WebhookRefused("missing_header", `the webhook has no ${name}`);
  // Two of one name: which one was signed would be a guess.
  if (values.length > 1) throw new WebhookRefused("bad_header", `the webhook has more than one ${name}`);
  return values[0] as string;
}

function named(headers: Readonly<Record<string, string | readonly string[] | undefined>>, name: string) {
  return Object.entries(headers ?? {}).flatMap(([key, value]) => (key.toLowerCase() === name ? value : []));
}

function checkedTime(stamp: string, now: Date, tolerance_s: number): Date {
  if (!/^[1-9]\d{0,11}$/.test(stamp)) {
    throw new WebhookRefused("bad_header", "webhook-timestamp is no number of seconds");
  }
  const age_s = now.getTime() / 1000 - Number(stamp);
  const hint = "see that this machine's clock is right; an old delivery can be sent again from the delivery log";
  if (age_s > tolerance_s) throw new WebhookRefused("too_old", "the webhook was signed too long ago", hint);
  if (age_s < -tolerance_s) throw new WebhookRefused("too_new", "the webhook was signed in the future", hint);
  return new Date(Number(stamp) * 1000);
}

function readPayload(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new WebhookRefused("not_json", "the webhook is signed, but it is not JSON");
  }
}

/** null for what is not base64, with or without padding. */
function fromBase64(text: string): Uint8Array | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
