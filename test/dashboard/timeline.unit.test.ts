// A job over time: what a task did when, the chain of tasks that the job waited for, and where all of it is drawn.
import { describe, expect, test } from "vitest";
import {
  densityOf,
  isRetried,
  moved,
  packed,
  placed,
  rowAt,
  rowsByTask,
  rowsByWorker,
  type Timeline,
  ticksOf,
  zoomed,
} from "../../dashboard/src/pages/timeline/layout.js";
import { durationWords, pathAdvice, stepWords } from "../../dashboard/src/pages/timeline/words.js";
import {
  segmentsOf,
  slowestPath,
  type TimelineRun,
  type TimelineStage,
  type TimelineTask,
} from "../../src/core/shown/timeline.js";

const run = (given: Partial<TimelineRun>): TimelineRun => ({
  from: 0,
  to: 1,
  outcome: "completed",
  attempt: 1,
  epoch: 1,
  worker_id: "w1",
  retry_at: null,
  code: null,
  ...given,
});
const task = (given: Partial<TimelineTask>): TimelineTask => ({
  ordinal: 0,
  index: "0",
  status: "completed",
  attempt: 1,
  ready: 0,
  run_at: null,
  runs: [],
  ...given,
});
const told = (given: TimelineTask, now = 1000) => segmentsOf(given, now).map(({ kind, from, to }) => [kind, from, to]);

describe("a task over time", () => {
  test("waits and runs", () => {
    expect(told(task({ ready: 10, runs: [run({ from: 30, to: 50 })] }))).toEqual([
      ["waiting", 10, 30],
      ["completed", 30, 50],
    ]);
  });

  test("that failed has a gap until it may be tried again, and waits from then on", () => {
    const runs = [run({ from: 10, to: 20, outcome: "failed", retry_at: 40 }), run({ from: 70, to: 90, attempt: 2 })];
    expect(told(task({ ready: 5, runs }))).toEqual([
      ["waiting", 5, 10],
      ["failed", 10, 20],
      ["retry_gap", 20, 40],
      ["waiting", 40, 70],
      ["completed", 70, 90],
    ]);
  });

  test("that waits for its next try shows no more than has passed", () => {
    const waits = task({
      status: "queued",
      ready: 5,
      run_at: 60,
      runs: [run({ from: 10, to: 20, outcome: "failed", retry_at: 60 })],
    });
    expect(told(waits, 35).slice(2)).toEqual([["retry_gap", 20, 35]]);
    expect(told(waits, 80).slice(2)).toEqual([
      ["retry_gap", 20, 60],
      ["waiting", 60, 80],
    ]);
  });

  test("whose worker was lost ran at some time before it was noticed", () => {
    const runs = [run({ from: null, to: 50, outcome: "lost" }), run({ from: 55, to: null, outcome: "processing" })];
    expect(told(task({ status: "processing", ready: 10, runs }), 70)).toEqual([
      ["lost", 10, 50],
      ["waiting", 50, 55],
      ["running", 55, 70],
    ]);
  });

  test("that was run again on request waits from when its stage was opened again", () => {
    const runs = [run({ from: 10, to: 20, outcome: "failed" }), run({ from: 520, to: 530, epoch: 2 })];
    expect(told(task({ ready: 500, runs }))).toEqual([
      ["failed", 10, 20],
      ["waiting", 500, 520],
      ["completed", 520, 530],
    ]);
  });

  test("shows a result that came too late last, and one that never ran not at all", () => {
    const runs = [run({ from: 5, to: 60, outcome: "refused" }), run({ from: 20, to: 30 })];
    expect(told(task({ ready: 20, runs })).at(-1)).toEqual(["late", 5, 60]);
    expect(
      told(task({ status: "skipped", ready: 20, runs: [run({ from: null, to: 20, outcome: "skipped" })] })),
    ).toEqual([]);
    expect(told(task({ status: "queued", ready: 20 }), 50)).toEqual([["waiting", 20, 50]]);
  });
});

const stage = (number: number, given: Partial<TimelineStage>): TimelineStage => ({
  stage_id: number,
  number,
  name: `s${number}`,
  status: "completed",
  after: number === 1 ? [] : [number - 1],
  opened: 0,
  closed: 1,
  approved: null,
  last_ordinal: 0,
  median_ms: null,
  tasks: [],
  ...given,
});

