// The HTTP server as a Fastify application: bodies are bounded and parsed strictly, callers are known before anything else is
// looked at, and every error has one shape.
import { randomUUID } from "node:crypto";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import { default_body_values, type Endpoint } from "../core/api/endpoint.js";
import { metrics_api } from "../core/api/metrics.js";
import { type ProblemDetails, problem_media_type } from "../core/api/problem.js";
import { ContractViolation, NotFound, Stopping } from "../core/errors/errors.js";
import { asCallIfAny } from "../core/shown/action.js";
import { json_limits, parseJson, parseLoosely } from "../core/values/json.js";
import type { TrustedProxies } from "../core/values/setting_values.js";
import type { Engine } from "../engine/engine.js";
import { type Authenticator, assertScope, holderOf, type Principal } from "./access/auth.js";
import { registerUploadParts } from "./files/upload_parts.js";
import { registerWorkerUploads } from "./files/worker_uploads.js";
import { registerZoneFiles } from "./files/zone_files.js";
import { type CallPlace, leaveWith } from "./http/call_places.js";
import { allowOrigins } from "./http/cors.js";
import { AllowedMethods, MethodNotAllowed } from "./http/methods.js";
import { tellError } from "./http/problems.js";
import { checked } from "./http/request_problems.js";
import { type Call, JsonText, OtherAnswer, type Route } from "./http/route.js";
import { closeInTime, refuseEncoding, refuseType, type SocketTimes, socketOptions } from "./http/socket.js";
import { RequestTraces } from "./http/tracing.js";
import { isSmallSubmit } from "./jobs/gathered_submits.js";
import { Metrics } from "./metrics/metrics.js";
import { serveDashboard, withoutBasePath } from "./pages/dashboard.js";
import { allRoutes } from "./routes/index.js";
import { Service, type ServiceOptions } from "./service.js";

export interface AppOptions extends ServiceOptions {
  /** How long calls that run may go on once the server is told to close. */
  grace_ms?: number;
  /** A caller who has it may read /metrics, and nothing else. Without one it takes an operator's key. */
  metrics_token?: string | undefined;
  /** Pages of these origins may read the catalogue and its files; "*": of any. */
  cors_origins?: readonly string[] | undefined;
  /** Where the dashboard was built to; tests have their own. */
  dashboard_folder?: string | undefined;
  /** How long a caller may take; tests give short times. */
  times?: Partial<SocketTimes>;
  /** Check every answer against the contract, for tests: one that does not fit is a 500. */
  check_replies?: boolean;
}

export function createApp(options: AppOptions): FastifyInstance {
  const { engine } = options;
  const rewriteUrl = withoutBasePath(options.public_url);
  const app = fastify({
    ...(rewriteUrl === undefined ? {} : { rewriteUrl }),
    logger: false,
    genReqId: () => randomUUID(),
    // Whose X-Forwarded-For is believed: nobody's, unless somebody says so.
    trustProxy: trustOf(options.trust_proxy),
    bodyLimit: 1024,
    // Our own 503 is told in our own shape.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: 300, ignoreTrailingSlash: true, caseSensitive: true },
    // What the router refuses before there is a route, such as %ff in a path.
    frameworkErrors: (error, request, reply) => void sendError(engine, traces, error, request, reply),
    ...socketOptions(options.times),
  });
  const traces = new RequestTraces(app);
  const metrics = new Metrics(app, engine, options.metrics_token);
  const service = new Service(options);
  app.decorate("service", service);
  app.removeAllContentTypeParsers();
  const all = allRoutes();
  const types = ["application/json", ...new Set(all.flatMap(({ endpoint }) => endpoint.body_types))];
  app.addContentTypeParser(types, { parseAs: "buffer" }, async (request: FastifyRequest, body: Buffer) => {
    const endpoint = taken.get(`${request.method} ${request.routeOptions.url}`);
    refuseType(request, endpoint?.body_types ?? []);
    if (body.length === 0) return undefined;
    const max_values = endpoint?.body_values ?? default_body_values;
    return endpoint?.loose ? parseLoosely(body, max_values) : parseJson(body, { ...json_limits, max_values });
  });
  app.setErrorHandler((error, request, reply) => sendError(engine, traces, error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    throw noSuchCall(request, reply, methods);
  });
  app.addHook("onRequest", async (request) => {
    if (service.stopping.aborted && service.closing) {
      throw new Stopping("the server is stopping", { hint: "try again: another one may answer" });
    }
    refuseEncoding(request);
  });
  allowOrigins(app, options.cors_origins ?? []);
  // Before the body is read: whatever it is, there is nobody to take it.
  app.addHook("onRequest", async (request, reply) => {
    if (request.is404 || methods.isHidden(request.url, request.routeOptions.url ?? ""))
      throw noSuchCall(request, reply, methods);
  });
  closeInTime(app, options.grace_ms ?? 20_000, () => service.stop());
  app.addHook("onSend", async (request, reply) => {
    reply.headers({ "x-request-id": request.id, "x-content-type-options": "nosniff" });
    if (!reply.hasHeader("cache-control")) reply.header("cache-control", "no-store");
    if (service.stopping.aborted) reply.header("connection", "close");
  });
  const { authenticator } = service;
  app.addHook("onClose", async () => authenticator.close?.());
  const engines = new EnginesByTenant(engine);
  const methods = new AllowedMethods(all);
  const taken = new Map(all.map(({ endpoint }) => [`${endpoint.method} ${routerPath(endpoint)}`, endpoint]));
  // A caller who only knows where the service is finds what it is.
  serveDashboard(app, { folder: options.dashboard_folder, basePath: service.basePath, log: engine.log });
  registerZoneFiles(app, { authenticator, service, engines, cors_origins: options.cors_origins ?? [] });
  registerUploadParts(app, { authenticator, service, engines });
  registerWorkerUploads(app, { authenticator, service, engines });
  for (const route of all)
    register(app, route, { authenticator, engines, service, metrics, traces, check: options.check_replies === true });
  return app;
}

