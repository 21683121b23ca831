// The router: one address before all cells. By its credential each call goes to the cell where its tenant lives. It knows no tenant's data, keeps nothing, and
// any number of routers may stand beside each other.
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { problem_media_type } from "../../core/api/problem.js";
import { BadRequest, Conflict, Moving, OverLimit, Unauthenticated } from "../../core/errors/errors.js";
import type { TrustedProxies } from "../../core/values/setting_values.js";
import { type Cell, factsOf, type HomeQuestion } from "../../engine/cells/cells.js";
import { send_key } from "../access/auth.js";
import { FailedSignIns } from "../access/failed_sign_ins.js";
import { tellError } from "../http/problems.js";
import { socketOptions } from "../http/socket.js";
import type { Server } from "../server.js";
import { callFrom, type Trusts, trustsOf } from "./callers.js";
import { Forwarder, type Forwarding } from "./forward.js";
import { CellServers } from "./health.js";
import { Homes, inTime, type Known, questionOf, questionOfText } from "./homes.js";
import { operatorOf, tellCells, tellTenants } from "./lists.js";

export interface RouterOptions {
  cells: readonly Cell[];
  log: Logger;
  host?: string;
  port?: number;
  /** The claim of a token that names its tenant. */
  tenant_claim?: string;
  trust_proxy?: TrustedProxies | undefined;
  /** The tenant whose layers anybody may read, in every cell's settings as here. */
  open_layers?: string | undefined;
  grace_s?: number;
}

/** Of one cell at once: what waits for a cell that is slow keeps nobody from the others. */
const MOST_UNDER_WAY = 2_000;
/** Of these, one tenant's, and those of all callers without a credential: neither shuts the other tenants out. */
const MOST_OF_TENANT = 1_000;
const MOST_OF_STRANGERS = 200;
const MOST_READ = 64 * 1024;
/** How often it is looked whether tenants of open streams are on their way. */
const LOOK_MS = 1_000;

interface OpenStream {
  cell: Cell;
  tenant_id: string;
  end(): void;
}

export class Router {
  readonly homes: Homes;
  readonly servers: ReadonlyMap<string, CellServers>;
  readonly #forwarder = new Forwarder();
  readonly #attempts = new FailedSignIns();
  readonly #trusts: Trusts;
  readonly #streams = new Set<OpenStream>();
  #looking: NodeJS.Timeout | null = null;
  stopping = false;

  constructor(private readonly options: RouterOptions) {
    const { cells, log } = options;
    this.#trusts = trustsOf(options.trust_proxy);
    this.homes = new Homes(cells);
    this.servers = new Map(cells.map(({ name, urls }) => [name, new CellServers(name, urls, log)]));
  }