describe("the slowest path", () => {
  // 1 → (2, 3) → 4: stage 3 closes last, so 4 waited for it.
  const stages = [
    stage(1, { opened: 0, closed: 100, tasks: [task({ runs: [run({ from: 10, to: 100 })] })] }),
    stage(2, {
      opened: 100,
      closed: 150,
      after: [1],
      tasks: [task({ ready: 100, runs: [run({ from: 100, to: 150 })] })],
    }),
    stage(3, {
      opened: 100,
      closed: 400,
      after: [1],
      last_ordinal: 7,
      median_ms: 40,
      tasks: [
        task({ ordinal: 1, ready: 100, runs: [run({ from: 110, to: 390 })] }),
        task({
          ordinal: 7,
          index: "tile-7",
          ready: 120,
          attempt: 2,
          runs: [
            run({ from: 140, to: 160, outcome: "failed", retry_at: 200 }),
            run({ from: 250, to: 400, attempt: 2 }),
          ],
        }),
      ],
    }),
    stage(4, {
      opened: 600,
      closed: 650,
      after: [2, 3],
      approved: 590,
      tasks: [task({ ready: 600, runs: [run({ from: 600, to: 650 })] })],
    }),
  ];

  test("goes back from the end along what was waited for, and says what each step was spent on", () => {
    const path = slowestPath(stages, 1000);
    expect(path.map(({ number, task_id }) => [number, task_id])).toEqual([
      [1, "1-0"],
      [3, "3-7"],
      [4, "4-0"],
    ]);
    expect(path[1]).toMatchObject({
      from: 100,
      to: 400,
      planning_ms: 20,
      waiting_ms: 70,
      retry_ms: 40,
      lost_ms: 20,
      running_ms: 150,
      failures: 1,
      largest: "running",
      index: "tile-7",
    });
    expect(path[2]).toMatchObject({ from: 400, to: 650, approval_ms: 190, running_ms: 50, largest: "approval" });
  });

  test("of a job that runs ends with what it waits for now", () => {
    const open = stage(5, {
      opened: 650,
      closed: null,
      status: "processing",
      tasks: [task({ status: "processing", ready: 650, runs: [run({ from: 660, to: null, outcome: "processing" })] })],
      after: [4],
    });
    expect(slowestPath([...stages, open], 900).at(-1)).toMatchObject({
      number: 5,
      status: "processing",
      to: 900,
      running_ms: 240,
    });
  });

  test("passes over a stage that was skipped, and there is none before anything ran", () => {
    const skipped = stage(2, { status: "skipped", opened: 100, closed: 100, last_ordinal: null });
    const last = stage(3, {
      opened: 100,
      closed: 200,
      tasks: [task({ ready: 100, runs: [run({ from: 100, to: 200 })] })],
    });
    expect(slowestPath([stages[0]!, skipped, last], 300).map(({ number }) => number)).toEqual([1, 3]);
    expect(slowestPath([stage(1, { opened: null, closed: null, last_ordinal: null })], 10)).toEqual([]);
  });

  test("is told in a sentence", () => {
    const [, step] = slowestPath(stages, 1000) as Timeline["path"];
    expect(stepWords(step!, 650)).toBe(
      "was planned in 20 ms, waited 70 ms for a worker, failed once (60 ms lost), ran 150 ms (3.8 times the median)",
    );
    expect(pathAdvice(slowestPath(stages, 1000) as Timeline["path"])).toBe("Most of it was spent running.");
    expect([250, 4000, 42_000, 252_000, 7_200_000, 400_000_000].map(durationWords)).toEqual([
      "250 ms",
      "4.0 s",
      "42 s",
      "4 m 12 s",
      "2 h",
      "4 d 15 h",
    ]);
  });
});

