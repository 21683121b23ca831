// Passes one call on to a cell and its answer back, piece by piece, as long as either takes: streams and uploads go through as everything else. A call
// of which nothing was sent yet goes to the cell's next server when one does not answer.
import { Agent, type ClientRequest, type IncomingMessage, request as plain, type ServerResponse } from "node:http";
import { request as secure, Agent as TlsAgent } from "node:https";
import { Unavailable } from "../../core/errors/errors.js";
import type { CallFrom } from "./callers.js";
import type { CellServers } from "./health.js";
import { CellAway } from "./homes.js";

const CONNECT_MS = 3_000;
/** Kept for less time than servers keep a connection that is not used. */
const kept = { keepAlive: true, maxFreeSockets: 64, timeout: 30_000 };

/** Of one connection only (RFC 9110, 7.6.1). */
const hop_by_hop = new Set(
  "connection keep-alive proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade".split(" "),
);

export interface Forwarding {
  request: IncomingMessage;
  response: ServerResponse;
  /** What was read of the body already; undefined: nothing. */
  body?: Buffer | undefined;
  from: CallFrom;
  /** May answer in the cell's place; true: it has. */
  onAnswer?: (answer: IncomingMessage) => Promise<boolean>;
}

export class Forwarder {
  readonly #agents = {
    http: new Agent(kept),
    https: new TlsAgent(kept),
  };

  async forward(servers: CellServers, call: Forwarding): Promise<void> {
    for (const url of servers.inTurn()) {
      const sent = await this.#connected(url, call);
      if (sent === null) {
        servers.note(url, false);
        continue;
      }
      return answered(servers.name, sent, call);
    }
    throw new CellAway([servers.name]);
  }

  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }

  /** A connection for this call, on which nothing was sent; null: there is none to be had. */
  #connected(url: URL, { request, body, from }: Forwarding): Promise<ClientRequest | null> {
    const is_secure = url.protocol === "https:";
    const headers: Record<string, string | string[] | undefined> = {};
    for (const [name, value] of Object.entries(request.headers)) {
      // The cell believes the router: what a stranger says of its own way must not come from it.
      const is_believed = from.by_proxy || !(name.startsWith("x-forwarded-") || name === "forwarded");
      if (is_believed && !hop_by_hop.has(name)) headers[name] = value;
    }
    headers["x-forwarded-for"] = from.forwarded_for;
    headers["x-forwarded-proto"] ??= "http";
    if (body !== undefined) headers["content-length"] = String(body.length);
    // Without a length Node frames no body of a GET: its bytes would be read as the next call of this connection.
    else if (request.headers["transfer-encoding"] !== undefined) headers["transfer-encoding"] = "chunked";
    const sent = (is_secure ? secure : plain)({
      hostname: url.hostname,
      port: url.port || (is_secure ? 443 : 80),
      path: `${url.pathname.replace(/\/$/, "")}${request.url}`,
      method: request.method,
      headers: headers as Record<string, string>,
      agent: is_secure ? this.#agents.https : this.#agents.http,
    });
    return new Promise((resolve) => {
      const timer = setTimeout(() => sent.destroy(new Error("no connection in time")), CONNECT_MS);
      const settle = (value: ClientRequest | null) => {
        clearTimeout(timer);
        sent.removeListener("error", failed);
        resolve(value);
      };
      const failed = () => settle(null);
      sent.once("error", failed);
      sent.once("socket", (socket) => {
        socket.setTimeout(0);
        if (!socket.connecting) settle(sent);
        else socket.once(is_secure ? "secureConnect" : "connect", () => settle(sent));
      });
    });
  }
}

/** Sends the body, and passes on what comes back. */
function answered(name: string, sent: ClientRequest, call: Forwarding): Promise<void> {
  const { request, response, body, onAnswer } = call;
  return new Promise((resolve, reject) => {
    let told = false;
    // It went while the connection was made: no event tells of it any more.
    if (response.destroyed || (request.destroyed && !request.complete)) {
      sent.on("error", () => {});
      sent.destroy();
      return resolve();
    }
    // Whether the cell has done it is not known: callers repeat what may be repeated.
    sent.on("error", () => {
      if (told) {
        // Answered before its whole body had come: the caller has its answer, and what still comes is for no one.
        if (response.writableEnded) request.resume();
        else response.destroy();
      } else reject(new Unavailable(`cell ${name} did not answer`, { hint: "look whether it was done, or try again" }));
      resolve();
    });
    response.once("close", () => {
      if (!response.writableFinished) sent.destroy();
    });
    sent.once("response", async (answer) => {
      try {
        if (onAnswer !== undefined && (await onAnswer(answer))) {
          told = true;
          answer.resume();
          return resolve();
        }
        told = true;
        const headers = Object.entries(answer.headers).filter(([one]) => !hop_by_hop.has(one));
        response.writeHead(answer.statusCode ?? 502, { ...Object.fromEntries(headers), "x-fanfold-cell": name });
        response.flushHeaders();
        answer.on("error", () => response.destroy());
        answer.once("aborted", () => response.destroy());
        answer.once("end", resolve);
        answer.once("close", resolve);
        answer.pipe(response);
      } catch (error) {
        answer.destroy();
        reject(error as Error);
      }
    });
    if (body !== undefined) sent.end(body);
    else {
      request.once("aborted", () => sent.destroy());
      // The cell may refuse it before a body comes.
      const { "content-length": length, "transfer-encoding": encoding } = request.headers;
      if (length !== undefined || encoding !== undefined) sent.flushHeaders();
      request.pipe(sent);
    }
  });
}
