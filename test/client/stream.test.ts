// The event stream over lines that break: what was read is not told again, what was missed is asked for.
import { expect, test } from "vitest";
import { createClient } from "../../src/client/client.js";
import type { Streamed, StreamOptions } from "../../src/client/stream.js";
import { BadRequest, ContractViolation, NotFound, Unauthenticated } from "../../src/core/errors/errors.js";
import { problem, type Step, scriptedServer } from "./scripted_server.js";

function told(event_id: number, kind = "job.completed", id = String(event_id)): string {
  const data = {
    event_id,
    at: "2026-01-01T00:00:00Z",
    kind,
    actor: "key:a",
    job_id: "ab",
    stage_id: null,
    reason: null,
    data: null,
  };
  return `id: ${id}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
}
const ready = (id: string) => `retry: 10\n\nid: ${id}\nevent: ready\ndata: {}\n\n`;

/** Says its pieces, and then ends the line, cuts it, or says nothing more. */
function line(then: "end" | "cut" | "silence", ...pieces: string[]): Step {
  return async (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    for (const piece of pieces) {
      response.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    if (then === "end") response.end();
    if (then === "cut") response.socket?.destroy();
  };
}

async function follow(count: number, options: StreamOptions, ...steps: Step[]) {
  const server = await scriptedServer(...steps);
  const client = createClient({ url: server.url, key: "k", timeout_ms: 5_000 });
  const seen: Streamed[] = [];
  for await (const one of client.stream(options)) {
    seen.push(one);
    if (seen.length === count) break;
  }
  return {
    events: seen.map((one) => (one.type === "event" ? one.event.event_id : one.stages)),
    positions: seen.map(({ position }) => position),
    asked: server.asked.map(({ path, headers }) => [path, headers["last-event-id"]]),
  };
}

test("events come in order, and a line that ends or is cut goes on where it broke off", async () => {
  const { events, asked, positions } = await follow(
    5,
    { job_id: "abcd", follow: true },
    line("end", ready("10"), told(11), ": \n\n", told(12)),
    line("cut", ready("12"), told(13).slice(0, 30), told(13).slice(30), told(14).slice(0, 20)),
    line("silence", ready("13"), told(14), told(15)),
  );
  expect(events).toEqual([11, 12, 13, 14, 15]);
  expect(positions).toEqual(["11", "12", "13", "14", "15"]);
  expect(asked).toEqual([
    ["/api/stream?job_id=abcd", undefined],
    ["/api/stream?job_id=abcd", "12"],
    ["/api/stream?job_id=abcd", "13"],
  ]);
});

test("what is told again is passed over; what comes late, with a smaller number, is not", async () => {
  const { events, asked } = await follow(
    4,
    { last_event_id: "5" },
    line("cut", ready("5"), told(7), told(9, "job.failed", "9!8")),
    line("silence", ready("9!8"), told(9), told(8, "job.failed", "9"), told(7), told(10)),
  );
  expect(events).toEqual([7, 9, 8, 10]);
  expect(asked.map(([, from]) => from)).toEqual(["5", "9!8"]);
});

test("progress has no number of its own and keeps the place", async () => {
  const stage = { job_id: "ab", stage_id: 1, number: 1, stage: "s", status: "processing", total: 5 };
  const stages = [{ ...stage, completed: 2, failed: 0, skipped: 0, processing: 1 }];
  const { events, positions } = await follow(
    2,
    {},
    line("silence", ready("3"), `event: progress\ndata: ${JSON.stringify({ stages })}\n\n`, told(4)),
  );
  expect(events).toEqual([stages, 4]);
  expect(positions).toEqual(["3", "4"]);
});

test("a line that says nothing is given up and opened again", async () => {
  const opened: string[] = [];
  const { events } = await follow(
    2,
    { silence_ms: 60, on_open: (position) => opened.push(position) },
    line("silence", ready("1"), told(2)),
    line("silence", ready("2"), told(3)),
  );
  expect(events).toEqual([2, 3]);
  expect(opened).toEqual(["1", "2"]);
});

test("a service that is away for a while is waited for, one that refuses is not", async () => {
  const { events } = await follow(
    1,
    {},
    "cut",
    problem(503, "unavailable"),
    { status: 502, body: "<h1>", headers: { "content-type": "text/html" } },
    line("silence", ready("1"), told(2)),
  );
  expect(events).toEqual([2]);
  await expect(follow(1, {}, problem(401, "unauthenticated"))).rejects.toBeInstanceOf(Unauthenticated);
  await expect(follow(1, { job_id: "abcd" }, problem(404, "not_found"))).rejects.toBeInstanceOf(NotFound);
  await expect(follow(1, {}, line("cut", ready("1"), told(2)), problem(401, "unauthenticated"))).resolves.toBeTruthy();
  await expect(follow(2, {}, line("cut", ready("1"), told(2)), problem(401, "unauthenticated"))).rejects.toBeInstanceOf(
    Unauthenticated,
  );
  await expect(follow(1, { patience_ms: 0 }, "cut")).rejects.toMatchObject({ code: "connection" });
});

test("what is no event of ours is a loud error", async () => {
  await expect(follow(1, {}, line("silence", "event: job.done\ndata: {}\n\n"))).rejects.toBeInstanceOf(
    ContractViolation,
  );
  await expect(follow(1, {}, line("silence", "event: job.done\ndata: {\n\n"))).rejects.toBeInstanceOf(
    ContractViolation,
  );
  await expect(follow(1, { last_event_id: "5\r\nx: y" }, "cut")).rejects.toBeInstanceOf(BadRequest);
});

test("a signal ends it while it waits, with its reason", async () => {
  const { url } = await scriptedServer(line("silence", ready("1")));
  const controller = new AbortController();
  const reason = new Error("enough");
  const stream = createClient({ url, key: "k" }).stream({
    signal: controller.signal,
    on_open: () => controller.abort(reason),
  });
  await expect(stream.next()).rejects.toBe(reason);
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});