  start(): void {
    for (const one of this.servers.values()) one.start();
    const look = async () => {
      await this.#endMoved();
      if (this.#looking !== null) this.#looking = setTimeout(look, LOOK_MS);
    };
    this.#looking = setTimeout(look, LOOK_MS);
  }

  stop(): void {
    this.stopping = true;
    for (const one of this.servers.values()) one.stop();
    if (this.#looking !== null) clearTimeout(this.#looking);
    this.#looking = null;
    for (const one of this.#streams) one.end();
  }

  close(): void {
    this.#forwarder.close();
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#answer(request, response);
    } catch (error) {
      tell(error, response, this.options.log);
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { cells } = this.options;
    const path = (request.url ?? "").split("?")[0];
    if (path === "/api/health/live") return json(response, 200, { status: "ok" });
    if (path === "/api/health/ready") {
      const ready = !this.stopping && [...this.servers.values()].some((one) => one.ready);
      return json(response, ready ? 200 : 503, { status: ready ? "ready" : "not_ready" });
    }
    const across = request.method === "GET" && (path === "/api/cells" || path === "/api/tenants");
    if (across && (await operatorOf(cells, request))) {
      return json(
        response,
        200,
        await (path === "/api/cells" ? tellCells(cells, this.servers) : tellTenants(cells, request)),
      );
    }
    // Only what names its caller in its body is read here; everything else goes through as it comes.
    const names_in_body = request.method === "POST" && path === "/api/session";
    const makes_tenant = request.method === "POST" && path === "/api/tenants";
    const body = names_in_body || makes_tenant ? await read(request) : undefined;
    const said = names_in_body ? credentialIn(body) : null;
    const question = said === null ? questionOf(request, this.options.tenant_claim ?? "tenant") : questionOfText(said);
    const from = callFrom(request, this.#trusts);
    const known = question === null ? null : await this.#homeOf(question, from.address);
    const cell = known?.cell ?? (await this.#cellOfLayers(request, path)) ?? this.#anyCell();
    if (makes_tenant && (await operatorOf([cell], request))) await this.#assertFree(body, cell);
    await this.#forward(cell, { question, tenant_id: known?.tenant_id ?? null }, { request, response, body, from });
  }

  async #homeOf(question: HomeQuestion, address: string): Promise<Known> {
    // A credential that is known to be one waits for nobody's mistakes.
    const wait_s = this.homes.remembers(question) ? 0 : this.#attempts.wait(address);
    if (wait_s > 0)
      throw new OverLimit("too many calls with wrong credentials came from this address", { retry_after_s: wait_s });
    const found = await this.homes.find(question);
    if (found !== null) return found;
    this.#attempts.failed(address);
    throw new Unauthenticated("the credential is not valid in any cell", send_key);
  }

  /** Layers that anybody may read lie in one tenant's cell. */
  async #cellOfLayers({ headers }: IncomingMessage, path = ""): Promise<Cell | null> {
    const { open_layers: tenant_id } = this.options;
    const is_open = headers.authorization === undefined && /^\/ogc(\/|$)/.test(path);
    if (tenant_id === undefined || !is_open) return null;
    return (await this.homes.find({ tenant_id }))?.cell ?? null;
  }

  /** For pages, documents and refusals, which are the same everywhere. */
  #anyCell(): Cell {
    const { cells } = this.options;
    return cells.find(({ name }) => this.servers.get(name)?.ready) ?? (cells[0] as Cell);
  }

  /** A tenant lives in one cell: another of its name elsewhere could never move. */
  async #assertFree(body: Buffer | undefined, into: Cell): Promise<void> {
    const tenant_id = (parsed(body) as { tenant_id?: unknown } | null)?.tenant_id;
    if (typeof tenant_id !== "string") return;
    const found = await this.homes.find({ tenant_id });
    if (found !== null && found.cell !== into)
      throw new Conflict(`tenant "${tenant_id.slice(0, 63)}" lives in cell ${found.cell.name}`);
  }

  async #forward(
    cell: Cell,
    { question, tenant_id }: { question: HomeQuestion | null; tenant_id: string | null },
    call: Pick<Forwarding, "request" | "response" | "body" | "from">,
  ): Promise<void> {
    const { response } = call;
    const servers = this.servers.get(cell.name) as CellServers;
    if (servers.under_way >= MOST_UNDER_WAY)
      throw new OverLimit(`${MOST_UNDER_WAY} calls of cell ${cell.name} are under way`, { retry_after_s: 1 });
    const [own, most, whose] =
      tenant_id === null
        ? [servers.under_way_of.get(null) ?? 0, MOST_OF_STRANGERS, "callers without a credential"]
        : [servers.under_way_of.get(tenant_id) ?? 0, MOST_OF_TENANT, `tenant "${tenant_id}"`];
    if (own >= most) throw new OverLimit(`${most} calls of ${whose} are under way`, { retry_after_s: 1 });
    servers.under_way++;
    servers.under_way_of.set(tenant_id, own + 1);
    const streams: OpenStream[] = [];
    try {
      await this.#forwarder.forward(servers, {
        ...call,
        onAnswer: async (answer) => {
          if (question === null) return false;
          const { statusCode: status, headers } = answer;
          // The cell may know it no more because the tenant has moved, or refuse it because that is under way.
          if (status === 401 || status === 503) this.homes.forget(question);
          if (status === 401) {
            const now = await this.homes.find(question);
            if (now !== null && now.cell !== cell) throw new Moving("the tenant has just moved", { hint: "try again" });
          }
          if (headers["content-type"]?.startsWith("text/event-stream")) {
            const known = await this.homes.find(question);
            const end = () => {
              answer.destroy();
              response.end();
            };
            const stream = { cell, tenant_id: known?.tenant_id ?? "", end };
            streams.push(stream);
            this.#streams.add(stream);
          }
          return false;
        },
      });
    } finally {
      servers.under_way--;
      const left = (servers.under_way_of.get(tenant_id) ?? 1) - 1;
      if (left > 0) servers.under_way_of.set(tenant_id, left);
      else servers.under_way_of.delete(tenant_id);
      for (const stream of streams) this.#streams.delete(stream);
    }
  }

  /** Streams of tenants that have left: their readers come back, and find the other cell. Calls find it without being told. */
  async #endMoved(): Promise<void> {
    await Promise.all(
      this.options.cells.map(async (cell) => {
        const open = [...this.#streams].filter((one) => one.cell === cell);
        if (open.length === 0) return;
        const facts = await inTime(factsOf(cell)).catch(() => null);
        const gone = new Set(
          facts?.moving.filter(({ state }) => state === "closed" || state === "leaving").map((one) => one.tenant_id),
        );
        for (const one of open) if (gone.has(one.tenant_id)) one.end();
      }),
    );
  }
}

