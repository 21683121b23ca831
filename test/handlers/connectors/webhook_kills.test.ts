// A webhook's life with somebody killed at every point of it. Nothing that was decided is lost, nothing that was rolled back is
// sent, and what is sent twice has the same id and counts once. A delivery needs no HTTP server: one takes part only to be killed.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import type { Engine } from "../../../src/engine/engine.js";
import { openEngine } from "../../../src/engine/open_engine.js";
import { startWorker } from "../../../src/worker/worker.js";
import { type Cluster, type ClusterDatabase, startCluster } from "../../faults/cluster.js";
import { plainScript } from "../../plain_code.js";
import { eventually } from "../../worker/shop.js";
import { type Listener, listen } from "./listener.js";
import { type ChildTask, DELIVER, optionsFor, registry, secret } from "./webhook_worker.js";

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
type Loose = any;

let cluster: Cluster;
let receiver: Listener;
let answer: (response: Loose) => void;
let storage_dir: string;
let database: ClusterDatabase;
let engine: Engine;

beforeAll(async () => {
  cluster = await startCluster();
  receiver = await listen((_, response) => answer(response));
  storage_dir = await mkdtemp(join(tmpdir(), "fanfold-kills-"));
});
afterAll(async () => {
  await receiver?.close();
  await cluster?.close();
  await rm(storage_dir, { recursive: true, force: true });
});

beforeEach(async () => {
  database = await cluster.freshDatabase();
  engine = await openEngine({ database_url: database.url, storage_dir, registry });
  onTestFinished(async () => {
    await engine.close();
    await database.drop();
  });
  receiver.requests.length = 0;
  answer = (response) => response.writeHead(204).end();
  await engine.webhooks.create({ url: `${receiver.url}/hook`, secret: "secret://hook" });
});

/** A worker process with a fault point that kills it, or without one. Resolves when it is registered. */
async function victim(
  types: string[],
  faults = "",
): Promise<{ child: ChildProcess; died: Promise<NodeJS.Signals | null>; said: string }> {
  const task: ChildTask = { database_url: database.url, storage_dir, port: receiver.port, types };
  const script = plainScript(new URL("./webhook_worker.ts", import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(task)], {
    env: { ...process.env, FANFOLD_FAULTS: faults },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const died = new Promise<NodeJS.Signals | null>((resolve) => child.once("exit", (_, signal) => resolve(signal)));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await died;
  });
  // It may die of its fault before it is heard.
  const said = await Promise.race([new Promise((resolve) => child.stdout!.once("data", resolve)), died]);
  return { child, died, said: String(said) };
}

async function survivor(types: string[]): Promise<void> {
  const worker = await startWorker(engine, optionsFor(receiver.port, types));
  onTestFinished(() => worker.stop());
}

/** A job that has ended, and whose delivery waits for a worker. */
async function endedJob(): Promise<string> {
  const { job_id } = await engine.submit("hooked", {});
  const worker = await startWorker(engine, optionsFor(receiver.port, ["t.work"]));
  await engine.wait(job_id);
  await worker.stop();
  return job_id;
}

const outbox = async () => (await engine.webhooks.deliveries()).deliveries;
const tries = async () => (await engine.webhooks.delivery((await outbox())[0]!.delivery_id)).tries;

/** The one delivery there is was delivered, was counted once, and leaves nothing behind in the queue. */
async function deliveredOnce(sends: number): Promise<void> {
  await eventually(async () => (await outbox()).every(({ status }) => status === "delivered"));
  await eventually(async () => {
    const [{ left }] = (await database.db.sql<Loose>`
      select (select count(*) from app.ready) + (select count(*) from app.claims) as left`) as [Loose];
    return Number(left) === 0;
  });
  const all = await outbox();
  expect(all).toMatchObject([{ status: "delivered", attempts: 1 }]);
  expect(await tries()).toHaveLength(1);
  expect(receiver.requests).toHaveLength(sends);
  expect(new Set(receiver.requests.map(({ headers }) => headers["webhook-id"]))).toEqual(
    new Set([all[0]!.delivery_id]),
  );
  for (const { body, headers } of receiver.requests)
    new Webhook(secret).verify(body, headers as Record<string, string>);
}

test("kill -9 before the send: another worker sends it", async () => {
  await endedJob();
  expect(await (await victim([DELIVER], "after-claim:kill9")).died).toBe("SIGKILL");
  expect(receiver.requests).toEqual([]);
  await survivor([DELIVER]);
  await deliveredOnce(1);
});

