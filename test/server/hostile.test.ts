// What comes over the wire when nobody means well: every one is answered in our shape or cut off, never with a 500, and the
// server goes on.
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await openService(
    {
      jobs: [defineJob({ type: "greet", stages: [{ name: "say", task: "t.say" }] })],
      handlers: [defineHandler("t.say", {}, () => null)],
    },
    { times: { headers_ms: 300, request_ms: 600, check_ms: 50 } },
  );
  key = await service.key();
});
afterAll(() => service.close());
afterEach(async () => {
  expect((await service.call("GET", "/api/health/live", { key: null })).status).toBe(200);
});

const submit = "/api/jobs/submit/greet";

interface Raw {
  text: string;
  status: number;
}

/** Sends pieces as they are and reads until the other side closes. */
function raw(pieces: Iterable<string | Buffer> | ((socket: Socket) => void), { close = false } = {}): Promise<Raw> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
    let text = "";
    const end = () => resolve({ text, status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0) });
    socket.setEncoding("latin1").on("data", (piece: string) => {
      text += piece;
      if (close && text.includes("\r\n\r\n")) socket.destroy();
    });
    socket.on("close", end).on("error", () => {});
    if (typeof pieces === "function") pieces(socket);
    else for (const piece of pieces) socket.write(piece);
  });
}

const head = (...more: string[]) =>
  [
    `POST ${submit} HTTP/1.1`,
    "host: x",
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    ...more,
    "",
    "",
  ].join("\r\n");

function isProblem({ text }: Raw): boolean {
  return (
    text.includes("application/problem+json") && JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4)).code !== undefined
  );
}

