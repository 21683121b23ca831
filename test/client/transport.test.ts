// Calls over a real line: what is tried again and what is not, how refusals arrive, and that the key goes nowhere else.
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type ClientOptions, createTransport } from "../../src/client/transport.js";
import { endpointsOf } from "../../src/core/api/endpoint.js";
import {
  BadRequest,
  ContractViolation,
  classify,
  DeclarationError,
  FanfoldError,
  NotFound,
  OverLimit,
  ParameterError,
  ValueProblems,
} from "../../src/core/errors/errors.js";
import { problem, type Step, scriptedServer, silentPlace } from "./scripted_server.js";

const key = "ff_live_abcdefghijkm_SECRETsecretSECRETsecretSECRETsecretSECRETsecr";
const endpoint = endpointsOf({ tag: "t", scope: null });
const common = { summary: "t", reply: z.object({ ok: z.boolean() }) } as const;
const body = z.object({ mode: z.string().optional(), name: z.string().optional() });
const reading = endpoint("GET /api/things", common);
const making = endpoint("POST /api/things", { ...common, body });
const submitting = endpoint("POST /api/submit", { ...common, body, repeatable: true });
const one = endpoint("GET /api/things/{id}", {
  ...common,
  params: z.strictObject({ id: z.string() }),
  query: z.strictObject({ label: z.array(z.string()).optional(), limit: z.number().optional() }),
});
const fine: Step = { status: 200, body: { ok: true } };

async function service(...steps: Step[]) {
  const server = await scriptedServer(...steps);
  const connect = (more: Partial<ClientOptions> = {}) => createTransport({ url: server.url, key, ...more });
  return { ...server, connect, ...connect() };
}

async function failure(call: Promise<unknown>): Promise<FanfoldError & { retry_after_s?: number }> {
  return call.then(
    () => Promise.reject(new Error("it did not fail")),
    (error) => error,
  );
}

