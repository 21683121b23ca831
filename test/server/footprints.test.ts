// Where the tasks of a stage are, over HTTP: boxes that were planned, boxes that results carry, a grid where there are too many, and
// nobody else's.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { most_boxes } from "../../src/core/api/footprints.js";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import { type FootprintState, footprint_states } from "../../src/core/shown/footprints.js";
import { type UnpackedBox, unpackBoxes, unpackLetters } from "../../src/geo/packed_boxes.js";
import { Footprints } from "../../src/server/jobs/footprints.js";
import { type Answered, openService, type TestService } from "./service.js";

let service: TestService;
/** Tasks that wait until the test lets them go. */
let letGo: () => void = () => undefined;

beforeAll(async () => {
  service = await openService({
    jobs: [
      defineJob({
        type: "planned",
        stages: [
          {
            name: "cut",
            task: "m.cut",
            failure_budget: { percent: 100 },
            max_attempts: 1,
            tasks: () => [
              { index: "a", parameters: { n: 0 }, bbox: [8, 47, 9, 48] },
              { index: "b", parameters: { n: 1 }, bbox: [179, -18, 0, -179, -17, 900] },
              { index: "c", parameters: { n: 2 } },
              { index: "d", parameters: { n: 3 }, bbox: [500_000, 5_200_000, 600_000, 5_300_000] },
            ],
          },
        ],
      }),
      defineJob({
        type: "measured",
        stages: [
          {
            name: "look",
            task: "m.look",
            tasks: { count: 40, index: "t-{ordinal}", parameters: { n: "{ordinal}" } },
          },
          { name: "join", task: "m.join", parallelism: "fan_in" },
        ],
      }),
      defineJob({
        type: "wide",
        stages: [{ name: "tiles", task: "m.never", tasks: { count: most_boxes + 5000 } }],
      }),
      defineJob({
        type: "held",
        stages: [{ name: "hold", task: "m.hold", tasks: () => [{ index: "h", bbox: [0, 0, 1, 1] }] }],
      }),
    ],
    handlers: [
      defineHandler("m.cut", {}, ({ n }) => {
        if (n === 1) throw new Permanent("cracked");
        return { n };
      }),
      defineHandler("m.look", {}, ({ n }) => ({
        text: "x".repeat(3000),
        ...(n % 2 === 0 ? { bbox: [n / 10, 10, n / 10 + 0.1, 11] } : n === 7 ? { bbox: ["west", 0, 0, 0] } : {}),
      })),
      defineHandler("m.join", {}, () => ({ joined: true })),
      defineHandler("m.never", {}, () => null),
      defineHandler("m.hold", {}, () => new Promise<null>((resolve) => (letGo = () => resolve(null)))),
    ],
  });
  await service.worker({ types: ["m.cut", "m.look", "m.join", "m.hold", "#plan", "#plan:planned", "#plan:held"] });
});
afterAll(async () => {
  letGo();
  await service.close();
});

const get = (path: string, headers?: Record<string, string>, key?: string): Promise<Answered> =>
  service.call("GET", path, { ...(headers ? { headers } : {}), ...(key ? { key } : {}) });

async function submitted(type: string, ends = true): Promise<string> {
  const { job_id } = await service.engine.submit(type, {});
  if (ends) await service.engine.wait(job_id, { signal: AbortSignal.timeout(20_000) });
  return job_id;
}

type Shown = UnpackedBox & { state: FootprintState };

function shown({ boxes, scale, states }: Answered["body"]): Shown[] {
  const letters = unpackLetters(states);
  return unpackBoxes(boxes, scale).map((box, i) => ({
    ...box,
    state: footprint_states["qlprcfsx".indexOf(letters[i]!)]!,
  }));
}

