// What the page of a job decides without a browser: where stages stand, whose counts are newer, what an event means, what can be
// done.
import { describe, expect, test } from "vitest";
import type { StageCounts } from "../../dashboard/src/live/hub.js";
import { placeOf } from "../../dashboard/src/pages/job/deliverable_place.js";
import { storyOf } from "../../dashboard/src/pages/job/event_story.js";
import { edgePath, layoutOf } from "../../dashboard/src/pages/job/graph_layout.js";
import { paceOf, withCounts } from "../../dashboard/src/pages/job/live_counts.js";
import type { Job, Stage, Why } from "../../dashboard/src/pages/job/records.js";
import { stillSince, stillsOf } from "../../dashboard/src/pages/job/stillness.js";
import { why_not, whyNotThisStage } from "../../dashboard/src/pages/job/verb_rules.js";
import { actionsOf, codeWords } from "../../dashboard/src/pages/job/why_action.js";

describe("the graph of stages", () => {
  test("puts a chain into one row", () => {
    const { places, columns, rows } = layoutOf([
      { number: 1, after: [] },
      { number: 2, after: [1] },
      { number: 3, after: [2] },
    ]);
    expect([...places.values()].map(({ column, row }) => [column, row])).toEqual([
      [0, 0],
      [1, 0],
      [2, 0],
    ]);
    expect([columns, rows]).toEqual([3, 1]);
  });

  test("puts what runs side by side into one column, and what waits for both behind", () => {
    const { places, edges } = layoutOf([
      { number: 1, after: [] },
      { number: 2, after: [1] },
      { number: 3, after: [1] },
      { number: 4, after: [2] },
      { number: 5, after: [3, 4] },
    ]);
    expect(Object.fromEntries(places)).toEqual({
      1: { column: 0, row: 0 },
      2: { column: 1, row: 0 },
      3: { column: 1, row: 1 },
      4: { column: 2, row: 0 },
      5: { column: 3, row: 0 },
    });
    expect(edges).toContainEqual({ from: 3, to: 5 });
  });

  test("keeps branches beside where they come from, so that lines cross no more than they must", () => {
    const { places } = layoutOf([
      { number: 1, after: [] },
      { number: 2, after: [] },
      { number: 3, after: [2] },
      { number: 4, after: [1] },
    ]);
    expect([places.get(4)?.row, places.get(3)?.row]).toEqual([0, 1]);
  });

  test("lays out a thousand stages at once", () => {
    const stages = Array.from({ length: 1000 }, (_, at) => ({ number: at + 1, after: at === 0 ? [] : [at] }));
    expect(layoutOf(stages).columns).toBe(1000);
  });

  test("draws from side to side, from top to bottom, and not at all past others", () => {
    const box = { left: 0, top: 0, width: 100, height: 50 };
    expect(edgePath(box, { ...box, left: 150 })).toMatch(/^M100 25C.* 150 25$/);
    expect(edgePath(box, { ...box, top: 80 })).toBe("M28 50L28 80");
    expect(edgePath(box, { ...box, top: 300 })).toBeNull();
  });

  test("draws around what stands between", () => {
    const [from, to] = [
      { left: 0, top: 100, width: 100, height: 50 },
      { left: 400, top: 0, width: 100, height: 50 },
    ];
    const above = { left: 200, top: 0, width: 100, height: 50 };
    // At its own height, while that is free; else below all.
    expect(edgePath(from, to, [from, to, above])).toMatch(/^M100 125C.* 194 125L306 125C.* 400 25$/);
    const across = { ...above, height: 200 };
    expect(edgePath(from, to, [across])).toMatch(/ 194 208L306 208C/);
  });
});

const stage = (more: Partial<Stage>) =>
  ({
    stage_id: 7,
    number: 1,
    name: "tiles",
    status: "processing",
    total: 10,
    completed: 2,
    failed: 0,
    skipped: 0,
    cancelled: 0,
    processing: 1,
    queued: 7,
    retrying: 3,
    rate_per_s: null,
    eta_s: null,
    ...more,
  }) as Stage;
const job = (...stages: Stage[]) => ({ status: "processing", stages }) as unknown as Job;
const counts = (more: Partial<StageCounts> = {}): StageCounts => ({
  job_id: "",
  stage_id: 7,
  number: 1,
  stage: "tiles",
  status: "processing",
  total: 10,
  completed: 6,
  failed: 1,
  skipped: 0,
  processing: 2,
  ...more,
});

describe("counts that were told since the status was read", () => {
  const progress = new Map([[7, counts()]]);

  test("take its place, and what waits is what is left", () => {
    const [live] = withCounts(job(stage({})), progress, () => true).stages;
    expect(live).toMatchObject({ completed: 6, failed: 1, processing: 2, queued: 1, retrying: 1 });
  });

  test("are left alone when the status is newer, as after a repair that took results back", () => {
    const before = job(stage({}));
    expect(withCounts(before, progress, () => false)).toBe(before);
  });

  test("tell that a stage has closed", () => {
    const closed = new Map([[7, counts({ status: "completed", completed: 10, failed: 0, processing: 0 })]]);
    const [live] = withCounts(job(stage({ queued: 0, retrying: 0 })), closed, () => true).stages;
    expect(live).toMatchObject({ status: "completed", completed: 10, queued: 0 });
  });
});