function noSuchCall({ method, url }: FastifyRequest, reply: FastifyReply, methods: AllowedMethods): Error {
  const path = url.split("?")[0] ?? "";
  const allowed = methods.of(url);
  if (allowed.length === 0)
    return new NotFound(`there is no ${method} ${path.slice(0, 200)}`, { hint: "GET /api/docs lists what there is" });
  reply.header("allow", allowed.join(", "));
  return new MethodNotAllowed(method, allowed, path);
}

function trustOf(trusted: TrustedProxies = 0) {
  if (typeof trusted !== "number") return [...trusted];
  return trusted === 0 ? false : (_: string, hop: number) => hop < trusted;
}

function routerPath({ path }: Endpoint): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

interface Parts {
  authenticator: Authenticator;
  service: Service;
  engines: EnginesByTenant;
  metrics: Metrics;
  traces: RequestTraces;
  check: boolean;
}

const nobody: Principal = { tenant_id: "", actor: "anonymous", key_id: null, scopes: new Set(), operator: false };
/** The bearer of an address that was signed here reads what it names. */
const signed_reader: Principal = { ...nobody, actor: "signed address", scopes: new Set(["read"]) };
/** A caller who sends no credential reads the layers that the operator has opened. */
const open_reader: Principal = { ...nobody, actor: "anybody", scopes: new Set(["read"]), is_stranger: true };
/** A caller who needs no credential takes no tenant's place. */
const stranger = { principal: nobody, place: { enter: () => {}, wait: () => {}, leave: () => {} } };