describe("boxes that were planned", () => {
  test("come with the state of their tasks; one without and one off the globe are told and left out", async () => {
    const job_id = await submitted("planned");
    const { status, body } = await get(`/api/jobs/${job_id}/footprints?stage=cut`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ job_id, stage: "cut", total: 4, with_box: 2, planned: 2, unusable: 1, kind: "boxes" });
    expect(shown(body)).toEqual([
      { ordinal: 0, box: [8, 47, 9, 48], state: "completed" },
      { ordinal: 1, box: [179, -18, -179, -17], state: "failed" },
    ]);
    expect(body.extent).toEqual([8, -18, -179, 48]);
    expect(Object.fromEntries(footprint_states.map((state, i) => [state, body.counts[i]]))).toMatchObject({
      completed: 1,
      failed: 1,
      queued: 0,
    });
  });

  test("that the caller has already are not sent again, and what is the same is not sent at all", async () => {
    const job_id = await submitted("planned");
    const first = await get(`/api/jobs/${job_id}/footprints?stage=1`);
    const again = await get(`/api/jobs/${job_id}/footprints?stage=1&since=${encodeURIComponent(first.body.since)}`);
    expect(again.body).toMatchObject({ from: 2, boxes: { ordinal: [] }, states: "cf", since: first.body.since });
    const other = await get(`/api/jobs/${job_id}/footprints?stage=1&since=1.1.1.completed:2`);
    expect(other.body).toMatchObject({ from: 0, boxes: { ordinal: [0, 1] } });
    const etag = first.headers.get("etag")!;
    expect((await get(`/api/jobs/${job_id}/footprints?stage=1`, { "if-none-match": etag })).status).toBe(304);
  });

  test("are there before their tasks have run, and follow them", async () => {
    const job_id = await submitted("held", false);
    const states = async () => {
      const { body } = await get(`/api/jobs/${job_id}/footprints?stage=hold`);
      return body.total === 0 ? null : shown(body).map(({ state }) => state);
    };
    await expect.poll(states, { timeout: 30_000 }).toEqual(["processing"]);
    letGo();
    await expect.poll(states, { timeout: 30_000 }).toEqual(["completed"]);
  });

  test("in an area name their tasks, over the antimeridian as well", async () => {
    const job_id = await submitted("planned");
    const within = async (bbox: string) =>
      (await get(`/api/jobs/${job_id}/footprints/tasks?stage=cut&bbox=${bbox}`)).body;
    expect(await within("8.5,47.5,8.6,47.6")).toMatchObject({ count: 1, ranges: [[0, 1]] });
    expect(await within("179.5,-20,-179.5,-10")).toMatchObject({ count: 1, ranges: [[1, 2]] });
    expect(await within("-180,-90,180,90")).toMatchObject({ count: 2, ranges: [[0, 2]] });
    expect(await within("20,20,30,30")).toMatchObject({ count: 0, ranges: [] });
  });
});

describe("boxes that results carry", () => {
  test("are found where no box was planned, and a result that says nonsense is left out", async () => {
    const job_id = await submitted("measured");
    const read = async () => (await get(`/api/jobs/${job_id}/footprints?stage=look`)).body;
    // A few are opened first, and the others once these have shown that it is worth it.
    await expect
      .poll(read, { timeout: 30_000 })
      .toMatchObject({ planned: 0, with_box: 20, unusable: 1, unread: 0, total: 40 });
    const body = await read();
    expect(shown(body).sort((a, b) => a.ordinal - b.ordinal)[3]).toEqual({
      ordinal: 6,
      box: [0.6, 10, 0.7, 11],
      state: "completed",
    });
  });

  test("are not looked for again and again where the first results have none", async () => {
    const job_id = await submitted("measured");
    const { body } = await get(`/api/jobs/${job_id}/footprints?stage=join`);
    expect(body).toMatchObject({ total: 1, with_box: 0, extent: null, unread: 0, kind: "boxes", states: "" });
  });
});