describe("bodies", () => {
  test("over the limit are refused before they are read, with and without a length", async () => {
    const told = await raw([head("content-length: 50000000"), "{"], { close: true });
    expect(told.status).toBe(413);
    expect(isProblem(told)).toBe(true);
    let sent = 0;
    const piece = Buffer.from(`10000\r\n${"x".repeat(65_536)}\r\n`);
    const counted = await raw(
      (socket) => {
        socket.write(head("transfer-encoding: chunked"));
        const more = () => {
          if (socket.destroyed || sent > 400) return;
          sent++;
          socket.write(piece, more);
        };
        more();
      },
      { close: true },
    );
    expect(counted.status).toBe(413);
    expect(sent).toBeLessThan(400);
  });

  test("that are packed are not unpacked", async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    for (const encoding of ["gzip", "br", "deflate, gzip"]) {
      const answer = await fetch(service.url + submit, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "content-encoding": encoding },
        body: bomb,
      });
      expect(answer.status).toBe(415);
      expect(await answer.json()).toMatchObject({ code: "bad_media_type", hint: expect.any(String) });
    }
  });

  const bytes = (text: string) => Buffer.from(text);
  const wrong: [string, Buffer, number][] = [
    ["null", bytes("null"), 400],
    ["a list", bytes("[]"), 400],
    ["a text", bytes('"x"'), 400],
    ["half a document", bytes('{"parameters":'), 400],
    ["bytes that are not UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), 400],
    ["UTF-16", Buffer.from('{"parameters":{}}', "utf16le"), 400],
    ["a byte order mark", bytes('\uFEFF{"parameters":{}}'), 400],
    ["a depth of 100,000", bytes(`{"parameters":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`), 400],
    ["a list of that depth", bytes(`{"parameters":{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`), 400],
    ["keys that come twice", bytes('{"parameters":{"a":1,"a":2}}'), 400],
    ["1e400", bytes('{"parameters":{"a":1e400}}'), 400],
    ["NUL", bytes('{"parameters":{"a":"\\u0000"}}'), 400],
    ["half a surrogate pair", bytes('{"parameters":{"a":"\\ud800"}}'), 400],
    ["__proto__", bytes('{"parameters":{"__proto__":{"polluted":true}}}'), 400],
    ["a million keys", bytes(`{${Array.from({ length: 150_000 }, (_, n) => `"${n}":1`).join()}}`), 413],
  ];
  test.each(wrong)("of %s are refused with what is wrong", async (_, body, status) => {
    const answer = await fetch(service.url + submit, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body,
    });
    const told = (await answer.json()) as { code: string; detail: string };
    expect([status, 400]).toContain(answer.status);
    expect(answer.headers.get("content-type")).toContain("application/problem+json");
    expect(told.detail).not.toMatch(/\bat \/|node_modules|Error:/);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("of another kind, or of none, are refused", async () => {
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/jsonp",
    ]) {
      const { status } = await service.call("POST", submit, { body: "{}", headers: { "content-type": type } });
      expect(status).toBe(415);
    }
    const without = await raw([
      `POST ${submit} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`,
    ]);
    expect(without.status).toBe(415);
    const worker = "/api/workers/00000000-0000-4000-8000-000000000000/finish";
    const loose = await service.call("POST", worker, {
      body: `{"tasks":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
    });
    expect(loose.status).toBe(400);
  });
});

describe("connections", () => {
  test("that send their headers or their body drop by drop are closed in time", async () => {
    const drip = (start: string, drop: string) =>
      raw((socket) => {
        socket.write(start);
        const timer = setInterval(() => socket.write(drop), 40);
        socket.on("close", () => clearInterval(timer));
      });
    const [headers, body, silent] = await Promise.all([
      drip("GET /api/health/live HTTP/1.1\r\nhost: x\r\n", "x: y\r\n"),
      drip(head("content-length: 1000"), " "),
      raw([""]),
    ]);
    expect(headers.status).toBe(408);
    expect(isProblem(headers)).toBe(true);
    expect([408, 0]).toContain(body.status);
    expect([408, 0]).toContain(silent.status);
  });

  test("with two lengths for one body, or a length that is none, are refused and closed", async () => {
    const smuggled = "0\r\n\r\nGET /api/health/live HTTP/1.1\r\nhost: x\r\n\r\n";
    for (const lines of [
      ["content-length: 6", "transfer-encoding: chunked"],
      ["transfer-encoding: chunked", "content-length: 6"],
      ["transfer-encoding: chunked, identity"],
      ["content-length: 1", "content-length: 2"],
      ["content-length: +5"],
      ["content-length : 5"],
    ]) {
      const told = await raw([head(...lines), smuggled]);
      expect(told.status).toBe(400);
      expect(told.text.match(/HTTP\/1\.1/g)).toHaveLength(1);
    }
  });

  test("with endless headers, an endless address or what is not HTTP are refused", async () => {
    const many = await raw(
      [
        "GET /api/health/live HTTP/1.1\r\nhost: x\r\n",
        ...Array.from({ length: 1000 }, (_, n) => `x${n}: ${"y".repeat(90)}\r\n`),
      ],
      { close: true },
    );
    expect([431, 0]).toContain(many.status);
    const long = await raw([`GET /api/jobs?cursor=${"x".repeat(2_000_000)} HTTP/1.1\r\nhost: x\r\n\r\n`], {
      close: true,
    });
    expect([431, 400, 0]).toContain(long.status);
    const other = await raw(["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"]);
    expect(other.status).toBe(400);
    expect((await raw(["GET / HTTP/9.9\r\n\r\n"])).status).toBe(400);
    expect((await raw(["BREW /api/jobs HTTP/1.1\r\nhost: x\r\n\r\n"])).status).toBe(400);
  });
});

describe("calls", () => {
  test("with the key in the address are not let in", async () => {
    for (const name of ["key", "api_key", "access_token", "authorization"]) {
      expect((await service.call("GET", `/api/jobs?${name}=${key}`, { key: null })).status).toBe(401);
      const both = await service.call("GET", `/api/jobs?${name}=${key}`);
      expect(both.status).toBe(400);
      expect(JSON.stringify(both.body)).not.toContain(key);
    }
  });

  test("from another origin get nothing that lets a browser in", async () => {
    const preflight = await service.call("OPTIONS", submit, {
      key: null,
      headers: { origin: "https://evil.example", "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(405);
    expect(preflight.headers.get("allow")).toBe("POST");
    const called = await service.call("GET", "/api/jobs", { headers: { origin: "https://evil.example" } });
    for (const { headers } of [preflight, called]) {
      expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
    }
  });

  test("with a method that a path does not take are refused for that, whatever they carry", async () => {
    for (const method of ["QUERY", "PROPFIND", "DELETE"]) {
      for (const headers of [{}, { "content-type": "nonsense" }] as Record<string, string>[]) {
        const told = await service.call(method, "/api/blueprints", {
          headers,
          ...(method === "DELETE" ? { body: "{" } : {}),
        });
        expect([method, headers, told.status, told.headers.get("allow")]).toEqual([method, headers, 405, "GET, HEAD"]);
      }
    }
    // It is a path of its own, not a job type that is called so.
    const hidden = await service.call("PUT", "/api/blueprints/validate", { body: {} });
    expect([hidden.status, hidden.headers.get("allow")]).toEqual([405, "POST"]);
  });

  test("with a method that a path does not take are told which it takes; HEAD is GET without a body", async () => {
    const wrong = await service.call("DELETE", "/api/jobs");
    expect(wrong).toMatchObject({ status: 405, body: { code: "method_not_allowed" } });
    expect(wrong.headers.get("allow")).toBe("GET, HEAD");
    const asked = await service.call("HEAD", "/api/jobs");
    expect(asked).toMatchObject({ status: 200, body: "" });
    expect((await service.call("HEAD", "/api/stream")).status).toBe(200);
    expect((await service.call("HEAD", "/api/jobs", { key: null })).status).toBe(401);
  });

  test("that wander through the path find nothing", async () => {
    for (const path of [
      "/api/jobs/submit/..%2f..%2fetc%2fpasswd",
      "/api/jobs/submit/%2e%2e",
      "/api/..%5c..%5cwindows",
      "/api/jobs/%00",
      "/api/jobs/submit/%C0%AE%C0%AE",
      "/api/jobs/submit/%",
      `/api/jobs/submit/${"a".repeat(5000)}`,
      "//api//jobs",
      "/API/JOBS",
      "/api/jobs/submit/constructor",
      "/api/jobs/submit/__proto__",
    ]) {
      const told = await raw([
        `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`,
      ]);
      expect([400, 404, 405, 414]).toContain(told.status);
      expect(isProblem(told)).toBe(true);
    }
  });
});

describe("a body of very many small values", () => {
  const worker = "/api/workers/00000000-0000-4000-8000-000000000000";
  const first = (body: { problems: { path: string; problem: string }[] }) =>
    body.problems.map(({ problem }) => problem);

  test("is refused at the first too many, before anything else looks at it", async () => {
    const digits = `{"parameters":{"a":[${"0,".repeat(200_000)}0]}}`;
    const small = await service.call("POST", submit, { key, body: digits });
    expect([small.status, first(small.body)]).toEqual([400, ["holds more than 150000 values"]]);
    const objects = `{"items":[${"{},".repeat(1_100_000)}{}]}`;
    const bulk = await service.call("POST", "/api/tasks/enqueue/t.say", { key, body: objects });
    expect([bulk.status, first(bulk.body)]).toEqual([400, ["holds more than 1000000 values"]]);
    const loose = await service.call("POST", `${worker}/finish`, {
      key,
      body: `{"tasks":[${"0,".repeat(1_100_000)}0]}`,
    });
    expect([loose.status, first(loose.body)]).toEqual([400, ["holds more than 1000000 values"]]);
  });

  test.each([
    ["/api/tasks/enqueue/t.say", `{"items":[${"{},".repeat(400_000)}0]}`, "must have at most 5000 entries"],
    [`${worker}/finish`, `{"tasks":[${"0,".repeat(400_000)}0]}`, "must have at most 1000 entries"],
    [`${worker}/heartbeat`, `{"claims":[${'"",'.repeat(100_000)}0]}`, "must have at most 10000 entries"],
  ])("in a list that is too long is one problem: %s", async (path, body, problem) => {
    const answered = await service.call("POST", path, { key, body });
    expect([answered.status, first(answered.body)]).toEqual([400, [problem]]);
  });
});
