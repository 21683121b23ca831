// What an answer means: its status as a category, what may be kept of its headers, its body as text or JSON. Never guessed
// from words in the body.
import { Permanent, Throttled, Transient } from "../../core/errors/errors.js";
import { retryAfter } from "../../core/errors/foreign_errors.js";
import { parseJson } from "../../core/values/json.js";
import type { GuardedHead } from "./guard/index.js";

/** Enough to see what the other side complains about. */
const shown_characters = 300;

/** The error an answer means that was not asked for. */
export function answerError({ status, headers }: GuardedHead, host: string, body: Uint8Array): Error {
  const code = `http_${status}`;
  const message = `${host} answered ${status}${shown(headers["content-type"], body)}`;
  const wait = retryAfter(headers);
  if (status === 429 || (status === 503 && wait !== undefined)) return new Throttled(wait, message, { code });
  if (status === 408 || status === 425 || status >= 500) return new Transient(message, { code });
  return new Permanent(message, { code });
}

function shown(content_type: string | undefined, body: Uint8Array): string {
  if (!/^(text\/plain|application\/([\w.-]+\+)?json)\b/i.test(content_type ?? "")) return "";
  const text = Buffer.from(body.subarray(0, 4 * shown_characters))
    .toString("utf8")
    .replace(/\s+/g, " ")
    .trim();
  return text === "" ? "" : `: ${text.length > shown_characters ? `${text.slice(0, shown_characters)}…` : text}`;
}

/** What may be read of an answer's headers later. Others may hold cookies, keys, or the insides of a network. */
const kept_headers =
  /^(content-(type|length|language|disposition|range)|etag|last-modified|date|expires|location|link|retry-after|x-request-id|x-(ratelimit|rate-limit)-[a-z-]+)$/;
const longest_header = 1000;

export function keptHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => kept_headers.test(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, value.slice(0, longest_header)]));
}

export function bodyText(body: Uint8Array, host: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw new Permanent(`the answer of ${host} is not text in UTF-8: ask for it with response "stored"`, {
      code: "unexpected_answer",
    });
  }
}

export function bodyJson(body: Uint8Array, host: string): unknown {
  if (body.length === 0) return null;
  try {
    return parseJson(Buffer.from(body));
  } catch (error) {
    // Cut in half or an error page: it may well be right the next time.
    throw new Transient(`the answer of ${host} is not JSON`, { code: "bad_response", cause: error });
  }
}
