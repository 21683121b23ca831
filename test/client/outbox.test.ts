// What a worker over HTTP does with ends that the service cannot take: each is one task's failure, and keeps no other waiting.
import { expect, test } from "vitest";
import type { Caller } from "../../src/client/call.js";
import { type Finished, Outbox } from "../../src/client/outbox.js";
import { BadRequest, BeyondLimit, TooLarge } from "../../src/core/errors/errors.js";

interface Body {
  tasks?: Finished[];
  lines?: unknown[];
}

/** `judge` throws what the service would refuse a body with. */
function openOutbox(judge: (body: Body) => void) {
  const bodies: Body[] = [];
  const told: Finished[] = [];
  const call = async (_: unknown, { body }: { body: Body }) => {
    bodies.push(body);
    judge(body);
    return { refused: [], claim: null };
  };
  const outbox = new Outbox({
    worker_id: "w",
    call: call as unknown as Caller,
    lease_over: new AbortController().signal,
    onStale: () => {},
    onTold: (tasks) => void told.push(...tasks),
    onTrouble: () => {},
    wanted: () => null,
    claimed: () => {},
  });
  const add = (task_id: string) => {
    const end: Finished = { task_id, claim_id: 1, attempt: 1, duration_ms: 5, result: { of: task_id } };
    outbox.add(end, (error) => ({ task_id, claim_id: 1, attempt: 1, duration_ms: 5, error: error as never }));
  };
  return { outbox, add, bodies, told };
}

const refusals = [new BadRequest("no such thing"), new TooLarge("no such thing"), new BeyondLimit("no such thing")];

test.each(refusals)(
  "the end that is refused with $http_status fails its task, and the others are told",
  async (error) => {
    const { outbox, add, told } = openOutbox(({ tasks = [] }) => {
      if (tasks.some(({ task_id, result }) => task_id === "2" && result !== undefined)) throw error;
    });
    for (const task_id of ["1", "2", "3"]) add(task_id);
    await outbox.drained();
    expect(told.map(({ task_id, result }) => [task_id, result !== undefined])).toEqual([
      ["1", true],
      ["2", false],
      ["3", true],
    ]);
    expect(told[1]?.error).toMatchObject({ category: "contract", code: "bad_result", message: "no such thing" });
  },
);

test("log lines that are refused cost no task its end", async () => {
  const { outbox, add, told } = openOutbox(({ lines, ...body }) => {
    if (lines !== undefined || (body as { logs: unknown[] }).logs.length > 0) throw new BadRequest("no such line");
  });
  outbox.log({ task: { task_id: "1", claim_id: 1, attempt: 1 } as never, at: 0, level: "info", message: "x" });
  add("1");
  await outbox.drained();
  expect(told.map(({ result }) => result)).toEqual([{ of: "1" }]);
});

test("a failure that is refused too is let go, and what comes behind is told", async () => {
  const { outbox, add, told, bodies } = openOutbox(({ tasks = [] }) => {
    if (tasks.some(({ task_id }) => task_id === "1")) throw new BadRequest("no such task");
  });
  add("1");
  add("2");
  await outbox.drained();
  expect(told.map(({ task_id }) => task_id)).toEqual(["1", "2"]);
  expect(bodies.length).toBe(4);
});
