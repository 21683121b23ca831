// Puts a connector in front of a hostile host, fault by fault, and tells what it made of each. Needs no database and no worker:
// `import { testConnector } from "fanfold/connectors-testing"` in a connector's own tests.
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import type { Handler } from "../../../core/declare/declare.js";
import { classify } from "../../../core/errors/errors.js";
import type { Failure } from "../../../core/errors/failures.js";
import { default_policy, type OutboundPolicy } from "../../../core/places/outbound.js";
import type { SqlSession, TaskContext } from "../../../core/task/context.js";
import { openFolderStore } from "../../../storage/folder_store.js";
import { selfSigned } from "./certificate.js";
import { type Fault, faults } from "./faults.js";

export { type Certificate, selfSigned } from "./certificate.js";
export { type Fault, faults } from "./faults.js";

export interface ConnectorTest {
  connector: Handler;
  /** The parameters of a task that calls this address, http://127.0.0.1:port or https. */
  parameters(url: string): Record<string, unknown>;
  /** What a well host answers: the connector must complete with it. */
  healthy: { status?: number; headers?: Readonly<Record<string, string>>; body?: string };
  /** Configurations by name; `url` is the host's address. */
  configurations?(url: string): Readonly<Record<string, Record<string, unknown>>>;
  secrets?: Readonly<Record<string, string>>;
  /** How long a host that never ends its answer is waited for. Default: 500. */
  timeout_ms?: number;
  /** Names of faults to leave out, when a connector rightly sees them otherwise. */
  except?: readonly string[];
}

export interface FaultReport {
  fault: string;
  expected: readonly string[];
  got: string;
  is_right: boolean;
  /** What the connector threw; null when it completed. */
  failure: Failure | null;
  result: unknown;
}

const PATIENCE_MS = 20_000;

/** One report for each fault, the well host first. */
export async function testConnector(test: ConnectorTest): Promise<FaultReport[]> {
  const { status = 200, headers = {}, body = "" } = test.healthy;
  const lines = Object.entries({ ...headers, "content-length": Buffer.byteLength(body) });
  const healthy: Fault = {
    name: "a well host",
    expected: ["completed"],
    answer: (socket) =>
      socket.end(
        `HTTP/1.1 ${status} OK\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`,
      ),
  };
  const chosen = faults.filter(({ name }) => !test.except?.includes(name));
  const reports: FaultReport[] = [];
  for (const fault of [healthy, ...chosen]) reports.push(await tried(test, fault));
  return reports;
}

async function tried(test: ConnectorTest, fault: Fault): Promise<FaultReport> {
  // That somebody came is all there is to know of a redirect that was followed: nobody is kept waiting.
  const elsewhere = await listen((socket) => socket.destroy());
  const host = await listen((socket) => fault.answer(socket, elsewhere.url), fault.tls);
  const folder = await mkdtemp(join(tmpdir(), "fanfold-harness-"));
  // What does end by itself is given time, however busy the machine is.
  const timeout_ms = fault.endless ? (test.timeout_ms ?? 500) : PATIENCE_MS;
  const policy: OutboundPolicy = {
    ...default_policy,
    allow_http: true,
    refusal_ms: 0,
    max_redirects: 3,
    // Were a redirect followed, it would be seen to be.
    allow_private: [`127.0.0.1:${host.port}`, `127.0.0.1:${elsewhere.port}`],
    connect_timeout_ms: timeout_ms,
    headers_timeout_ms: timeout_ms,
    total_timeout_ms: timeout_ms,
    max_response_bytes: 1024 * 1024,
  };
  let failure: Failure | null = null;
  let result: unknown;
  try {
    const parameters = test.connector.options.parameters?.parse(test.parameters(host.url)) ?? test.parameters(host.url);
    result = await test.connector.run(parameters, contextFor(test, host.url, policy, folder));
  } catch (error) {
    failure = classify(error);
  } finally {
    await Promise.all([host.close(), elsewhere.close(), rm(folder, { recursive: true, force: true })]);
  }
  const got = failure?.category ?? "completed";
  const is_right =
    (fault.expected as readonly string[]).includes(got) &&
    (fault.retry_after_s === undefined || failure?.retry_after_s === fault.retry_after_s) &&
    (host.connections() > 0 || fault.expected.includes("completed")) &&
    elsewhere.connections() === 0;
  const expected = fault.retry_after_s === undefined ? fault.expected : [`throttled for ${fault.retry_after_s} s`];
  return { fault: fault.name, expected, got, is_right, failure, result };
}

interface Host {
  port: number;
  url: string;
  connections(): number;
  close(): Promise<void>;
}

async function listen(answer: (socket: Socket) => void, tls = false): Promise<Host> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const certificate = tls ? selfSigned("another.example.com") : null;
  const server: Server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    const spoken = certificate === null ? socket : new TLSSocket(socket, { isServer: true, ...certificate });
    spoken.on("error", () => {});
    spoken.once("data", () => answer(spoken));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${tls ? "https" : "http"}://127.0.0.1:${port}`,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** What a connector sees of a worker; the database says yes to every call. */
function contextFor(test: ConnectorTest, url: string, outbound: OutboundPolicy, folder: string): TaskContext {
  const quiet = () => {};
  const session: SqlSession = {
    async sql<Row>(strings: TemplateStringsArray, ...values: unknown[]): Promise<Row[]> {
      const text = strings.join("");
      if (!text.includes("get_connector")) return [{ reply: { granted: true, slot_id: 1 } }] as Row[];
      const config = test.configurations?.(url)[String(values[1])];
      return [{ reply: config === undefined ? null : { config } }] as Row[];
    },
  };
  const given: Partial<TaskContext> = {
    task_id: "1-0",
    tenant_id: "default",
    job_id: null,
    task_type: test.connector.name,
    stage: "test",
    ordinal: 0,
    index: "0",
    attempt: 1,
    metadata: null,
    job: null,
    effect_key: "e".repeat(64),
    outbound,
    progress: quiet,
    next_stage_params: quiet,
    deliver: quiet,
    predecessor: async () => null,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    signal: new AbortController().signal,
    storage: openFolderStore(folder),
    scratch: async () => folder,
    db: (work) => work(session),
    secret: async (name) => test.secrets?.[name.replace(/^secret:\/\//, "")] ?? "a-secret-of-the-harness",
  };
  return given as TaskContext;
}