export async function startRouter(options: RouterOptions): Promise<Server & { router: Router }> {
  const { host = "127.0.0.1", port = 8080, grace_s = 20, log } = options;
  const router = new Router(options);
  const { keepAliveTimeout, requestTimeout, http } = socketOptions();
  const server = createServer({ ...http, keepAliveTimeout, requestTimeout }, (request, response) => {
    void router.handle(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = error.code === "EADDRINUSE";
      reject(taken ? new Conflict(`port ${port} of ${host} is taken by another process`, { cause: error }) : error);
    });
    server.listen(port, host, resolve);
  });
  await Promise.all([...router.servers.values()].map((one) => one.look()));
  router.start();
  log.info({ cells: options.cells.map(({ name }) => name) }, "routes to cells");
  let stopping: Promise<void> | null = null;
  const stop = () => {
    stopping ??= new Promise<void>((resolve) => {
      router.stop();
      const late = setTimeout(() => server.closeAllConnections(), grace_s * 1000);
      server.close(() => {
        clearTimeout(late);
        router.close();
        resolve();
      });
      server.closeIdleConnections();
    });
    return stopping;
  };
  const { port: bound } = server.address() as AddressInfo;
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return {
    router,
    url: `http://${name.includes(":") ? `[${name}]` : name}:${bound}`,
    stop,
    kill: () => {
      const stopped = stop();
      server.closeAllConnections();
      return stopped;
    },
  };
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    bytes += piece.length;
    if (bytes > MOST_READ) throw new BadRequest("the body is larger than this call takes");
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function parsed(body: Buffer | undefined): unknown {
  try {
    return JSON.parse(body?.toString("utf8") ?? "");
  } catch {
    // The cell says what is wrong with it.
    return null;
  }
}

function credentialIn(body: Buffer | undefined): string | null {
  const { key, code } = (parsed(body) ?? {}) as { key?: unknown; code?: unknown };
  const text = key ?? code;
  return typeof text === "string" ? text : null;
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(value));
}

function tell(error: unknown, response: ServerResponse, log: Logger): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const request_id = randomUUID();
  const { problem, is_ours } = tellError(error, request_id);
  if (is_ours) log.error({ err: error, request_id }, "a call failed at the router");
  const { status, retry_after_s } = problem;
  response.writeHead(status, {
    "content-type": problem_media_type,
    "cache-control": "no-store",
    "x-request-id": request_id,
    ...(retry_after_s === undefined ? {} : { "retry-after": String(retry_after_s) }),
    ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
    // What was not read of the call would be taken for the next one.
    connection: "close",
  });
  response.end(JSON.stringify(problem));
}
