import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { type Look, renderChanges, renderStages } from "../../src/cli/terminal/view.js";
import { paces, remember, type Sample } from "../../src/core/shown/pace.js";
import type { JobRecord, StageRecord } from "../../src/engine/verbs/records.js";

const started = "2020-01-01T00:00:00.000Z";

function stage(number: number, name: string, more: Partial<StageRecord>): StageRecord {
  return {
    number, name, task_type: "t", parallelism: "single", importance: "critical", status: "waiting", total: null, completed: 0,
    failed: 0, skipped: 0, cancelled: 0, processing: 0, queued: 0, retrying: 0, opened_at: null, closed_at: null, error: null, ...more,
  } as StageRecord; // biome-ignore format: a record of defaults
}

function job(stages: StageRecord[], more: Partial<JobRecord> = {}): JobRecord {
  return {
    job_id: "ab12cd34ef56".padEnd(64, "0"), job_type: "file_digest", tenant_id: "default", run: 1, status: "processing", priority: 0,
    parameters: {}, labels: {}, created_at: started, started_at: started, finished_at: null, error: null, result: null, now: "2020-01-01T00:00:12.000Z", hint: "", stages, ...more,
  } as JobRecord; // biome-ignore format: a record of defaults
}

const running = job([
  stage(1, "list", { status: "completed", total: 1, completed: 1 }),
  stage(2, "digest", {
    status: "processing",
    total: 12_345,
    completed: 4_207,
    failed: 3,
    retrying: 2,
    queued: 8_000,
    processing: 135,
  }),
  stage(3, "fold", { status: "waiting" }),
  stage(4, "manifest", { status: "waiting" }),
]);
const look: Look = { width: 100, colour: false, paces: new Map([[2, { per_s: 1203, eta_s: 6.8 }]]) };

describe("the view of a job", () => {
  test("has a headline and a line per stage with bar, counts, failures, retries, rate and remaining time", () => {
    expect(renderStages(running, look)).toEqual([
      "file_digest  ab12cd34ef56  processing  12s",
      "✔ list      ██████████████████████████████  1/1",
      "▶ digest    ██████████░░░░░░░░░░░░░░░░░░░░  4,210/12,345  3 failed  2 retrying  1,203/s  ETA 6.8s",
      "· fold      waiting",
      "· manifest  waiting",
    ]);
  });

  test("never is wider than the screen, whatever its width", () => {
    const long = job(
      [
        stage(1, "a".repeat(63), {
          status: "processing",
          total: 1e9,
          completed: 5e8,
          failed: 1e6,
          retrying: 1e6,
          skipped: 1e6,
        }),
      ],
      {
        job_type: "j".repeat(63),
        run: 12,
      },
    );
    for (const status of [running, long]) {
      for (let width = 1; width < 200; width += 1) {
        for (const text of renderStages(status, { ...look, width, colour: true })) {
          expect(stripVTControlCharacters(text).length, `width ${width}`).toBeLessThanOrEqual(width);
        }
      }
    }
  });

  test("loses the bar first when the screen is narrow, and keeps the counts", () => {
    expect(renderStages(running, { ...look, width: 40 })[2]).toBe("▶ digest    4,210/12,345  3 failed");
  });

  test("colours only when asked to, and colours change no text", () => {
    const plain = renderStages(running, look);
    const coloured = renderStages(running, { ...look, colour: true });
    expect(coloured.join("\n")).toContain("\u001b[");
    expect(coloured.map((text) => stripVTControlCharacters(text))).toEqual(plain);
    expect(plain.join("")).not.toContain("\u001b");
  });

  test("fills the bar only when all is done, and shows one failure among thousands", () => {
    const nearly = job([stage(1, "s", { status: "processing", total: 10_000, completed: 9_998, failed: 1 })]);
    const bar = renderStages(nearly, { ...look, colour: true })[1] as string;
    expect(bar).toContain("░");
    expect(bar).toContain("\u001b[31m█\u001b");
  });

  test("shows an empty stage, a skipped one and a finished job's own time", () => {
    const done = job(
      [stage(1, "list", { status: "completed", total: 0 }), stage(2, "extra", { status: "skipped", total: 0 })],
      { status: "completed", finished_at: "2020-01-01T00:00:03.000Z" },
    );
    expect(renderStages(done, { ...look, paces: new Map() })).toEqual([
      "file_digest  ab12cd34ef56  completed  3.0s",
      "✔ list   no tasks",
      "↷ extra  skipped",
    ]);
  });
});

