// The sentence that says how a job stands, in every state a job can be in.
import { describe, expect, test } from "vitest";
import { took } from "../../src/core/shown/figures.js";
import { roughly, type VerdictJob, type VerdictStage, verdictOf } from "../../src/core/shown/verdict.js";

const started = "2030-01-01T00:00:00.000Z";
const now_ms = Date.parse("2030-01-01T00:10:00.000Z");

function stage(number: number, name: string, more: Partial<VerdictStage> = {}): VerdictStage {
  return {
    number,
    name,
    status: "waiting",
    importance: "critical",
    skip_reason: null,
    gate: null,
    total: null,
    completed: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
    processing: 0,
    queued: 0,
    retrying: 0,
    eta_s: null,
    error: null,
    ...more,
  };
}

function job(stages: VerdictStage[], more: Partial<VerdictJob> = {}): VerdictJob {
  return {
    status: "processing",
    epoch: 1,
    waits_for: 0,
    depends_on: [],
    created_at: started,
    started_at: started,
    finished_at: null,
    paused_at: null,
    paused_by: null,
    pause_reason: null,
    cancelled_by: null,
    error: null,
    deliverables: [],
    stages,
    ...more,
  };
}

const done = (number: number, name: string) => stage(number, name, { status: "completed", total: 1, completed: 1 });
const ended = { finished_at: "2030-01-01T00:04:12.000Z" };
const text = (given: VerdictJob, facts: Partial<Parameters<typeof verdictOf>[1]> = {}) =>
  verdictOf(given, { now_ms, ...facts }).text;

describe("a job under way", () => {
  const tiles = stage(3, "tiles", {
    status: "processing",
    total: 1924,
    completed: 1300,
    failed: 10,
    skipped: 2,
    processing: 20,
    queued: 592,
    retrying: 7,
    eta_s: 240,
  });
  const running = job([done(1, "list"), done(2, "split"), { ...tiles, failed: 0, completed: 1310 }, stage(4, "fold")]);

  test("says which stage it is at, how much is done, what is retried, and how long it may take", () => {
    expect(text(running)).toBe("Stage 3 of 4 · 1,312 of 1,924 done · 7 retrying · about 4 min left");
  });

  test("says how many failed", () => {
    expect(text(job([done(1, "list"), done(2, "split"), tiles]))).toContain(
      "1,312 of 1,924 done · 10 failed · 7 retrying",
    );
  });

  test("believes the pace that was watched rather than the one the server told", () => {
    expect(text(running, { paces: new Map([[3, { per_s: 1, eta_s: 3600 * 5 }]]) })).toContain("about 5 h left");
  });

  test("says nothing of what is left where nobody knows", () => {
    expect(text(job([stage(1, "tiles", { status: "processing", total: 9, completed: 1, queued: 8 })]))).toBe(
      "Stage 1 of 1 · 1 of 9 done",
    );
  });

  test("takes stages that run at once together, and the slowest for what is left", () => {
    const both = job([
      done(1, "list"),
      stage(2, "left", { status: "processing", total: 10, completed: 5, eta_s: 60 }),
      stage(3, "right", { status: "processing", total: 20, completed: 5, eta_s: 600 }),
    ]);
    expect(text(both)).toBe("Stages 2 and 3 of 3 · 10 of 30 done · about 10 min left");
  });

  test("says what is left when only a straggler beside it has no pace", () => {
    const wide = stage(1, "wide", { status: "processing", total: 100, completed: 10, eta_s: 60 });
    const one = stage(2, "one", { status: "processing", total: 1 });
    expect(text(job([wide, one]))).toContain("about 1 min left");
    expect(text(job([wide, { ...one, total: 50 }]))).not.toContain("left");
  });

  test("says that a stage is being planned", () => {
    expect(text(job([done(1, "list"), stage(2, "tiles", { status: "planning" })]))).toBe(
      "Stage 2 of 2 · planning tiles",
    );
  });

  test("between two stages says what comes", () => {
    expect(text(job([done(1, "list"), stage(2, "tiles")]))).toBe("The next stage is about to start");
  });
});

describe("a job that waits", () => {
  test("for a worker says for how long, and how much of it", () => {
    const queued = job([stage(1, "tiles", { status: "processing", total: 1924, queued: 1924 })], {
      status: "queued",
      started_at: null,
    });
    expect(verdictOf(queued, { now_ms })).toEqual({
      tone: "waits",
      text: "Queued for 10 min · 1,924 tasks wait for a worker",
    });
  });

  test("for other jobs names one of them", () => {
    const depends_on = [
      { job_id: "ab".repeat(32), job_type: "mosaic", status: "processing", satisfied_at: null },
      { job_id: "cd".repeat(32), job_type: "other", status: "completed", satisfied_at: started },
    ];
    const waiting = job([stage(1, "a")], { status: "queued", started_at: null, waits_for: 1, depends_on });
    expect(text(waiting)).toBe("Waits for another job to end well · mosaic abababababab is processing");
    expect(text({ ...waiting, waits_for: 3 })).toMatch(/^Waits for 3 other jobs to end well/);
  });

  test("for a person says what is asked, and how far the rest is", () => {
    const gated = job([
      stage(1, "tiles", { status: "processing", total: 4, completed: 1 }),
      stage(2, "publish", { status: "waiting_approval", gate: { message: "Are the\ntiles fine?" } }),
    ]);
    expect(text(gated)).toBe(
      "Stage 2 of 2 (publish) waits for approval: Are the tiles fine? · Stage 1 of 2 · 1 of 4 done",
    );
    expect(text({ ...gated, stages: [done(1, "tiles"), ...gated.stages.slice(1)] })).toBe(
      "Stage 2 of 2 (publish) waits for approval: Are the tiles fine?",
    );
  });

  test("because it is paused says who paused it, why, and what still runs", () => {
    const paused = job(
      [stage(1, "tiles", { status: "processing", total: 10, completed: 4, processing: 2, eta_s: 9 })],
      { paused_at: started, paused_by: "ada", pause_reason: "the disk is full" },
    );
    expect(text(paused)).toBe("Paused by ada: the disk is full · Stage 1 of 1 · 4 of 10 done · 2 still running");
  });
});