function register(app: FastifyInstance, route: Route, parts: Parts): void {
  const { endpoint, answer, signedTenant, reads_layers = false } = route;
  const { authenticator, engines, service, metrics, traces, check } = parts;
  const callers = new WeakMap<FastifyRequest, { principal: Principal; place: CallPlace }>();
  app.route({
    method: endpoint.method,
    url: routerPath(endpoint),
    bodyLimit: endpoint.body_limit,
    // Before the body is read: a stranger's is not worth the memory.
    onRequest: async (request, reply) => {
      if (endpoint.scope === null) return;
      const { authorization } = request.headers;
      const of_metrics = endpoint === metrics_api.read;
      if (of_metrics && metrics.isToken(authorization)) return;
      // Scrapers have no cookies, and a page has no business with what is measured of all tenants.
      const credential = of_metrics ? authorization : service.authorizationOf(request);
      const signed = signedTenant?.(request, service) ?? null;
      const open = reads_layers && credential === undefined ? service.open_layers : null;
      const principal =
        signed !== null
          ? { ...signed_reader, tenant_id: signed }
          : open !== null
            ? { ...open_reader, tenant_id: open }
            : await authenticator.authenticate(credential, request.ip);
      assertScope(principal, endpoint.scope, endpoint.operator === true);
      const place = service.calls.take(holderOf(principal), isSmallSubmit(endpoint, request));
      leaveWith(reply.raw, place);
      callers.set(request, { principal, place });
      traces.tenant(request, principal.tenant_id);
    },
    handler: async (request, reply) => {
      const { principal, place } = callers.get(request) ?? stranger;
      const { params, query, body } = checked(endpoint, request);
      let heard: AbortSignal | undefined;
      const call: Call = {
        params,
        query,
        body,
        principal,
        place,
        request,
        reply,
        service,
        metrics,
        traceparent: traces.traceparent(request),
        // A call that reads piece by piece asks for it again and again: it listens to the answer once.
        get signal() {
          heard ??= whileHeard(reply);
          return heard;
        },
        engine: engines.of(principal.tenant_id),
        get log() {
          const { tenant_id } = principal;
          return engines.engine.log.child({ request_id: request.id, tenant_id, trace_id: traces.traceId(request) });
        },
        actor: (person) => (person === undefined ? principal.actor : `${principal.actor} (${person})`),
      };
      reply.status(endpoint.status);
      const answered = await traces.within(request, () => answer(call as never));
      if (reply.sent) return reply;
      if (answered instanceof OtherAnswer) return reply.type(answered.media_type).send(answered.body);
      if (check) checkReply(endpoint, reply.statusCode, answered);
      if (answered === undefined && (reply.statusCode === 204 || reply.statusCode === 304)) return reply.send();
      if (!/\bjson\b/.test(endpoint.media_type)) return reply.type(endpoint.media_type).send(answered);
      const text =
        answered instanceof JsonText ? answered.text : answered === undefined ? "" : JSON.stringify(answered);
      if (endpoint.media_type !== "application/json") return reply.type(endpoint.media_type).send(Buffer.from(text));
      return reply.type("application/json; charset=utf-8").send(text);
    },
  });
}

/** Aborted when the caller is gone. Made for those who ask: most calls are over sooner. */
function whileHeard(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  // The answer's end: the request is closed as soon as its body was read.
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  if (reply.raw.destroyed) gone.abort();
  return gone.signal;
}

function checkReply(endpoint: Endpoint, status: number, answered: unknown): void {
  const other = endpoint.other_answers[status];
  if (status !== endpoint.status && other !== undefined && other.schema === undefined && answered === undefined) return;
  const schema = status === endpoint.status ? endpoint.reply : other?.schema;
  const result = schema?.safeParse(answered === undefined ? undefined : JSON.parse(JSON.stringify(answered)));
  if (result?.success === true) return;
  const why = result === undefined ? `status ${status} is not in the contract` : String(result.error);
  throw new ContractViolation(`${endpoint.method} ${endpoint.path} answered what it must not: ${why}`);
}

async function sendError(
  engine: Engine,
  traces: RequestTraces,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { problem: plain, is_ours } = tellError(error, request.id);
  const { problem_type = plain.type } = error as { problem_type?: string };
  const problem = isOgc(request.url) ? { ...plain, type: problem_type, description: described(plain) } : plain;
  if (is_ours) {
    const url = request.url.split("?")[0];
    engine.log.error({ err: error, request_id: request.id, trace_id: traces.traceId(request), url }, "a call failed");
  }
  if (problem.retry_after_s !== undefined) reply.header("retry-after", String(problem.retry_after_s));
  if (problem.status === 401) reply.header("www-authenticate", "Bearer");
  const media_type = isOfProcesses(request.url) ? "application/json" : problem_media_type;
  return reply.status(problem.status).type(media_type).send(JSON.stringify(problem));
}

/** Clients of OGC's APIs, of which STAC is one, look for `code` and `description`. */
function isOgc(url: string): boolean {
  return /^\/(?:stac|ogc)(?:[/?]|$)/.test(url);
}

/** Its standard gives exceptions as plain JSON. */
function isOfProcesses(url: string): boolean {
  return /^\/ogc\/(?:processes|jobs)(?:[/?]|$)/.test(url);
}

function described({ detail, problems = [], hint }: ProblemDetails): string {
  const found = problems.map(({ path, problem, fix }) => [`${path}: ${problem}`, fix].filter(Boolean).join(". "));
  return [detail, ...(found.length > 0 || hint === undefined ? found : [hint])].join("; ");
}

/** One engine for each tenant that calls; they share connections. A caller without a tenant gets the server's own. */
class EnginesByTenant {
  readonly #engines: LRUCache<string, Engine>;

  constructor(readonly engine: Engine) {
    this.#engines = new LRUCache({ max: 10_000, memoMethod: (tenant) => engine.forTenant(tenant, asCallIfAny) });
  }

  of(tenant: string): Engine {
    return tenant === "" ? this.engine : this.#engines.memo(tenant);
  }
}