describe("the pace of a stage", () => {
  const watched = new Map([[1, { per_s: 4, eta_s: 2 }]]);

  test("is what was watched, once it was watched for a while", () => {
    expect(paceOf(stage({ rate_per_s: 2 }), watched, 500)).toEqual({ per_s: 2, eta_s: 4 });
    expect(paceOf(stage({ rate_per_s: 2 }), watched, 5_000)).toEqual({ per_s: 4, eta_s: 2 });
    expect(paceOf(stage({}), watched, 500)).toEqual({ per_s: 4, eta_s: 2 });
    expect(paceOf(stage({}), new Map(), 500)).toBeNull();
  });

  test("is nobody's business when nothing is left", () => {
    expect(paceOf(stage({ completed: 10, rate_per_s: 2 }), watched, 5_000)).toBeNull();
    expect(paceOf(stage({ status: "completed", rate_per_s: 2 }), watched, 5_000)).toBeNull();
  });
});

describe("the one action of why", () => {
  const actions = (action: Why["action"], command: string | null = null, code = "X", evidence: unknown = {}) =>
    actionsOf({ action, command, code, evidence });

  test("is a button where this page can do it", () => {
    const job_id = "ab".repeat(32);
    expect(actions({ verb: "resume", job_id })).toEqual([{ kind: "job", verb: "resume", job_id }]);
    expect(actions({ verb: "approve", job_id })).toEqual([{ kind: "decide", job_id, stage: undefined }]);
    expect(actions({ verb: "approve", job_id, stage: "publish" })).toEqual([
      { kind: "decide", job_id, stage: "publish" },
    ]);
    expect(actions({ verb: "continue_type", task_type: "raster.cog" })).toEqual([
      { kind: "type", verb: "continue", task_type: "raster.cog" },
    ]);
    expect(actions({ verb: "tasks.retry", task_id: "12-0" })).toEqual([
      { kind: "task", verb: "retry", task_id: "12-0" },
    ]);
    expect(actions({ verb: "tasks.reschedule", task_id: "12-0", run_at: "2030-01-01T00:00:00Z" })).toEqual([
      { kind: "run_now", task_id: "12-0", run_at: "2030-01-01T00:00:00Z" },
    ]);
  });

  test("is a link where there is something to look at", () => {
    expect(actions({ verb: "watch", job_id: "ab12" })).toEqual([{ kind: "open_job", job_id: "ab12" }]);
    expect(actions({ verb: "tasks.get", task_id: "12-0" })).toEqual([{ kind: "open_task", task_id: "12-0" }]);
    expect(actions({ verb: "verify", job_id: "ab12" })).toEqual([{ kind: "verify", job_id: "ab12" }]);
  });

  test("leads to the job that is waited for", () => {
    const job_id = "ab".repeat(32);
    expect(actions({ verb: "up" }, "fanfold up", "WAITING_DEPENDENCY", { jobs: [{ job_id }] })).toEqual([
      { kind: "open_job", job_id },
    ]);
    expect(actions({ verb: "up" }, "fanfold up", "WAITING_DEPENDENCY", { jobs: "?" })).toEqual([
      { kind: "command", command: "fanfold up" },
    ]);
  });

  test("is else the command to copy, with the page that shows more", () => {
    expect(actions({ verb: "up" }, "fanfold up", "WORKERS_BUSY")).toEqual([
      { kind: "command", command: "fanfold up" },
      { kind: "page", page: "workers" },
    ]);
    expect(actions(null, null, "TENANT_LIMIT")).toEqual([{ kind: "page", page: "limits" }]);
    expect(actions(null, null, "constructor")).toEqual([]);
  });

  test("of a verb that it does not know is none that could be sent by mistake", () => {
    for (const verb of ["tasks.skip", "constructor"]) {
      expect(actions({ verb, task_id: "12-0" }, "fanfold skip 12-0 --reason …")).toEqual([
        { kind: "command", command: "fanfold skip 12-0 --reason …" },
      ]);
    }
    expect(["JOB_PAUSED", "NO_WORKER_FOR_TYPE"].map(codeWords)).toEqual(["Job paused", "No worker for this type"]);
  });
});

