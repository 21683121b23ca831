// The router before servers of the plainest kind: what reaches a cell, and as whose call. No database: what cells know of credentials is written down here.
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { keyText, makeKey, secretHash } from "../../src/core/values/api_key.js";
import type { Cell, Home, HomeQuestion } from "../../src/engine/cells/cells.js";
import type { Database } from "../../src/engine/database/database.js";
import { callFrom, trustsOf } from "../../src/server/cells/callers.js";
import { type RouterOptions, startRouter } from "../../src/server/cells/router.js";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** A server that answers with what it was asked, and the calls that it saw. */
async function openServer(answer?: RequestListener): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server: Server = createServer(async (request, response) => {
    if (request.url === "/api/health/ready") return void response.end("{}");
    if (answer !== undefined) return answer(request, response);
    const { method = "", url = "", headers } = request;
    seen.push({ method, url, headers, body: await text(request) });
    response.end(`${method} ${url}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

type Knows = (question: HomeQuestion) => Home | null;

function cellOf(number: number, urls: string[], knows: Knows = () => null): Cell {
  const db = {
    sql: async (_: TemplateStringsArray, question: string) => [{ reply: knows(JSON.parse(question)) }],
  } as unknown as Database;
  const files = { storage: "", bronze: "", silver: "", gold: "" };
  return { name: "abc"[number]!, number, urls, database_url: "", files, db };
}

async function openRouter(cells: Cell[], more: Partial<RouterOptions> = {}) {
  const router = await startRouter({ cells, log: pino({ level: "silent" }), port: 0, grace_s: 1, ...more });
  closing.push(() => router.kill());
  return router;
}

/** Says these bytes on a connection of its own, and gives what comes until it holds so many answers. */
function say(url: string, bytes: string, answers = 1): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let said = "";
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const done = () => {
      resolve(said);
      socket.destroy();
    };
    socket.on("data", (piece) => {
      said += piece;
      if (said.split("HTTP/1.1 ").length > answers && said.endsWith("\r\n0\r\n\r\n")) done();
    });
    socket.on("end", done);
    socket.on("error", reject);
  });
}

test.each(["GET", "HEAD", "DELETE", "OPTIONS", "POST"])(
  "what a %s brings as its body is never taken for another call",
  async (method) => {
    const { url, seen } = await openServer();
    const router = await openRouter([cellOf(0, [url])]);
    const inner = "GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n";
    const chunked = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
    const ended = "Transfer-Encoding: chunked\r\nConnection: close";
    await say(router.url, `${method} /first HTTP/1.1\r\nHost: x\r\n${ended}\r\n\r\n${chunked}`);
    // Over the same connection to the cell, if it was kept.
    expect(await (await fetch(`${router.url}/next`)).text()).toBe("GET /next");
    expect(seen.map((one) => [one.method, one.url, one.body])).toEqual([
      [method, "/first", inner],
      ["GET", "/next", ""],
    ]);
  },
);

const key = makeKey("live", Buffer.alloc(40, 7));
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

/** Has that tenant, and none of its keys. */
const having =
  (tenant_id: string): Knows =>
  (question) =>
    "tenant_id" in question && question.tenant_id === tenant_id ? { tenant_id, state: null, key: null } : null;

/** Knows this key, as one of that tenant. */
const knowing =
  (tenant_id: string, { operator = false } = {}): Knows =>
  (question) => {
    if (!("key_id" in question) || question.key_id !== key.key_id) return null;
    const { key_id, env, secret } = key;
    const secret_hash = secretHash(secret);
    const scopes = ["read" as const, "admin" as const];
    const found = { key_id, tenant_id, env, scopes, operator, secret_hash, usable: true, usable_for_s: null };
    return { tenant_id, state: null, key: found };
  };

test("who makes no tenants is not told which there are, and where", async () => {
  const { url, seen } = await openServer();
  const there = cellOf(1, [url], having("secret"));
  const make = async (cells: Cell[], headers: Record<string, string>) => {
    const { url: at } = await openRouter(cells);
    const call = { method: "POST", headers, body: JSON.stringify({ tenant_id: "secret" }) };
    const answer = await fetch(`${at}/api/tenants`, call);
    return [answer.status, (await answer.text()).includes("lives in cell b")];
  };
  const operated = [cellOf(0, [url], knowing("default", { operator: true })), there];
  expect(await make(operated, {})).toEqual([200, false]);
  expect(await make(operated, bearer(keyText({ ...key, secret: key.secret.replace(/^./, "_") })))).toEqual([
    200,
    false,
  ]);
  expect(await make([cellOf(0, [url], knowing("default")), there], bearer(keyText(key)))).toEqual([200, false]);
  // What these may is the cell's to say; the operator's call comes no further than here.
  expect(seen).toHaveLength(3);
  expect(await make(operated, bearer(keyText(key)))).toEqual([409, true]);
  expect(seen).toHaveLength(3);
});

const said = {
  "x-forwarded-for": "203.0.113.9, 10.0.0.7",
  "x-forwarded-host": "made.up",
  "x-forwarded-proto": "https",
  "x-forwarded-prefix": "/made/up",
  forwarded: "for=203.0.113.9",
};

test.each([
  ["no proxy", 0],
  ["other networks", ["10.0.0.0/8"]],
] as const)("what a stranger says of its way reaches no cell (trusted: %s)", async (_, trust_proxy) => {
  const { url, seen } = await openServer();
  const router = await openRouter([cellOf(0, [url])], { trust_proxy });
  await fetch(`${router.url}/x`, { headers: said });
  const { headers } = seen[0]!;
  expect(headers).toMatchObject({ "x-forwarded-for": "127.0.0.1", "x-forwarded-proto": "http" });
  for (const name of ["x-forwarded-host", "x-forwarded-prefix", "forwarded"]) expect(headers).not.toHaveProperty(name);
});

test.each([1, ["127.0.0.0/8"]])(
  "what a proxy of ours (%j) says is passed on, with its own address",
  async (trust_proxy) => {
    const { url, seen } = await openServer();
    const router = await openRouter([cellOf(0, [url])], { trust_proxy });
    await fetch(`${router.url}/x`, { headers: said });
    expect(seen[0]!.headers).toMatchObject({ ...said, "x-forwarded-for": "203.0.113.9, 10.0.0.7, 127.0.0.1" });
  },
);

test.each([
  [0, "::ffff:192.0.2.1", "192.0.2.1"],
  [1, "10.0.0.1", "10.0.0.7"],
  [2, "10.0.0.1", "203.0.113.9"],
  [9, "10.0.0.1", "203.0.113.9"],
  [["10.0.0.0/8"], "::ffff:10.0.0.1", "203.0.113.9"],
  [["10.0.0.1"], "10.0.0.1", "10.0.0.7"],
  [["10.0.0.0/8"], "192.0.2.1", "192.0.2.1"],
] as const)("with %j trusted, a call of %s is counted for %s", (trusted, remoteAddress, address) => {
  const request = { headers: said, socket: { remoteAddress } } as unknown as IncomingMessage;
  expect(callFrom(request, trustsOf(trusted)).address).toBe(address);
});

test("wrong credentials of an address do not keep those out that are known", async () => {
  const { url } = await openServer();
  const router = await openRouter([cellOf(0, [url], knowing("acme"))]);
  const call = async (text: string) => (await fetch(`${router.url}/x`, { headers: bearer(text) })).status;
  expect(await call(keyText(key))).toBe(200);
  const wrong = keyText(makeKey("live", Buffer.alloc(40, 9)));
  const statuses: number[] = [];
  while (statuses.at(-1) !== 429 && statuses.length < 100) statuses.push(await call(wrong));
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
  expect(await call(keyText(key))).toBe(200);
});

test("callers without a credential fill no cell: its tenants are served, and what has gone gives its place back", async () => {
  const { url } = await openServer((request, response) => void (request.url === "/hang" || response.end("served")));
  const router = await openRouter([cellOf(0, [url], knowing("acme"))]);
  const servers = router.router.servers.get("a")!;
  const leaving = new AbortController();
  const hanging = Array.from({ length: 200 }, () =>
    fetch(`${router.url}/hang`, { signal: leaving.signal }).catch(() => null),
  );
  await expect.poll(() => servers.under_way, { timeout: 10_000 }).toBe(200);
  expect((await fetch(`${router.url}/x`)).status).toBe(429);
  expect(await (await fetch(`${router.url}/x`, { headers: bearer(keyText(key)) })).text()).toBe("served");
  leaving.abort();
  await Promise.all(hanging);
  await expect.poll(() => servers.under_way, { timeout: 10_000 }).toBe(0);
  expect((await fetch(`${router.url}/x`)).status).toBe(200);
  expect(servers.under_way_of.size).toBe(0);
});

/** A moment that a test waits for. */
function mark(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

test("who goes while its cell is looked for holds no place in it", async () => {
  const { url } = await openServer(() => {});
  const cell = cellOf(0, [url]);
  const asked = mark();
  const answered = mark();
  const home = [{ reply: knowing("acme")({ key_id: key.key_id }) }];
  const sql = async () => {
    asked.resolve();
    await answered.promise;
    return home;
  };
  const { router, url: at } = await openRouter([{ ...cell, db: { sql } as unknown as Database }]);
  const left = mark();
  const ended = mark();
  const handle = router.handle.bind(router);
  router.handle = async (request, response) => {
    response.once("close", left.resolve);
    await handle(request, response);
    ended.resolve();
  };
  const { hostname, port } = new URL(at);
  const socket = connect(Number(port), hostname);
  const { authorization } = bearer(keyText(key));
  socket.write(`POST /x HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Length: 9\r\n\r\nhalf`);
  await asked.promise;
  socket.destroy();
  await left.promise;
  answered.resolve();
  await ended.promise;
  expect(router.servers.get("a")!.under_way).toBe(0);
});

test("a cell refuses a call before its body comes", async () => {
  const { url } = await openServer((_, response) => {
    response.writeHead(401, { "transfer-encoding": "chunked" });
    response.end("no");
  });
  const router = await openRouter([cellOf(0, [url])]);
  const head = "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n";
  expect(await say(router.url, head)).toMatch(/^HTTP\/1.1 401 /);
});

test("layers that anybody may read are read in the cell of their tenant, and nothing else goes there for that", async () => {
  const [first, second] = [await openServer(), await openServer()];
  const cells = [cellOf(0, [first.url]), cellOf(1, [second.url], having("open_data"))];
  const router = await openRouter(cells, { open_layers: "open_data" });
  const cell = async (path: string, headers = {}) =>
    (await fetch(`${router.url}${path}`, { headers })).headers.get("x-fanfold-cell");
  expect(await cell("/ogc/collections")).toBe("b");
  expect(await cell("/ogc")).toBe("b");
  expect(await cell("/ogc/collections", { authorization: "Basic eDp5" })).toBe("a");
  expect(await cell("/ogcs")).toBe("a");
});