describe("the picture", () => {
  const drawn = {
    job_id: "j",
    job_type: "t",
    status: "completed",
    origin: "2030-01-01T00:00:00Z",
    now: 1000,
    started: 0,
    finished: 1000,
    from: 0,
    to: 1000,
    workers: [{ worker_id: "w1", shared: true, status: "live", host: null, pid: null }],
    path: [{ task_id: "1-1" }],
    stages: [
      {
        ...stage(1, {}),
        task_type: "t",
        total: 3,
        epoch: 1,
        looked_at: 3,
        p95_ms: null,
        bins: null,
        tasks: [
          task({ ordinal: 0, index: "a", runs: [run({ from: 100, to: 200 })] }),
          task({ ordinal: 1, index: "b", runs: [run({ from: 150, to: 250 })] }),
          task({
            ordinal: 2,
            index: "c",
            attempt: 2,
            runs: [run({ from: 50, to: 60, outcome: "failed", retry_at: 70 }), run({ from: 210, to: 300, attempt: 2 })],
          }),
        ],
      },
    ],
  } as unknown as Timeline;

  test("has a row for each task under its stage, what the job waited for first, then by beginning", () => {
    expect(rowsByTask(drawn, { retried: false }, 0).map(({ label }) => label)).toEqual(["1 s1", "b", "c", "a"]);
    expect(rowsByTask(drawn, { retried: true }, 0).map(({ label }) => label)).toEqual(["1 s1", "b", "c"]);
    expect(drawn.stages[0]!.tasks.map(isRetried)).toEqual([false, false, true]);
  });

  test("has as many lanes for a worker as it ran tasks at once", () => {
    const rows = rowsByWorker(drawn, { retried: false }, 0);
    expect(rows.map((row) => (row.kind === "worker" ? row.bars.map(({ task: { index } }) => index) : []))).toEqual([
      ["c", "a", "c"],
      ["b"],
    ]);
    for (const lane of packed(rows.flatMap((row) => (row.kind === "worker" ? row.bars : [])))) {
      for (const [at, bar] of lane.slice(1).entries()) expect(bar.from).toBeGreaterThanOrEqual(lane[at]!.to);
    }
  });

  test("finds the row at a height", () => {
    const { tops, height } = placed(rowsByTask(drawn, { retried: false }, 0));
    expect([tops, height]).toEqual([[0, 26, 44, 62], 80]);
    expect([0, 25, 26, 79, 500].map((y) => rowAt(tops, y))).toEqual([0, 0, 1, 3, 3]);
    expect(rowAt(tops, -1)).toBe(-1);
  });

  test("counts what runs at once from what began and ended", () => {
    expect(densityOf({ bins: { started: [2, 1, 0, 0], ended: [0, 2, 0, 1], failed: [0, 1, 0, 0] } })).toEqual({
      running: [2, 3, 1, 1],
      failed: [0, 1, 0, 0],
    });
    expect(densityOf({ bins: null })).toBeNull();
  });

  test("zooms around the pointer and stays beside what there is", () => {
    const whole = { from: 0, to: 1000 };
    expect(zoomed(whole, 0.5, 250, whole)).toEqual({ from: 125, to: 625 });
    const far = zoomed(whole, 100, 500, whole);
    expect(far.to - far.from).toBeLessThanOrEqual(1200);
    expect(moved({ from: 0, to: 100 }, -5000, whole)).toEqual({ from: -100, to: 0 });
    expect(moved({ from: 0, to: 100 }, 5000, whole)).toEqual({ from: 1000, to: 1100 });
    expect(
      zoomed({ from: 0, to: 30 }, 0.0001, 10, whole).to - zoomed({ from: 0, to: 30 }, 0.0001, 10, whole).from,
    ).toBe(20);
  });

  test("has round times on its axis, few enough to read, also in zones with half hours", () => {
    const origin = Date.parse("2030-01-01T00:00:07Z");
    const ticks = ticksOf({ from: 0, to: 600_000 }, origin, 800, 0);
    expect(ticks.map((at) => new Date(origin + at).toISOString().slice(11, 19))).toEqual(
      Array.from({ length: 10 }, (_, n) => `00:${String(n + 1).padStart(2, "0")}:00`),
    );
    const india = ticksOf({ from: 0, to: 12 * 3_600_000 }, origin, 800, 5.5 * 3_600_000);
    expect(new Date(origin + india[0]!).toISOString()).toMatch(/:30:00\.000Z$/);
  });
});
