// What a connection may do to the server before there is a call: how long it may take, how large its headers may be, and what
// it is told when it breaks the rules of HTTP.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { problem_media_type } from "../../core/api/problem.js";
import { FanfoldError } from "../../core/errors/errors.js";

export interface SocketTimes {
  /** For all headers of a call. */
  headers_ms: number;
  /** For the whole call, headers and body. */
  request_ms: number;
  /** A connection without a call under way. */
  keep_alive_ms: number;
  /** How often connections are looked at. */
  check_ms: number;
}

const usual: SocketTimes = { headers_ms: 15_000, request_ms: 60_000, keep_alive_ms: 65_000, check_ms: 5_000 };
const LARGEST_HEADERS = 16 * 1024;

export function socketOptions(given: Partial<SocketTimes> = {}) {
  const times = { ...usual, ...given };
  return {
    requestTimeout: times.request_ms,
    connectionTimeout: 0,
    keepAliveTimeout: times.keep_alive_ms,
    http: {
      maxHeaderSize: LARGEST_HEADERS,
      headersTimeout: Math.min(times.headers_ms, times.request_ms),
      connectionsCheckingInterval: times.check_ms,
      // Two lengths for one body are two bodies to a proxy that reads the other one.
      insecureHTTPParser: false,
    },
    clientErrorHandler: tellSocket,
  };
}

/** Not HTTP, or not in time: told in the one shape there is, and closed. */
function tellSocket(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const status = error.code === "HPE_HEADER_OVERFLOW" ? 431 : error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
  const body = JSON.stringify({
    type: "/api/docs#bad_request",
    title: STATUS_CODES[status],
    status,
    detail: details[status],
    code: "bad_request",
    request_id: "",
  });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${problem_media_type}`,
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  // A caller who goes on sending without reading must not keep the connection.
  socket.setTimeout(1_000, () => socket.destroy());
}

const details: Record<number, string> = {
  400: "this is not a call that HTTP knows",
  408: "the call was not complete in time",
  431: `the headers are larger than ${LARGEST_HEADERS} bytes`,
};

class UnsupportedEncoding extends FanfoldError {
  override readonly http_status = 415;
  override readonly code = "bad_media_type";
}

/** A few kilobytes can unpack to gigabytes: bodies come as they are. */
export function refuseEncoding({ headers, method }: FastifyRequest): void {
  // Their bodies are not read.
  if (method === "GET" || method === "HEAD") return;
  const encoding = headers["content-encoding"]?.trim().toLowerCase();
  if (encoding === undefined || encoding === "" || encoding === "identity") return;
  throw new UnsupportedEncoding("bad_request", "the body is packed, and this service takes none", {
    hint: "send it without Content-Encoding",
  });
}

/** The parser is shared: what one call takes besides application/json, another may not. */
export function refuseType({ headers }: FastifyRequest, taken: readonly string[]): void {
  const type = headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "application/json" || taken.includes(type)) return;
  throw new UnsupportedEncoding("bad_request", `the body is ${type.slice(0, 100)}, which this call does not take`, {
    hint: `send ${["application/json", ...taken].join(" or ")}`,
  });
}

/**
 * Lets waiting callers go, lets what runs end within the grace, and closes every connection without a call under way: Node would
 * wait for those that have not sent one yet, and looks for idle ones but once.
 */
export function closeInTime(app: FastifyInstance, grace_ms: number, letGo: () => Promise<void>): void {
  /** How many calls are under way on each connection: several, where they are sent without waiting for the answers. */
  const calls = new Map<Socket, number>();
  let closing = false;
  const count = (socket: Socket, change: number) => {
    const left = (calls.get(socket) ?? 0) + change;
    calls.set(socket, left);
    if (closing && left === 0) socket.destroySoon();
  };
  app.server.on("connection", (socket: Socket) => {
    count(socket, 0);
    socket.once("close", () => calls.delete(socket));
  });
  app.server.on("request", ({ socket }: IncomingMessage, answer: ServerResponse) => {
    count(socket, 1);
    answer.once("close", () => {
      if (!socket.destroyed) count(socket, -1);
    });
  });
  let rest: NodeJS.Timeout | undefined;
  app.addHook("preClose", async () => {
    closing = true;
    rest = setTimeout(() => app.server.closeAllConnections(), grace_ms);
    for (const [socket, under_way] of calls) if (under_way === 0) socket.destroySoon();
    await letGo();
  });
  app.addHook("onClose", async () => clearTimeout(rest));
}
