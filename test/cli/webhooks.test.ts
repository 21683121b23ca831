// fanfold webhooks: endpoints, deliveries and replays from the command line, on a server, with a worker that `fanfold up` runs.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Listener, listen } from "../handlers/connectors/listener.js";
import { freshDatabase } from "../postgres.js";
import { eventually } from "../worker/shop.js";
import { type Document, type Ended, type Running, start } from "./fake_terminal.js";

let database: Awaited<ReturnType<typeof freshDatabase>>;
let receiver: Listener;
let root: string;
let env: Record<string, string>;
let up: Running;
let answer = 204;

beforeAll(async () => {
  database = await freshDatabase();
  receiver = await listen((_, response) => response.writeHead(answer).end());
  root = await mkdtemp(path.join(tmpdir(), "fanfold-webhooks-"));
  env = {
    DATABASE_URL: database.url,
    FANFOLD_DATA_DIR: root,
    FANFOLD_SECRET_KEY: Buffer.alloc(32, 3).toString("base64"),
    FANFOLD_OUTBOUND_ALLOW_HTTP: "on",
    FANFOLD_OUTBOUND_ALLOW_PRIVATE: `127.0.0.1:${receiver.port}`,
  };
  up = start(["up"], { env, cwd: root });
  await up.until("is up");
});
afterAll(async () => {
  up.signal("SIGTERM");
  await up.done;
  await receiver.close();
  await database.drop();
  await rm(root, { recursive: true, force: true });
});

const fanfold = (...argv: string[]): Promise<Ended> => start(argv, { env, cwd: root, width: 160 }).done;
const asked = async (...argv: string[]): Promise<Document> => (await fanfold(...argv, "--json")).json();

test("an endpoint is made, tried, told of a job, rotated, disabled, and gets what it missed by a replay", async () => {
  const made = await fanfold(
    "webhooks",
    "create",
    `${receiver.url}/hook`,
    "--event",
    "job.completed",
    "--description",
    "maps",
  );
  expect(made.code).toBe(0);
  const [, endpoint_id] = /made {2}(we_\w+)/.exec(made.out)!;
  const [, secret] = /secret {2}(whsec_\S+) {3}\(shown once/.exec(made.out)!;
  expect((await fanfold("webhooks")).out).toMatch(new RegExp(`${endpoint_id} +enabled +completed +http://127`));

  const { delivery_id } = await asked("webhooks", "ping", endpoint_id!);
  await eventually(() => receiver.requests.length === 1);
  const { job_id } = await asked("submit", "hello_world", "n=1", "--wait");
  await eventually(() => receiver.requests.length === 2);
  const { body, headers } = receiver.requests[1]!;
  expect(new Webhook(secret!).verify(body, headers as Record<string, string>)).toMatchObject({
    type: "job.completed",
    job_id,
  });
  await eventually(async () => (await asked("webhooks", "delivery", delivery_id)).status === "delivered");
  expect((await fanfold("webhooks", "delivery", delivery_id)).out).toMatch(
    /delivered {2}webhook\.ping[\s\S]*SERIES[\s\S]* 204 /,
  );
  expect((await fanfold("webhooks", "deliveries", "--job", job_id)).out).toContain("job.completed");

  const rotated = await fanfold("webhooks", "rotate", endpoint_id!, "--overlap", "60");
  expect(rotated.out).toMatch(/rotated {2}we_\w+\n {2}secret {2}whsec_/);
  expect(rotated.out).toContain("the old secret stays good until ");
  expect((await fanfold("webhooks", "show", endpoint_id!)).out).toMatch(/secret {4}sealed, since .*, until /);

  answer = 500;
  const late = await asked("webhooks", "ping", endpoint_id!);
  await eventually(async () => (await asked("webhooks", "delivery", late.delivery_id)).tries.length === 1);
  answer = 204;
  const disabled = await fanfold("webhooks", "disable", endpoint_id!, "--reason", "they move", "--by", "ada");
  expect(disabled.out).toBe(`disabled  ${endpoint_id}\n`);
  expect(await asked("webhooks", "delivery", late.delivery_id)).toMatchObject({
    status: "discarded",
    reason: "the endpoint is disabled: they move",
  });
  const refused = await fanfold("webhooks", "replay", late.delivery_id);
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain(`fanfold webhooks enable ${endpoint_id}`);
  await fanfold("webhooks", "enable", endpoint_id!);
  const dry = await fanfold(
    "webhooks",
    "replay",
    "--endpoint",
    endpoint_id!,
    "--from",
    "2020-01-01T00:00:00Z",
    "--dry-run",
  );
  expect(dry.out).toBe("would send 1 delivery again; nothing was changed\n");
  expect((await fanfold("webhooks", "replay", "--endpoint", endpoint_id!)).out).toContain("queued  1 delivery");
  await eventually(async () => (await asked("webhooks", "delivery", late.delivery_id)).status === "delivered");
  expect((await fanfold("webhooks", "delete", endpoint_id!)).out).toContain("0 waiting deliveries discarded");
});

test("what cannot be is refused with what to do instead", async () => {
  for (const [argv, says] of [
    [["create", "ftp://example.com"], "public https address"],
    [["create", "https://example.com", "--event", "job.exploded"], "job.partial_success"],
    [["create", "https://example.com", "--secret", "plain"], "secret://name"],
    [["show", "we_0000000000000000"], "list them: fanfold webhooks\n"],
    [["delivery", "msg_00000000000000000000"], "fanfold webhooks deliveries"],
    [["replay"], "fanfold webhooks replay --endpoint <endpoint>"],
    [["replay", "msg_00000000000000000000", "--dry-run"], "use --endpoint"],
    [["deliveries", "--status", "lost"], "discarded"],
  ] as const) {
    const { code, err } = await fanfold("webhooks", ...argv);
    expect([argv, code === 0, err]).toEqual([argv, false, expect.stringContaining(says)]);
  }
});
