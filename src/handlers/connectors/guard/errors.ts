// What can come of an outgoing call other than an answer, as handlers' errors: refused by policy (one sentence for the tenant,
// the reason for the operator), or broken on the way. Decided by codes, never by messages, and no message shows an address.
import { Permanent, Transient } from "../../../core/errors/errors.js";
import { readProperty } from "../../../core/errors/failures.js";

export const refusal_message = "this address may not be called";

/** Always the same words: a caller who asks must not learn what is behind an address, a name or a port. */
export class OutboundRefused extends Permanent {
  /** Why, for the operator's log: the worker writes it there, and nowhere else. */
  readonly operator_detail: string;

  constructor(operator_detail: string) {
    super(refusal_message, { code: "outbound_refused" });
    this.operator_detail = operator_detail;
    // Shown in no stack, and in no copy of this error.
    Object.defineProperty(this, "operator_detail", { enumerable: false, value: operator_detail });
  }
}

/** Broken on the way: what happened, in words for the tenant. */
export function networkError(error: unknown, host: string): Error {
  if (error instanceof Permanent || error instanceof Transient) return error;
  const code = String(readProperty(error, "code") ?? "");
  const told = passing.get(code);
  if (told !== undefined) return new Transient(`${told} (${host})`, { code: "connection" });
  if (code === "HPE_HEADER_OVERFLOW") return new Permanent(`the headers of ${host}'s answer are too long`, too_large);
  if (code.startsWith("HPE_")) return new Transient(`the answer of ${host} is not HTTP`, { code: "bad_response" });
  if (code.startsWith("Z_") || code.startsWith("ERR_BROTLI") || code.startsWith("ERR__ERROR_FORMAT")) {
    return new Transient(`the answer of ${host} cannot be decompressed`, { code: "bad_response" });
  }
  if (code.startsWith("ERR_INVALID") || code === "ERR_UNESCAPED_CHARACTERS") {
    return new Permanent("a header or the path holds a character that HTTP does not allow", { code: "bad_request" });
  }
  if (isTls(code)) return new Permanent(`no safe connection to ${host}: ${tlsWords(code)}`, { code: "tls" });
  return new Transient(`the call to ${host} failed`, { code: "connection" });
}

const too_large = { code: "response_too_large" };

const passing: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "the connection was refused"],
  ["ECONNRESET", "the connection was closed before the answer was complete"],
  ["EPIPE", "the connection was closed before the request was sent"],
  ["ETIMEDOUT", "the connection timed out"],
  ["EHOSTUNREACH", "the host cannot be reached"],
  ["ENETUNREACH", "the network cannot be reached"],
  ["EADDRNOTAVAIL", "the network cannot be reached"],
  ["ERR_STREAM_PREMATURE_CLOSE", "the connection was closed before the answer was complete"],
]);

function isTls(code: string): boolean {
  return /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO|INVALID_(CA|PURPOSE))/.test(
    code,
  );
}

function tlsWords(code: string): string {
  if (code === "CERT_HAS_EXPIRED") return "its certificate has expired";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "its certificate is for another name";
  if (/SELF_SIGNED|UNABLE_TO/.test(code)) return "its certificate is not signed by anyone this worker trusts";
  return `TLS failed (${code})`;
}

export function timedOut(what: string, host: string, ms: number): Transient {
  return new Transient(`${host} did not ${what} within ${ms / 1000} s`, { code: "timeout" });
}