describe("what is tried again", () => {
  test.each([
    ["a line that is cut", "cut" as Step],
    ["a limit", problem(429, "over_limit")],
    [
      "a gateway without a server",
      { status: 502, body: "<h1>Bad gateway</h1>", headers: { "content-type": "text/html" } },
    ],
    ["a service that cannot right now", problem(503, "unavailable")],
    ["a gateway that waited too long", { status: 504, body: "" }],
  ])("a safe call goes on after %s", async (_, trouble) => {
    const { call, asked } = await service(trouble, fine);
    expect(await call(reading)).toEqual({ ok: true });
    expect(asked.length).toBe(2);
  });

  test("a call that might do its work twice is not repeated when the line is cut or nobody knows what became of it", async () => {
    for (const trouble of ["cut", problem(503, "unavailable"), { status: 502 }, { status: 504 }] as Step[]) {
      const { call, asked } = await service(trouble, fine);
      await expect(call(making, { body: {} })).rejects.toBeInstanceOf(FanfoldError);
      expect(asked.length).toBe(1);
    }
  });

  test("it is repeated when the server surely did not begin it", async () => {
    for (const trouble of [problem(429, "over_limit"), problem(503, "stopping")]) {
      const { call, asked } = await service(trouble, fine);
      expect(await call(making, { body: { name: "x" } })).toEqual({ ok: true });
      expect(asked.map(({ body: sent }) => sent)).toEqual(['{"name":"x"}', '{"name":"x"}']);
    }
  });

  test("a submit is repeated, but not one that forces a new run", async () => {
    const safe = await service("cut", fine);
    expect(await safe.call(submitting, { body: { mode: "reuse" } })).toEqual({ ok: true });
    const forced = await service("cut", fine);
    await expect(forced.call(submitting, { body: { mode: "force" } })).rejects.toMatchObject({ code: "connection" });
    expect(forced.asked.length).toBe(1);
    const keyed = await service("cut", fine);
    expect(await keyed.call(making, { body: {}, repeatable: true })).toEqual({ ok: true });
  });

  test("refusals are told at once", async () => {
    for (const [status, code] of [
      [400, "bad_request"],
      [401, "unauthenticated"],
      [404, "not_found"],
      [409, "conflict"],
      [500, "internal"],
    ] as const) {
      const { call, asked } = await service(problem(status, code), fine);
      await expect(call(reading)).rejects.toMatchObject({ code, http_status: status });
      expect(asked.length).toBe(1);
    }
  });

  test("tries are bounded, and the last trouble is what is told", async () => {
    const { connect, asked } = await service(problem(503, "unavailable"));
    await expect(connect({ retries: 2 }).call(reading)).rejects.toMatchObject({ code: "unavailable" });
    expect(asked.length).toBe(3);
  });

  test("a long Retry-After is told instead of waited for", async () => {
    const long = await service(problem(429, "over_limit", { retry_after_s: 3600 }), fine);
    const error = await failure(long.call(reading));
    expect(error).toBeInstanceOf(OverLimit);
    expect([error.retry_after_s, long.asked.length]).toEqual([3600, 1]);
  });

  test("a caller that gives up is not kept waiting, neither for an answer nor for the next try", async () => {
    const reason = new Error("gave up");
    const silent = await service(() => {});
    const controller = new AbortController();
    const call = silent.call(reading, { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 20);
    await expect(call).rejects.toBe(reason);
    const busy = await service(problem(429, "over_limit", { retry_after_s: 30 }));
    const second = new AbortController();
    const waiting = busy.call(reading, { signal: second.signal });
    setTimeout(() => second.abort(reason), 50);
    await expect(waiting).rejects.toBe(reason);
    await expect(busy.call(reading, { signal: second.signal })).rejects.toBe(reason);
    expect(busy.asked.length).toBe(1);
  });

  test("a try that takes too long is ended, also in the middle of the answer", async () => {
    const silent = await service(() => {});
    const error = await failure(silent.connect({ timeout_ms: 50, retries: 1 }).call(reading));
    expect(error).toMatchObject({ code: "timeout", category: "transient" });
    expect(silent.asked.length).toBe(2);
    const slow = await service((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"ok":');
    });
    await expect(slow.connect({ retries: 0 }).call(reading, { timeout_ms: 50 })).rejects.toMatchObject({
      code: "timeout",
    });
  });
});

describe("how refusals arrive", () => {
  test("as the class that was thrown, with problems, hint and request id", async () => {
    const problems = [{ path: "$.name", problem: "is missing", fix: "Give it." }];
    const { call } = await service(problem(400, "bad_parameters", { problems, hint: "see the docs" }));
    const error = await failure(call(reading));
    expect(error).toBeInstanceOf(ParameterError);
    expect(error).toMatchObject({
      name: "ParameterError",
      code: "bad_parameters",
      http_status: 400,
      hint: "see the docs",
      request_id: "r-1",
      problems,
    });
    expect(error.message).toBe("it is bad_parameters:\n- $.name: is missing\n  Give it.");
    for (const [code, kind] of [
      ["not_found", NotFound],
      ["bad_declaration", DeclarationError],
      ["bad_value", ValueProblems],
    ] as const) {
      const other = await service(problem(404, code, { problems }));
      expect(await failure(other.call(reading))).toBeInstanceOf(kind);
    }
  });

  test("a code of tomorrow is still an error of ours with its status; the names of every object are no codes", async () => {
    for (const code of ["brand_new", "constructor", "__proto__"]) {
      const { call } = await service(problem(418, code));
      expect(await failure(call(reading))).toMatchObject({ name: "ServiceError", code, http_status: 418 });
    }
  });

  test("what a proxy answers is told as such, without its control characters", async () => {
    const { call } = await service({
      status: 403,
      body: "<b>\u001b[31mno\u0007</b>",
      headers: { "content-type": "text/html" },
    });
    const error = await failure(call(reading));
    expect(error).toMatchObject({ code: "not_ours", http_status: 403, hint: expect.stringContaining("proxy") });
    expect(error.message).toContain("<b> [31mno </b>");
    const page = await service({ status: 200, body: "<html>", headers: { "content-type": "text/html" } });
    await expect(page.call(reading)).rejects.toBeInstanceOf(ContractViolation);
    const broken = await service({ status: 200, body: '{"ok":' });
    await expect(broken.call(reading)).rejects.toBeInstanceOf(ContractViolation);
  });

  test("nobody listening names the place; a handler that lets it through is tried again", async () => {
    const url = `${await silentPlace()}/base`;
    const error = await failure(createTransport({ url, key, retries: 0 }).call(reading));
    expect(error).toMatchObject({ name: "ConnectionError", code: "connection" });
    expect(error.message).toBe(`cannot reach ${url} (ECONNREFUSED)`);
    expect(classify(error)).toMatchObject({ category: "transient", code: "connection" });
  });

  test("a redirect is not followed, and the key does not go with it", async () => {
    const elsewhere = await service(fine);
    const { call } = await service({ status: 307, headers: { location: `${elsewhere.url}/api/things` } });
    await expect(call(reading)).rejects.toMatchObject({ code: "redirected" });
    expect(elsewhere.asked).toEqual([]);
  });
});

describe("the key", () => {
  test("is sent as a bearer token, and a function is asked for each try", async () => {
    const { connect, asked } = await service(problem(503, "unavailable"), fine);
    let turn = 0;
    await connect({ key: () => `key-${++turn}` }).call(reading);
    expect(asked.map(({ headers }) => headers.authorization)).toEqual(["Bearer key-1", "Bearer key-2"]);
    await connect({ key: null }).call(reading);
    expect(asked.at(-1)?.headers.authorization).toBeUndefined();
  });

  test("never stands in an error, nor in what the client shows of itself", async () => {
    const { connect } = await service(problem(401, "unauthenticated"), "cut");
    const client = connect({ retries: 0 });
    const errors = [
      await failure(client.call(reading)),
      await failure(client.call(reading)),
      await failure(createTransport({ url: await silentPlace(), key, retries: 0 }).call(reading)),
      await failure(Promise.resolve().then(() => createTransport({ url: "http://x", key: `${key}\nX-Evil: 1` }))),
      await failure(connect({ key: () => `${key}\r\n` }).call(reading)),
      await failure(Promise.resolve().then(() => createTransport({ url: `http://me:${key}@x`, key }))),
    ];
    const told = errors.map(
      (error) => inspect(error, { depth: 9, showHidden: true }) + error.stack + JSON.stringify(error),
    );
    for (const text of [...told, inspect(client, { depth: 9, showHidden: true })]) expect(text).not.toContain("SECRET");
  });
});

describe("what is sent", () => {
  test("names go into the path escaped, lists and numbers into the query, and nothing climbs out", async () => {
    const { call, asked } = await service(fine);
    await call(one, { params: { id: "a/b?c#d é" }, query: { label: ["x=1", "y&2"], limit: 3 } });
    expect(asked[0]?.path).toBe("/api/things/a%2Fb%3Fc%23d%20%C3%A9?label=x%3D1&label=y%262&limit=3");
    await expect(call(one, { params: { id: ".." } })).rejects.toBeInstanceOf(NotFound);
    await expect(call(one, { params: { id: "" } })).rejects.toBeInstanceOf(BadRequest);
    expect(asked.length).toBe(1);
  });

  test("a base path and slashes at the end of the url are kept in order", async () => {
    const { url, asked } = await service(fine);
    await createTransport({ url: `${url}/behind/proxy//`, key }).call(reading);
    expect(asked[0]?.path).toBe("/behind/proxy/api/things");
  });

  test("what is not JSON is told before it is sent", async () => {
    const { call, asked } = await service(fine);
    await expect(call(making, { body: { name: 1n as never } })).rejects.toBeInstanceOf(BadRequest);
    expect(asked).toEqual([]);
  });

  test("all that is wrong with the options is told at once", () => {
    const wrong = { url: "ftp://x", key: 3 as never, retries: -1, timeout_ms: 0, longest_wait_ms: 0.5 };
    const told = (() => {
      try {
        createTransport(wrong);
      } catch (error) {
        return (error as BadRequest).problems.map(({ path }) => path);
      }
    })();
    expect(told).toEqual(["url", "key", "retries", "timeout_ms", "longest_wait_ms"]);
  });
});