describe("a job that has ended", () => {
  test("completed says how long it took", () => {
    expect(verdictOf(job([done(1, "a")], { status: "completed", ...ended }), { now_ms })).toEqual({
      tone: "well",
      text: "Completed in 4 min 12 s · 1 task",
    });
  });

  test("partly says what is usable and what is missing", () => {
    const stages = [
      stage(1, "tiles", { status: "partial_success", total: 1924, completed: 1917, failed: 7 }),
      stage(2, "report", { status: "skipped", importance: "optional", skip_reason: "upstream" }),
    ];
    const partly = job(stages, { status: "partial_success", ...ended });
    expect(text(partly)).toBe(
      "Partly succeeded in 4 min 12 s · usable: 1,917 of 1,924 of tiles · missing: 7 tasks of tiles and report (skipped: what it needs failed)",
    );
    const deliverables = [
      { name: "cogs", count: 1917, usable: true, at_least: false },
      { name: "drafts", count: 3, usable: false, at_least: false },
    ];
    expect(text({ ...partly, deliverables })).toContain("usable: 1,917 cogs · missing");
  });

  const failed = job(
    [
      done(1, "list"),
      stage(2, "tiles", {
        status: "failed",
        total: 20,
        completed: 8,
        failed: 12,
        error: { message: "no route to host" },
      }),
      stage(3, "fold", { status: "cancelled" }),
    ],
    { status: "failed", ...ended, error: { code: "stage_failed", message: "stage tiles failed" } },
  );

  test("badly says where, how much, and what most of it is", () => {
    expect(text(failed)).toBe(
      "Failed in 4 min 12 s in stage 2 of 3 (tiles) · 12 of 20 tasks failed · first: no route to host",
    );
    const groups = [
      { code: "timeout", message: "no answer after <n> s", tasks: 9 },
      { code: null, message: "other", tasks: 3 },
    ];
    expect(text(failed, { groups })).toContain("9 of them with timeout: no answer after <n> s");
    expect(text(failed, { groups: groups.slice(1) })).toContain("· all with other");
  });

  test("because nothing could be planned says what the planner said", () => {
    const stages = [stage(1, "tiles", { status: "failed", total: 0, error: { message: "no such folder" } })];
    expect(text(job(stages, { status: "failed", ...ended }))).toBe(
      "Failed in 4 min 12 s in stage 1 of 1 (tiles) · no such folder",
    );
  });

  test("by its deadline says so", () => {
    expect(text({ ...failed, error: { code: "deadline", message: "it took too long" } })).toMatch(
      /its deadline passed/,
    );
  });

  test("by somebody's word says whose, why, what is kept, and what has not stopped yet", () => {
    const cancelled = job([stage(1, "tiles", { status: "cancelled", total: 10, completed: 4, cancelled: 6 })], {
      status: "cancelled",
      ...ended,
      cancelled_by: "ada",
      error: { code: "cancelled", message: "wrong folder" },
    });
    expect(text(cancelled, { still_running: 2 })).toBe(
      "Cancelled by ada in 4 min 12 s: wrong folder · 2 tasks still to stop · 4 tasks completed before, and stay",
    );
    expect(text({ ...cancelled, error: { message: "cancelled on request" } })).toBe(
      "Cancelled by ada in 4 min 12 s · 4 tasks completed before, and stay",
    );
  });

  test("after a repair does not pretend that it took so long", () => {
    expect(text({ ...failed, epoch: 2 })).toContain("Failed in epoch 2, 4 min 12 s after it first started");
  });

  test("with a message of any length stays a sentence", () => {
    const stages = [stage(1, "tiles", { status: "failed", total: 0, error: { message: "𝄞".repeat(5000) } })];
    const told = text(job(stages, { status: "failed", ...ended }));
    expect([...told].length).toBeLessThan(260);
    expect(told.isWellFormed()).toBe(true);
  });
});

test("durations read as people say them", () => {
  expect([0.84, 12.4, 59.6, 252, 3600, 7500, 200_000, -3].map(took)).toEqual([
    "0.8 s",
    "12 s",
    "1 min",
    "4 min 12 s",
    "1 h",
    "2 h 5 min",
    "2 d 8 h",
    "0.0 s",
  ]);
  expect([3, 14, 54, 58, 240, 5_500, 200_000].map(roughly)).toEqual([
    "a few seconds",
    "about 10 s",
    "about 50 s",
    "about 1 min",
    "about 4 min",
    "about 2 h",
    "about 2 days",
  ]);
});