test("kill -9 after the send, before it is recorded: sent again under the same id, counted once", async () => {
  await endedJob();
  let kill = () => {};
  answer = () => kill();
  const came = eventually(() => receiver.requests.length === 1);
  const { child, died } = await victim([DELIVER]);
  kill = () => child.kill("SIGKILL");
  // It may have come while nobody knew yet whom to kill.
  await came;
  kill();
  expect(await died).toBe("SIGKILL");
  expect(await tries()).toEqual([]);
  answer = (response) => response.writeHead(204).end();
  await survivor([DELIVER]);
  await deliveredOnce(2);
});

test("kill -9 after it is recorded, before the task is finished: not sent again", async () => {
  await endedJob();
  expect(await (await victim([DELIVER], "before-finish:kill9")).died).toBe("SIGKILL");
  expect(await outbox()).toMatchObject([{ status: "delivered" }]);
  await survivor([DELIVER]);
  await deliveredOnce(1);
});

test("kill -9 after a failed try is recorded: the next try is queued once, for its time", async () => {
  await endedJob();
  answer = (response) => response.writeHead(500).end();
  expect(await (await victim([DELIVER], "before-finish:kill9")).died).toBe("SIGKILL");
  answer = (response) => response.writeHead(204).end();
  await survivor([DELIVER]);
  const [{ queued }] = (await database.db.sql<Loose>`
    select count(*)::int as queued from app.ready where task_type = ${DELIVER} and run_at > now() + interval '1 s'`) as [
    Loose,
  ];
  expect(queued).toBe(1);
  await database.db.sql`update app.ready set run_at = now()`;
  await eventually(async () => (await outbox())[0]!.status === "delivered");
  expect(await outbox()).toMatchObject([{ attempts: 2, series: 1 }]);
  expect(await tries()).toMatchObject([{ status: 500 }, { status: 204 }]);
  expect(receiver.requests).toHaveLength(2);
});

test("kill -9 of the worker whose job was about to end: nobody hears of an end that was not, and once of the one that was", async () => {
  const { job_id } = await engine.submit("hooked", {});
  expect(await (await victim(["t.work"], "before-finish:kill9")).died).toBe("SIGKILL");
  expect(await outbox()).toEqual([]);
  await survivor(["t.work", DELIVER]);
  await engine.wait(job_id);
  await deliveredOnce(1);
});

test("kill -9 of the worker just after its job has ended: the end is told", async () => {
  await engine.submit("hooked", {});
  expect(await (await victim(["t.work"], "after-finish-commit:kill9")).died).toBe("SIGKILL");
  await survivor([DELIVER]);
  await deliveredOnce(1);
});

test("kill -9 of the HTTP server that took the job, its receivers and the ping: all are told", async () => {
  const { key } = await engine.keys.create({ name: "test", scopes: ["submit", "admin"] });
  const { child, died, said } = await victim([]);
  const post = async (where: string, body?: object) => {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const answered = await fetch(`${said.split(" ")[1]!.trim()}${where}`, {
      method: "POST",
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answered.status, body: (await answered.json()) as Loose };
  };
  const [{ endpoint_id }] = (await engine.webhooks.list()) as [Loose];
  const submitted = await post("/api/jobs/submit/hooked", {});
  const pinged = await post(`/api/webhooks/${endpoint_id}/ping`);
  expect([submitted.status, pinged.status]).toEqual([201, 202]);
  child.kill("SIGKILL");
  expect(await died).toBe("SIGKILL");
  await survivor(["t.work", DELIVER]);
  await eventually(async () => {
    const all = await outbox();
    return all.length === 2 && all.every(({ status }) => status === "delivered");
  });
  const told = receiver.requests.map(({ body }) => JSON.parse(body));
  expect(told.map(({ type }) => type).sort()).toEqual(["job.completed", "webhook.ping"]);
  expect(told.find(({ type }) => type === "job.completed").job_id).toBe(submitted.body.job_id);
});

test("the database loses its power while the receiver has the request: it is recorded, or sent again under the same id", async () => {
  await endedJob();
  let release: (() => void) | undefined;
  answer = (response) => {
    release = () => response.writeHead(204).end();
  };
  await survivor([DELIVER]);
  await eventually(() => release !== undefined);
  await cluster.stop("immediate");
  answer = (response) => response.writeHead(204).end();
  release!();
  await cluster.start();
  await eventually(async () => (await outbox().catch(() => []))[0]?.status === "delivered");
  await deliveredOnce(receiver.requests.length);
});
