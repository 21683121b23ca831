// Waiting over a line that has its troubles.
import { expect, test } from "vitest";
import { createClient } from "../../src/client/client.js";
import { NotFound } from "../../src/core/errors/errors.js";
import { problem, type Step, scriptedServer } from "./scripted_server.js";

const job = (status: string, code = 200, headers = {}): Step => ({
  status: code,
  body: { job_id: "ab", status },
  headers,
});

async function service(...steps: Step[]) {
  const server = await scriptedServer(...steps);
  return { ...server, client: createClient({ url: server.url, key: "k", retries: 0 }) };
}

test("a service that is away for a while is waited for", async () => {
  const { client, asked } = await service(
    problem(503, "unavailable"),
    "cut",
    job("processing", 202, { "retry-after": "0" }),
    job("completed"),
  );
  expect(await client.wait("abcd")).toMatchObject({ status: "completed" });
  expect(asked.map(({ path }) => path)).toEqual(Array(4).fill("/api/jobs/status/abcd?wait=true"));
});

test("who wants to see the way there asks when the service says so", async () => {
  const { client, asked } = await service(
    job("queued", 202, { "retry-after": "0" }),
    job("processing", 202, { "retry-after": "0" }),
    job("failed"),
  );
  const seen: string[] = [];
  expect(await client.wait("abcd", { on_status: ({ status }) => seen.push(status) })).toMatchObject({
    status: "failed",
  });
  expect(seen).toEqual(["queued", "processing", "failed"]);
  expect(asked[0]?.path).toBe("/api/jobs/status/abcd?status_code=true");
});

test("what will not pass is told at once, and a long absence too", async () => {
  const gone = await service(problem(404, "not_found"));
  await expect(gone.client.wait("abcd")).rejects.toBeInstanceOf(NotFound);
  const away = await service("cut");
  await expect(away.client.wait("abcd", { patience_ms: 0 })).rejects.toMatchObject({ code: "connection" });
  expect([gone.asked.length, away.asked.length]).toEqual([1, 1]);
});
