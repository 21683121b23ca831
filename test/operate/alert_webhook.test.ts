// Alerts reach the operator's address from a worker as it ships, are tried again, and never keep the janitor from its duties.

import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { alertsTo } from "../../src/engine/upkeep/alert_webhook.js";
import type { Alert } from "../../src/engine/upkeep/janitor.js";
import { start } from "../cli/fake_terminal.js";
import { submit } from "../engine/floor.js";
import { freshDatabase } from "../postgres.js";

/** Gives what it is told to, one status after the other, and then 204. */
async function receiver(...statuses: number[]) {
  // biome-ignore lint/suspicious/noExplicitAny: what came is looked into
  const heard: any[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    heard.push({ method: request.method, path: request.url, ...JSON.parse(text) });
    response.writeHead(statuses.shift() ?? 204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { heard, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts?to=us` };
}

const alert: Alert = {
  alert: "deadline_missed",
  reason: "it was due",
  tenant_id: "acme",
  job_id: "j1",
  stage_id: 7,
  data: { target: "j1" },
};

test("an alert is sent with words for people and all that is known, and again when the address does not take it", async () => {
  const { heard, url } = await receiver(500, 503);
  await alertsTo(url, { waits_ms: [1, 1] })(alert);
  expect(heard).toHaveLength(3);
  expect(heard[2]).toMatchObject({
    ...alert,
    method: "POST",
    path: "/alerts?to=us",
    type: "alert.deadline_missed",
    text: "deadline_missed: it was due (tenant acme, job j1)",
  });
  const other = await receiver(500, 500, 404);
  await expect(alertsTo(other.url, { waits_ms: [1, 1] })(alert)).rejects.toThrow("the address for alerts answers 404");
  await expect(alertsTo("http://127.0.0.1:1/", { waits_ms: [] })(alert)).rejects.toThrow("does not answer");
});

test("a worker started with --on-alert tells what its janitor found, and one with a wrong address does not start", async () => {
  const { heard, url } = await receiver();
  const database = await freshDatabase();
  const root = await mkdtemp(join(tmpdir(), "fanfold-alerts-"));
  onTestFinished(async () => {
    await database.drop();
    await rm(root, { recursive: true, force: true });
  });
  const env = { DATABASE_URL: database.url, FANFOLD_DATA_DIR: root };
  const wrong = await start(["work", "--on-alert", "hooks.example.org"], { env }).done;
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("FANFOLD_ON_ALERT: is not an address")]);
  const { job_id } = await submit(database.db, [{ name: "never", task: "t.never", plan: { count: 1 } }]);
  await database.db.sql`update app.jobs set deadline_at = now() - interval '1 minute' where job_id = ${job_id}::text`;
  const running = start(["work", "--on-alert", url], { env });
  await expect.poll(() => heard.length, { timeout: 30_000 }).toBeGreaterThan(0);
  expect(heard[0]).toMatchObject({ type: "alert.deadline", tenant_id: "default", job_id });
  running.signal("SIGTERM");
  await running.done;
});
