// One request to one vetted address, without proxies and without a connection anybody else has used. Resolves with the
// answer's head; its body is still on the wire.
import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { rootCertificates } from "node:tls";
import { Permanent, Transient } from "../../../core/errors/errors.js";
import { parseAddress } from "../../../core/places/addresses.js";
import type { OutboundPolicy } from "../../../core/places/outbound.js";
import { networkError, OutboundRefused, timedOut } from "./errors.js";
import type { Vetted } from "./resolve.js";

export interface HopRequest {
  url: URL;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | undefined;
}

export interface Head {
  response: http.IncomingMessage;
  address: string;
  /** What happened to the connection after the head came. */
  trouble(): unknown;
  close(): void;
}

export function sendTo(
  vetted: readonly Vetted[],
  { url, method, headers, body }: HopRequest,
  policy: OutboundPolicy,
  signal: AbortSignal,
): Promise<Head> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const secure = url.protocol === "https:";
  // A fresh one each time: a kept connection was vetted under another policy, perhaps another tenant's.
  const agent = secure ? new https.Agent({ keepAlive: false }) : new http.Agent({ keepAlive: false });
  return new Promise<Head>((resolve, reject) => {
    const timers: NodeJS.Timeout[] = [];
    let address = "";
    const settle = () => {
      for (const timer of timers) clearTimeout(timer);
    };
    let answered = false;
    let trouble: unknown;
    const fail = (error: unknown) => {
      trouble ??= error;
      // The answer is another's to read by now.
      if (answered) return;
      settle();
      request.destroy();
      agent.destroy();
      reject(signal.aborted ? signal.reason : networkError(error, url.host));
    };
    const request = (secure ? https : http).request({
      protocol: url.protocol,
      host,
      path: url.pathname + url.search,
      method,
      agent,
      signal,
      ...(url.port === "" ? {} : { port: Number(url.port) }),
      headers: { ...headers, host: url.host, connection: "close" },
      setHost: false,
      maxHeaderSize: policy.max_header_bytes,
      lookup: pinned(vetted),
      ...(secure ? { rejectUnauthorized: true, ...(policy.ca === undefined ? {} : trusting(policy.ca)) } : {}),
    });
    // One more than allowed is enough to see that there are too many.
    request.maxHeadersCount = policy.max_headers + 1;
    const after = (ms: number, what: string) => {
      timers.push(setTimeout(() => fail(timedOut(what, url.host, ms)), ms));
    };
    after(policy.connect_timeout_ms, "accept the connection");
    request.on("socket", (socket: Socket) => {
      // Registered before anything is written: a connection to anywhere else is closed unused.
      socket.once("connect", () => {
        address = socket.remoteAddress ?? "";
        if (!isOneOf(address, vetted)) fail(new OutboundRefused(`connected to ${address}, which was not vetted`));
      });
      socket.once(secure ? "secureConnect" : "connect", () => {
        settle();
        const sent = () => {
          if (!request.destroyed && !answered) after(policy.headers_timeout_ms, "answer");
        };
        // A large body takes its time, and the whole call has a limit of its own.
        if (request.writableFinished) sent();
        else request.once("finish", sent);
      });
    });
    request.on("error", fail);
    request.on("upgrade", (_response, socket) => {
      socket.destroy();
      fail(new Transient(`${url.host} wants to change the protocol`, { code: "bad_response" }));
    });
    request.on("response", (response) => {
      settle();
      if (response.rawHeaders.length / 2 > policy.max_headers) {
        response.destroy();
        const message = `the answer of ${url.host} has more than ${policy.max_headers} headers`;
        fail(new Permanent(message, { code: "response_too_large" }));
        return;
      }
      answered = true;
      // The reader of the body hears of errors; until then none may surface.
      response.on("error", () => {});
      const close = () => {
        response.destroy();
        request.destroy();
        agent.destroy();
      };
      resolve({ response, address, trouble: () => trouble, close });
    });
    request.end(body);
  });
}

/** Answers with what was vetted, whoever asks and however. */
function pinned(vetted: readonly Vetted[]) {
  return (
    _host: string,
    options: { all?: boolean },
    answer: (error: null, found: string | Vetted[], family?: number) => void,
  ) => {
    if (options.all) answer(null, [...vetted]);
    else answer(null, vetted[0]!.address, vetted[0]!.family);
  };
}

function trusting(ca: string) {
  return { ca: [...rootCertificates, ca] };
}

/** The same bytes, however they are written. */
function isOneOf(address: string, vetted: readonly Vetted[]): boolean {
  const bytes = parseAddress(address)?.join(".");
  return bytes !== undefined && vetted.some((one) => parseAddress(one.address)?.join(".") === bytes);
}