describe("more boxes than can be drawn", () => {
  test("are a grid of counts, one by one again in a view that holds fewer, and small either way", async () => {
    const job_id = await submitted("wide", false);
    const total = most_boxes + 5000;
    await expect
      .poll(async () => (await service.engine.status(job_id)).stages[0]!.total, { timeout: 30_000 })
      .toBe(total);
    const [{ stage_id }] = (await service.db.sql`
      select stage_id from app.stages where job_id = ${job_id}`) as unknown as [{ stage_id: number }];
    await service.db.sql`
      update app.tasks set bbox = array[(ordinal % 250) * 0.1, (ordinal / 250) * 0.1, (ordinal % 250) * 0.1 + 0.1, (ordinal / 250) * 0.1 + 0.1]
       where stage_id = ${stage_id}`;
    // As if they had run: one failed among many.
    await service.db.sql`
      insert into app.results (stage_id, ordinal, tenant_id, status, attempt, error)
      select ${stage_id}, o, 'default', case when o = 777 then 'failed' else 'completed' end::app.task_status, 1, null
        from generate_series(0, 9999) o`;
    await service.db.sql`update app.ready set lo = 10000 where stage_id = ${stage_id}`;

    const all = await get(`/api/jobs/${job_id}/footprints?stage=tiles&selected=700-799,20000-24999`);
    expect(all.body).toMatchObject({ total, with_box: total, kind: "bins", boxes: null, states: "" });
    expect(all.body.selected).toMatchObject({ count: 5100, extent: [0, 0.2, 25, 10] });
    const { bins } = all.body;
    const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);
    const at = (state: FootprintState) => footprint_states.indexOf(state);
    expect(sum(bins.counts[at("completed")])).toBe(9999);
    expect(sum(bins.counts[at("queued")])).toBe(total - 10_000);
    expect(sum(bins.counts[at("failed")])).toBe(1);
    expect(sum(bins.selected)).toBe(5100);
    // Where the one that failed is: ordinal 777 is column 27, row 3 of tiles of a tenth of a degree.
    const failed = bins.counts[at("failed")].indexOf(1);
    expect(bins.grid.west + bins.column[failed] * bins.grid.width).toBeLessThanOrEqual(2.75);
    expect(bins.grid.west + (bins.column[failed] + 1) * bins.grid.width).toBeGreaterThan(2.75);
    expect(JSON.stringify(all.body).length).toBeLessThan(150_000);

    const view = await get(`/api/jobs/${job_id}/footprints?stage=tiles&bbox=2.71,0.31,2.79,0.39`);
    expect(view.body).toMatchObject({ kind: "boxes", in_view: 1, bins: null });
    expect(shown(view.body)).toEqual([{ ordinal: 777, box: [2.7, 0.3, 2.8, 0.4], state: "failed" }]);
  });
});

test("what is kept for those who look is bounded, under however many names they ask for it", async () => {
  const { job_id } = await service.engine.submit("wide", { kept: true });
  await expect.poll(async () => (await service.engine.status(job_id)).stages[0]!.total).toBe(most_boxes + 5000);
  const room_for_two = 2.5 * (1000 + 43 * (most_boxes + 5000));
  const kept = new Footprints(room_for_two);
  const names = [20, 30, 40, 50, 60].map((length) => job_id.slice(0, length));
  for (const name of names) await kept.of(service.engine, name, "tiles");
  expect(kept.size).toBe(2);
  const [once, again] = await Promise.all([1, 2].map(() => kept.of(service.engine, names.at(-1)!, "tiles")));
  expect(again, "callers that look at the same time share what was read").toBe(once);
});

describe("who asks wrongly, or for what is not theirs", () => {
  test("is told", async () => {
    const job_id = await submitted("planned");
    const asked = async (query: string) => (await get(`/api/jobs/${job_id}/footprints${query}`)).status;
    expect(await asked("?stage=nothing")).toBe(404);
    expect(await asked("")).toBe(400);
    expect(await asked("?stage=cut&bbox=1,2,3")).toBe(400);
    expect(await asked("?stage=cut&bbox=0,0,400,1")).toBe(400);
    expect(await asked("?stage=cut&selected=9-3")).toBe(400);
    const foreign = await service.key("acme");
    expect((await get(`/api/jobs/${job_id}/footprints?stage=cut`, {}, foreign)).status).toBe(404);
    expect((await get(`/api/jobs/${job_id}/footprints/tasks?stage=cut&bbox=0,0,1,1`, {}, foreign)).status).toBe(404);
  });
});
