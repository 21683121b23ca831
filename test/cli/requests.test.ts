// fanfold requests: files of this machine brought along and asked for in one command, followed live, listed, decided and repaired; and what
// receivers are told of a request: signed, delivered and logged.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { tenantPrefix } from "../../src/core/places/store.js";
import { webhookDeliver } from "../../src/handlers/connectors/webhook_deliver.js";
import { type Listener, listen } from "../handlers/connectors/listener.js";
import { openService, type TestService } from "../server/service.js";
import { type Document, type FakeOptions, start } from "./fake_terminal.js";
import parts from "./requests_app.js";

let service: TestService;
let receiver: Listener;
let folder: string;
let env: Record<string, string>;
let refusals = 0;

beforeAll(async () => {
  // The first try of each message is refused: what comes at last is a second one.
  receiver = await listen((_, response) => response.writeHead(refusals-- > 0 ? 503 : 204).end());
  const outbound = { allow_http: true, allow_private: [`127.0.0.1:${receiver.port}`] };
  service = await openService({ ...parts, handlers: [...parts.handlers, webhookDeliver] }, {}, { outbound });
  await service.worker({ outbound });
  folder = await mkdtemp(path.join(tmpdir(), "fanfold-requests-"));
  env = {
    DATABASE_URL: service.database_url,
    FANFOLD_STORAGE_DIR: service.storage_dir,
    FANFOLD_DATA_DIR: folder,
    FANFOLD_ZONE_BRONZE: path.join(service.storage_dir, "zones/bronze"),
  };
  for (const name of ["good.csv", "more.csv", "bad.csv"]) await writeFile(path.join(folder, name), `${name}\n`);
});
afterAll(async () => {
  await service.close();
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
});

const app = ["--app", fileURLToPath(new URL("./requests_app.ts", import.meta.url))];
const begin = (argv: string[], options: FakeOptions = {}) =>
  start(["requests", ...argv, ...app], { env, cwd: folder, width: 120, ...options });
const fanfold = (argv: string[], options?: FakeOptions) => begin(argv, options).done;
const named = (resource: string, version = "1") => [
  "--dataset",
  "land",
  "--resource",
  resource,
  "--version-id",
  version,
];
const ended = (id: string) =>
  expect.poll(async () => (await service.engine.requests.get(id)).finished_at, { timeout: 20_000 }).not.toBe(null);

test("a file of this machine is brought into bronze with a bar, asked for, and followed live to its end", async () => {
  const dry = await fanfold(["submit", "./good.csv", ...named("live"), "--dry-run"]);
  expect(dry.out).toMatch(/would create {2}[0-9a-f]{32} {2}parcels, run 1; nothing was changed\n {2}1\. check/);
  // Every look at the clock is a moment later: the bar is drawn however fast the file is copied.
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 150));
  const sent = begin(["submit", "./good.csv", ...named("live")], { live: true });
  const { code, out } = await sent.done;
  clock.mockRestore();
  expect(code).toBe(0);
  expect(sent.drawings.join("\n")).toMatch(/█+ 100 % {2}9 B of 9 B .*good\.csv/);
  const [, id] = /submitted {2}([0-9a-f]{32})/.exec(out)!;
  const there = path.join(
    service.storage_dir,
    "zones/bronze",
    tenantPrefix("default"),
    "requests/land/live/1/good.csv",
  );
  expect(await readFile(there, "utf8")).toBe("good.csv\n");
  const watched = begin(["watch", id!], { live: true });
  expect((await watched.done).code).toBe(0);
  expect(watched.drawings.at(-1)).toMatch(
    /land\/live\/1 {2}parcels, run 1 {2}completed\n {2}1 {2}check +completed {2}1 of 1 tasks/,
  );
  const piped = await fanfold(["submit", "./good.csv", ...named("live"), "--wait"]);
  expect([piped.code, piped.out]).toEqual([0, expect.stringContaining("completed")]);
  const lines = await start(["requests", "watch", "land/live/1", "--json", ...app], { env, cwd: folder }).done;
  expect(lines.lines().at(-1)).toMatchObject({ request_id: id, status: "completed" });
});

