// What the compiler says: the types of a declared job's parameters reach the one who submits it. tsc checks this file; what
// runs only proves that it was read.
import { expect, test } from "vitest";
import { z } from "zod";
import { api, type Client, defineJob } from "../../src/client/index.js";

const render = defineJob({
  type: "render",
  parameters: z.object({ source: z.string(), tile_px: z.int().default(512) }),
  stages: [{ name: "cut", task: "t.cut" }],
});
const anything = defineJob({ type: "anything", stages: [{ name: "do", task: "t.do" }] });

async function never(client: Client) {
  await client.submit(render, { source: "a.tif" });
  await client.submit(render, { source: "a.tif", tile_px: 256 }, { mode: "force", labels: { team: "hydro" } });
  // @ts-expect-error a parameter that must be given
  await client.submit(render, {});
  // @ts-expect-error a parameter of another type
  await client.submit(render, { source: 5 });
  // @ts-expect-error a parameter there is not
  await client.submit(render, { source: "a.tif", colour: "red" });
  // @ts-expect-error an option there is not
  await client.submit(render, { source: "a.tif" }, { urgency: 1 });
  await client.submit(anything, { whatever: [1] });
  await client.submit("named", { whatever: [1] });
  // @ts-expect-error parameters are an object
  await client.submit("named", 5);
  await client.submitMany(render, [{ parameters: { source: "a.tif" }, priority: 1 }]);
  // @ts-expect-error one of many is checked as well
  await client.submitMany(render, [{ parameters: { source: "a.tif" } }, { parameters: { tile_px: 1 } }]);
  await client.enqueue("t.lone", { a: 1 }, { delay_s: 5, run_at: new Date(0) });
  // @ts-expect-error a delay is a number
  await client.enqueue("t.lone", { a: 1 }, { delay_s: "5" });

  const job = await client.status("abcd");
  const status: "queued" | "processing" | "completed" | "partial_success" | "failed" | "cancelled" = job.status;
  // @ts-expect-error a status there is not
  const wrong: "done" = job.status;
  for await (const { task_id, attempt } of client.tasks({ job_id: "abcd", stage: "cut" })) {
    const id: string = task_id;
    const number: number | null = attempt;
    void [id, number];
  }
  // @ts-expect-error lone tasks have no stage
  client.tasks({ stage: "cut" });
  // @ts-expect-error why it is rejected must be said
  await client.reject("abcd", {});
  // @ts-expect-error the endpoint needs its path
  await client.call(api.jobs.status, { params: {} });
  const { jobs } = await client.call(api.jobs.list, { query: { limit: 5 } });
  const first: string | undefined = jobs[0]?.job_id;
  for await (const told of client.stream()) {
    if (told.type === "event") void told.event.kind;
    else void told.stages[0]?.completed;
  }
  void [status, wrong, first];
}

test("the compiler has the say", () => {
  expect(never).toBeTypeOf("function");
});