describe("what waits for a person", () => {
  const gated = job([
    stage(1, "draft", { status: "completed", total: 1, completed: 1 }),
    stage(2, "publish", { status: "waiting_approval", gate: { message: "Publish\u001b[2J these?" } }),
  ]);
  const held = job(
    [
      stage(1, "digest", { status: "processing", total: 100, completed: 50, processing: 4, queued: 46 }),
      stage(2, "fold", { status: "waiting" }),
    ],
    { epoch: 3, paused_at: started, paused_by: "ada", pause_reason: "the disk is full" },
  );
  const paced = { ...look, paces: new Map([[1, { per_s: 10, eta_s: 5 }]]) };

  test("a gate is shown with its question and the command, and with nothing that a terminal obeys", () => {
    expect(renderStages(gated, { ...look, paces: new Map(), width: 80 })).toEqual([
      "file_digest  ab12cd34ef56  processing  12s",
      "✔ draft    ██████████████████████████████  1/1",
      "◇ publish  waits for approval",
      "◇ publish asks: Publish\\x1b[2J these?",
      "  fanfold approve ab12cd34ef56 --stage publish",
    ]);
  });

  test("a pause is shown with who and why, and promises no remaining time", () => {
    expect(renderStages(held, { ...paced, width: 80 })).toEqual([
      "file_digest  ab12cd34ef56  epoch 3  processing  paused  12s",
      "‖ digest  ███████████████░░░░░░░░░░░░░░░  50/100  paused  4 still running",
      "· fold    waiting",
      "‖ paused by ada: the disk is full",
      "  go on: fanfold continue ab12cd34ef56",
    ]);
    expect(renderStages({ ...held, status: "cancelled" }, paced).join()).not.toContain("paused");
  });

  test("in a pipe it is said once, when it begins, and when it goes on", () => {
    const before = { ...held, paused_at: null };
    expect(renderChanges(before, held, look)).toEqual([
      "12s  ‖ paused by ada: the disk is full",
      "12s    go on: fanfold continue ab12cd34ef56",
    ]);
    expect(renderChanges(held, held, look)).toEqual([]);
    expect(renderChanges(null, held, paced)[0]).toBe("12s  digest  processing  50/100");
    expect(renderChanges(held, before, look)).toEqual(["12s  goes on"]);
    expect(renderChanges(null, gated, { ...look, paces: new Map() })).toEqual([
      "12s  draft  completed  1/1",
      "12s  publish  waiting_approval",
      "12s  ◇ publish asks: Publish\\x1b[2J these?",
      "12s    fanfold approve ab12cd34ef56 --stage publish",
    ]);
  });

  test("never is wider than the screen", () => {
    for (const status of [gated, held]) {
      for (let width = 1; width < 120; width += 1) {
        for (const text of renderStages(status, { ...look, width, colour: true }))
          expect(stripVTControlCharacters(text).length, `width ${width}`).toBeLessThanOrEqual(width);
      }
    }
  });
});

describe("plain lines for pipes", () => {
  test("say what changed and nothing else", () => {
    const later = structuredClone(running);
    (later.stages[1] as StageRecord).completed = 5_000;
    expect(renderChanges(null, running, { ...look, paces: new Map() })).toEqual([
      "12s  list  completed  1/1",
      "12s  digest  processing  4,210/12,345  3 failed  2 retrying",
    ]);
    expect(renderChanges(running, later, look)).toEqual([
      "12s  digest  processing  5,003/12,345  3 failed  2 retrying  1,203/s  ETA 6.8s",
    ]);
    expect(renderChanges(later, later, look)).toEqual([]);
    expect(renderChanges(later, { ...later, status: "cancelled" }, look)).toEqual(["12s  job cancelled"]);
  });
});

describe("pace", () => {
  const at = (completed: number) => job([stage(1, "s", { status: "processing", total: 1000, completed })]);

  test("is measured over the last ten seconds and tells the remaining time", () => {
    let samples: Sample[] = [];
    for (let s = 0; s <= 30; s += 1) samples = remember(samples, at(s < 20 ? s : 20 + (s - 20) * 10), s * 1000);
    expect(paces(samples, at(120)).get(1)).toEqual({ per_s: 10, eta_s: 88 });
    expect(samples.length).toBeLessThan(15);
  });

  test("does not count the time before the first task finished twice", () => {
    let samples: Sample[] = [];
    for (const [ms, done] of [
      [0, 0],
      [5000, 0],
      [6000, 100],
    ] as const)
      samples = remember(samples, at(done), ms);
    expect(paces(samples, at(100)).get(1)?.per_s).toBe(100);
  });

  test("is unknown for a stage that has not moved, and with a single look", () => {
    expect(paces([], at(5)).size).toBe(0);
    expect(paces(remember([], at(5), 0), at(5)).size).toBe(0);
    expect(paces(remember(remember([], at(5), 0), at(5), 1000), at(5)).size).toBe(0);
  });
});