test("the same at a service elsewhere: uploaded over HTTP, asked for and awaited", async () => {
  const key = await service.key();
  const away = { env: { FANFOLD_KEY: key, FANFOLD_DATA_DIR: folder } };
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 150));
  const sent = begin(["submit", "./good.csv", "./more.csv", ...named("away"), "--url", service.url], {
    ...away,
    live: true,
  });
  const done = await sent.done;
  clock.mockRestore();
  expect([done.code, done.err]).toEqual([0, ""]);
  expect(sent.drawings.join("\n")).toMatch(/100 %.*2 of 2/);
  const waited = await fanfold(
    ["submit", "./good.csv", "./more.csv", ...named("away"), "--url", service.url, "--wait", "--json"],
    away,
  );
  expect(waited.json()).toMatchObject({
    status: "completed",
    files: ["bronze:requests/land/away/1/good.csv", "bronze:requests/land/away/1/more.csv"],
  });
  const none = await fanfold(["submit", "./good.csv", ...named("away"), "--url", service.url], {
    env: { FANFOLD_DATA_DIR: folder },
  });
  expect([none.code, none.err]).toEqual([2, expect.stringContaining("FANFOLD_KEY")]);
});

test("what is wrong is told before anything is copied; what failed is shown, listed, and goes on", async () => {
  const wrong = await fanfold(["submit", "./nowhere.csv", ...named("wrong"), "--force", "--resume", "--timeout", "5"]);
  expect(wrong.code).toBe(2);
  for (const words of ["nowhere.csv", "--force", "--timeout"]) expect(wrong.err).toContain(words);
  expect((await fanfold(["list", "--status", "brokn"])).code).toBe(2);
  expect((await fanfold(["show", "land/nothing"])).err).toContain('there is no request "land/nothing"');

  const failed = await fanfold(["submit", "./bad.csv", ...named("failing"), "--wait"]);
  expect(failed.code).toBe(1);
  const partly = await fanfold(["submit", "./bad.csv", "./good.csv", ...named("partly"), "--wait"]);
  expect(partly.code).toBe(3);
  const shown = await fanfold(["show", "land/failing"]);
  expect(shown.out).toContain("fanfold requests resubmit");
  expect(shown.out).toMatch(/check +failed {2}1 of 1 tasks, 1 failed/);
  const listed = await fanfold(["list", "--status", "failed,partial_success", "--dataset", "land"]);
  expect(listed.out).toMatch(/land\/partly\/1 +parcels +partial_success +1\/2/);
  expect(listed.out).toMatch(/land\/failing\/1 +parcels +failed +0\/2/);
  expect((await fanfold(["failures", "--hours", "1"])).out).toContain("check");
  expect((await fanfold(["recipes"])).out).toContain("parcels");
  const again = await fanfold(["resubmit", "land/failing", "--reason", "looked at it"]);
  expect(again.out).toMatch(/resumed {2}[0-9a-f]{32} {2}run 1/);
  await ended("land/failing");
  expect((await fanfold(["resubmit", "land/failing", "--force"])).out).toContain("run 2");
});

test("a person is asked, and what waits can be cancelled", async () => {
  const approval = ["--parameters", '{"approval": true}'];
  await fanfold(["submit", "./good.csv", ...named("asked"), ...approval]);
  await expect.poll(async () => (await service.engine.requests.get("land/asked")).waits_for_approval).toBe("shelve");
  expect((await fanfold(["show", "land/asked"])).out).toContain("decide");
  expect((await fanfold(["watch", "land/asked", "--timeout", "0.1"])).code).toBe(124);
  expect((await fanfold(["decide", "land/asked"])).code).toBe(2);
  expect((await fanfold(["decide", "land/asked", "--approve", "--by", "ann"])).out).toContain("approved");
  await ended("land/asked");
  await fanfold(["submit", "./good.csv", ...named("asked", "2"), ...approval]);
  await expect.poll(async () => (await service.engine.requests.get("land/asked/2")).waits_for_approval).toBe("shelve");
  expect((await fanfold(["cancel", "land/asked/2", "--dry-run"])).out).toContain("would cancel");
  expect((await fanfold(["cancel", "land/asked/2", "--reason", "enough"])).out).toContain("cancelled");
  expect((await service.engine.requests.get("land/asked/2")).status).toBe("cancelled");
});

