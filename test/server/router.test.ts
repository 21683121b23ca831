// The router before servers of the plainest kind: what reaches a cell, and as whose call. No database: what cells know of credentials is written down here.
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import type { Cell, Home, HomeQuestion } from "../../src/engine/cells/cells.js";
import type { Database } from "../../src/engine/database/database.js";
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
