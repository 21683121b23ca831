// The vectors of the worker protocol, which workers in every language run: against the real server, and against the code that TypeScript workers run.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineHandler } from "../../src/core/declare/declare.js";
import { classify, Permanent, Throttled, Transient } from "../../src/core/errors/errors.js";
import { resultToOutcome } from "../../src/core/task/outcomes.js";
import { jsonProblems, result_limits } from "../../src/core/values/json_values.js";
import { openService, type TestService } from "./service.js";

// biome-ignore lint/suspicious/noExplicitAny: vectors are data
type Data = any;
const vectors = (name: string): Data[] =>
  JSON.parse(readFileSync(new URL(`../vectors/worker/${name}.json`, import.meta.url), "utf8"));

/** The error that a vector describes, as code would throw it. */
function thrown({ http_status, headers, sqlstate, errno, name, own, wraps }: Data): unknown {
  if (own !== undefined) {
    const details = own.code === undefined ? {} : { code: own.code };
    if (own.kind === "throttled") return new Throttled(own.retry_after_s, own.message, details);
    return own.kind === "permanent" ? new Permanent(own.message, details) : new Transient(own.message, details);
  }
  if (wraps !== undefined) return new Error("wrapped", { cause: thrown(wraps) });
  const error = Object.assign(new Error("thrown"), http_status === undefined ? {} : { status: http_status, headers });
  if (sqlstate !== undefined || errno !== undefined) Object.assign(error, { code: sqlstate ?? errno });
  if (name !== undefined) error.name = name;
  return error;
}

test.each(vectors("classification"))("an error is classified: $what", ({ error, gives }) => {
  const { category, code, retry_after_s } = classify(thrown(error));
  expect({ category, code, ...(retry_after_s === undefined ? {} : { retry_after_s }) }).toEqual(gives);
});

test.each(vectors("values"))("a value can be stored or not: $what", ({ json, problems }) => {
  // JSON.parse makes __proto__ a key of its own, as a handler's JSON.parse would.
  const value = JSON.parse(
    json.replaceAll(/-?Infinity|NaN/g, (word: string) => `"@${word}"`),
    (_, one) => (typeof one === "string" && one.startsWith("@") ? Number(one.slice(1)) : one),
  );
  expect(jsonProblems(value, result_limits).map(({ path }) => path)).toEqual(problems);
});

test.each(vectors("outcomes"))("what a handler returned means: $what", ({ returned, gives }) => {
  const outcome = resultToOutcome(returned);
  if (outcome.success) {
    const { result = null, next_stage_params } = outcome;
    expect({ result, ...(next_stage_params === undefined ? {} : { next_stage_params }) }).toEqual(gives);
  } else {
    expect({ error: outcome.failure }).toMatchObject(gives);
  }
});

describe("calls", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await openService({ handlers: [defineHandler("v.lone", {}, () => null)] });
  });
  afterAll(() => service.close());

  test.each(vectors("calls"))("$what", async ({ what, setup = {}, steps }) => {
    const tenant = `v_${what.replaceAll(/[^a-z]/g, "").slice(0, 30)}`;
    const key = await service.key(tenant);
    const engine = service.engine.forTenant(tenant);
    for (const { task_type, parameters } of setup.enqueue ?? []) await engine.enqueue(task_type, parameters);
    const kept: Record<string, Data> = {};
    for (const { call, body, bytes, headers = {}, status, reply, text, keep = {} } of steps) {
      const [method, path] = filled(call, kept).split(/ (.*)/);
      const sent = bytes ?? (body === undefined ? undefined : JSON.stringify(filled(body, kept)));
      const type = bytes === undefined ? "application/json" : "application/octet-stream";
      const answer = await fetch(service.url + path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(sent === undefined ? {} : { "content-type": type }),
          ...headers,
        },
        ...(sent === undefined ? {} : { body: sent }),
      });
      const came = await answer.text();
      expect([call, answer.status, came]).toEqual([call, status, expect.anything()]);
      if (text !== undefined) expect(came).toBe(text);
      if (reply !== undefined) expect(JSON.parse(came), call).toEqual(matching(filled(reply, kept)));
      for (const [name, place] of Object.entries(keep as Record<string, string>)) {
        kept[name] = place.split(".").reduce((value, step) => value[step], JSON.parse(came));
      }
    }
  });
});

/** `{name}` in texts; a text that is nothing else becomes what was kept. */
function filled(value: Data, kept: Record<string, Data>): Data {
  if (typeof value === "string") {
    const [, alone] = /^\{(\w+)\}$/.exec(value) ?? [];
    if (alone !== undefined) return kept[alone];
    return value.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(kept[name]));
  }
  if (Array.isArray(value)) return value.map((one) => filled(one, kept));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one, kept)]));
}

/** Objects may have more, lists may not. */
function matching(pattern: Data): Data {
  if (pattern === "$text") return expect.any(String);
  if (pattern === "$number") return expect.any(Number);
  if (Array.isArray(pattern)) return pattern.map(matching);
  if (typeof pattern !== "object" || pattern === null) return pattern;
  return expect.objectContaining(
    Object.fromEntries(Object.entries(pattern).map(([name, one]) => [name, matching(one)])),
  );
}