describe("the story of a job", () => {
  test("tells what is known in words, and keeps the rest to be unfolded", () => {
    expect(storyOf({ kind: "stage.planned", data: { stage: "tiles", total: 1924, plan_hash: "ab" } }, "tiles")).toEqual(
      { text: "Stage tiles was planned: 1,924 tasks", sign: "planning", rest: { plan_hash: "ab" } },
    );
    const ended = { stage: "tiles", total: 10, completed: 8, failed: 2, skipped: 0 };
    expect(storyOf({ kind: "stage.failed", data: ended }, null).text).toBe(
      "Stage tiles failed: 8 of 10 completed, 2 failed",
    );
    const repaired = { epoch: 2, kind: "group", target: "abc", again: 7, kept: 1300, from_stage: 2, stages: [] };
    expect(storyOf({ kind: "job.retried", data: repaired }, null)).toEqual({
      text: "Error group abc is run again (epoch 2): 7 to run again, 1,300 kept",
      sign: "retrying",
      rest: { stages: [] },
    });
  });

  test("tells what it has never heard of by its kind", () => {
    expect(storyOf({ kind: "alert.task_overdue", data: { target: "task 1-2" } }, null).text).toBe(
      "Alert: task overdue: task 1-2",
    );
    expect(storyOf({ kind: "webhook.discarded", data: null }, null).text).toBe("Webhook discarded");
    expect(storyOf({ kind: "constructor", data: null }, null).text).toContain("Constructor");
  });
});

describe("a deliverable", () => {
  test("is a link only to the web and to the catalogue", () => {
    expect(placeOf("https://maps.example/a b")).toEqual({ kind: "web", href: "https://maps.example/a%20b" });
    expect(placeOf("/stac/collections/dem%2030/items")).toEqual({
      kind: "collection",
      collection_id: "dem 30",
      item_id: undefined,
    });
    expect(placeOf("/stac/collections/dem/items/a")).toEqual({
      kind: "collection",
      collection_id: "dem",
      item_id: "a",
    });
  });

  test("is a file to download where this service has it", () => {
    expect(placeOf("/api/tasks/12-0/asset")).toEqual({ kind: "file", path: "/api/tasks/12-0/asset" });
    expect(placeOf("silver:dem/a b/cog.tif")).toEqual({ kind: "file", path: "/assets/silver/dem/a%20b/cog.tif" });
  });

  test.each([
    "silver:../../api/keys",
    "silver:dem//x",
    "bronze:a\\..\\b/../c",
    "/api/tasks/12-0/asset?x",
    "/api/keys",
    "javascript:alert(1)",
    " javascript:alert(1)",
    "data:text/html,x",
    "//evil.example",
    "silver:dem/",
    "https:/x",
    "/stac/collections/%E0%A4%A/items",
    "http://[",
    "",
  ])("is text otherwise: %j", (location) => {
    expect(placeOf(location).kind).toBe("text");
  });
});

describe("what can be done", () => {
  const standing = (status: string, paused_at: string | null = null) =>
    ({ status, paused_at, resumable: ["failed", "cancelled", "partial_success"].includes(status) }) as Job;

  test("with a job under way is pausing and cancelling", () => {
    const running = standing("processing");
    expect([why_not.pause(running), why_not.cancel(running)]).toEqual([null, null]);
    expect(why_not.resume(running)).toMatch(/under way/);
    expect(why_not.retry_stage(running)).toMatch(/once the job has ended/);
    expect(why_not.continue(running)).toBe("It is not paused.");
    expect(why_not.continue(standing("processing", "2030"))).toBeNull();
    expect(why_not.pause(standing("processing", "2030"))).toMatch(/already/);
  });

  test("with one that did not end well is resuming, and retrying what was reached", () => {
    const failed = standing("failed");
    expect([why_not.resume(failed), why_not.retry_group(failed)]).toEqual([null, null]);
    expect(whyNotThisStage(failed, { status: "cancelled", total: null })).toMatch(/never reached/);
    expect(whyNotThisStage(failed, { status: "failed", total: 3 })).toBeNull();
    expect(why_not.cancel(failed)).toMatch(/has ended/);
  });

  test("with one that completed is retrying a stage, but not resuming", () => {
    expect(why_not.resume(standing("completed"))).toMatch(/It completed/);
    expect(why_not.retry_stage(standing("completed"))).toBeNull();
  });
});

test("a job is still since the one of its open stages that waits the longest last moved", () => {
  const stage = (number: number, status: "processing" | "completed", completed: number) => {
    return { number, status, completed, failed: 0, skipped: 0 };
  };
  const first = stillsOf(
    new Map(),
    [stage(1, "completed", 9), stage(2, "processing", 0), stage(3, "processing", 0)],
    1000,
  );
  const second = stillsOf(
    first,
    [stage(1, "completed", 9), stage(2, "processing", 0), stage(3, "processing", 5)],
    7000,
  );
  expect(stillSince(second, 8000)).toBe(1000);
  const third = stillsOf(second, [stage(2, "processing", 1), stage(3, "processing", 5)], 9000);
  expect(stillSince(third, 9500)).toBe(7000);
  // Nothing is open: nothing stands still.
  expect(stillSince(stillsOf(third, [stage(2, "completed", 2)], 9900), 10_000)).toBe(10_000);
});
