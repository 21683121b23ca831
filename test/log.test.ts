// Log lines are JSON, and secrets do not get into them.
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { createLog, type LogOptions } from "../src/log.js";

function captured(options: LogOptions = {}) {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { log: createLog({ ...options, stream }), lines, last: () => JSON.parse(lines.at(-1) ?? "null") };
}

test("a line is one JSON object with level, time and the logger's own fields", () => {
  const { log, last, lines } = captured({ fields: { worker_id: "w1" } });
  log.info({ job_id: "j", duration_ms: 5 }, "done");
  expect(last()).toMatchObject({ level: "info", worker_id: "w1", job_id: "j", duration_ms: 5, msg: "done" });
  expect(new Date(last().time).toISOString()).toBe(last().time);
  expect(lines[0]).toMatch(/^\{.*\}\n$/);
});

test("the level decides what is written at all", () => {
  const { log, lines } = captured({ level: "warn" });
  log.info("no");
  log.warn("yes");
  expect(lines).toHaveLength(1);
});

test("secrets are hidden by the name of their field, at any depth, also in a child's fields", () => {
  const { log, lines } = captured();
  log.info({
    password: "s1",
    headers: { Authorization: "Bearer s2", cookie: "s3" },
    list: [{ api_key: "s4", access_token: "s5" }],
  });
  log.child({ client_secret: "s6", nested: { passphrase: "s7" } }).warn({ credentials: { user: "s8" } }, "child");
  expect(lines.join("")).not.toMatch(/s\d/);
  expect(JSON.parse(lines[0]!)).toMatchObject({ password: "[redacted]", list: [{ api_key: "[redacted]" }] });
});

test("a password inside an address is hidden wherever the address stands", () => {
  const { log, lines } = captured();
  const url = "postgres://me:hush%20hush@db.example:5432/maps";
  log.info({ url, deep: { list: [`see ${url}`] } }, `connecting to ${url}`);
  log.error(new Error(`cannot reach ${url}`));
  const text = lines.join("");
  expect(text).not.toContain("hush");
  expect(text.match(/postgres:\/\/me:\[redacted\]@db\.example:5432\/maps/g)?.length).toBeGreaterThanOrEqual(5);
});

test("what is no secret stays as it is", () => {
  const { log, last } = captured();
  const fields = { task_type: "a.b", tokens_left: 5, at: "https://example.org:443/a@b", monkey: "x" };
  log.info(fields, "time 10:30 mail a@b");
  expect(last()).toMatchObject({ ...fields, msg: "time 10:30 mail a@b" });
});

test("errors keep their kind, code and stack", () => {
  const { log, last } = captured();
  log.error({ err: Object.assign(new TypeError("bad"), { code: "FF002" }) }, "failed");
  expect(last().err).toMatchObject({
    type: "TypeError",
    message: "bad",
    code: "FF002",
    stack: expect.stringContaining("log.test"),
  });
});

test("a value that contains itself does not break the line", () => {
  const { log, last } = captured();
  const loop: Record<string, unknown> = { name: "loop" };
  loop.self = loop;
  log.info({ loop }, "round");
  expect(last()).toMatchObject({ msg: "round", loop: { name: "loop" } });
});