test("receivers are told how a request ended, that a person is wanted and what it decided: signed, tried again, logged", async () => {
  const events = ["completed", "partial_success", "failed", "approval_wanted", "approved", "revoked"].map(
    (one) => `request.${one}`,
  );
  const key = await service.key("told");
  const made = await service.call("POST", "/api/webhooks", { key, body: { url: `${receiver.url}/told`, events } });
  expect(made.status).toBe(201);
  const hook = new Webhook(made.body.secret);
  refusals = 1;
  const submit = (resource_id: string, files: string[], more: object = {}) =>
    service.call("POST", "/api/platform/submit", {
      key,
      body: {
        dataset_id: "land",
        resource_id,
        version_id: "1",
        files: files.map((file) => `bronze:${file}.csv`),
        ...more,
      },
    });
  await submit("whole", ["a"]);
  await submit("part", ["a", "bad"]);
  await submit("broken", ["bad"]);
  await submit("review", ["a"], { parameters: { approval: true }, client_id: "ddh", correlation_id: "c-1" });
  const review = async () => (await service.call("GET", "/api/platform/status/land/review", { key })).body;
  await expect.poll(async () => (await review()).waits_for_approval, { timeout: 20_000 }).toBe("shelve");
  await service.call("POST", "/api/platform/approve", { key, body: { id: "land/review/1", reason: "checked" } });
  await expect.poll(async () => (await review()).status, { timeout: 20_000 }).toBe("completed");
  await service.call("POST", "/api/platform/revoke", { key, body: { id: "land/review/1", reason: "wrong datum" } });

  const wanted = [
    "request.approval_wanted review",
    "request.approved review",
    "request.completed review",
    "request.completed whole",
    "request.failed broken",
    "request.partial_success part",
    "request.revoked review",
  ];
  const heard = () => {
    const told = receiver.requests.filter((one) => one.path === "/told");
    // Each is verified with the endpoint's secret, and each message is named once however often it was tried.
    const messages = new Map<unknown, Document>(
      told.map(({ body, headers }) => [headers["webhook-id"], hook.verify(body, headers as Record<string, string>)]),
    );
    return { tries: told.length, messages: [...messages.values()] };
  };
  const words = () =>
    heard()
      .messages.map(({ type, resource_id }) => `${type} ${resource_id}`)
      .sort();
  await expect.poll(words, { timeout: 30_000 }).toEqual(wanted);
  await expect
    .poll(
      async () =>
        (await service.call("GET", "/api/deliveries?limit=100", { key })).body.deliveries
          .map(({ status, event_type }: Document) => `${status} ${event_type}`)
          .sort(),
      { timeout: 30_000 },
    )
    .toEqual(wanted.map((one) => `delivered ${one.split(" ")[0]}`).sort());
  expect(heard().tries).toBeGreaterThanOrEqual(8);
  const of = (type: string) => heard().messages.find((one) => one.type === type && one.resource_id !== "whole");
  expect(of("request.failed")).toMatchObject({
    status: "failed",
    data: { error: { message: expect.stringContaining("bad.csv is no parcel") } },
  });
  expect(of("request.completed")).toMatchObject({
    dataset_id: "land",
    version_id: "1",
    data: {
      metadata: { client_id: "ddh" },
      correlation_id: "c-1",
      jobs: [{ name: "check", status: "completed" }, { name: "shelve" }],
    },
  });
  for (const body of receiver.requests.map((one) => one.body)) expect(body).not.toContain(made.body.secret);
  await expect(async () =>
    hook.verify(JSON.stringify({ forged: true }), receiver.requests.at(-1)!.headers as Record<string, string>),
  ).rejects.toThrow();
});
