// What the list of jobs computes without a browser: what could follow in the filter, which rows stand still, how far a job is.
import { describe, expect, test } from "vitest";
import { complete } from "../../dashboard/src/pages/jobs/completion.js";
import { heldRows, type ListedJob, liveProgress, standing } from "../../dashboard/src/pages/jobs/rows.js";

const known = {
  types: ["process_raster", "tile_pyramid"],
  labels: [
    { key: "team", values: ["hydro", "north sea"] },
    { key: "odd key", values: ["a,b"] },
  ],
};
/** The text with each option in place; | is the caret. */
function offers(text: string): string[] {
  const caret = text.indexOf("|");
  const plain = text.replace("|", "");
  const found = complete(plain, caret, known);
  return (found?.options ?? []).map((option) => plain.slice(0, found!.from) + option.text + plain.slice(found!.to));
}

describe("completion", () => {
  test("offers keys at the beginning of a term, and types by any part of their name", () => {
    expect(offers("|")).toContain("type:");
    expect(offers("status:failed stat|")).toEqual(["status:failed status:"]);
    expect(offers("raster|")).toEqual(["type:process_raster "]);
    expect(offers("zzz|")).toEqual([]);
  });

  test("offers values that are not taken yet, behind commas too", () => {
    expect(offers("status:fa|")).toEqual(["status:failed "]);
    expect(offers("status:failed,ca|")).toEqual(["status:failed,cancelled "]);
    expect(offers("is:|")).toHaveLength(4);
    expect(offers("created:|")[0]).toBe("created:>-1h ");
    expect(offers("type:pyr|")).toEqual(["type:tile_pyramid "]);
  });

  test("offers labels that were seen, quoted where they must be", () => {
    expect(offers("label:t|")).toEqual(["label:team="]);
    expect(offers("label:team=n|")).toEqual([]);
    expect(offers("label:team=|")).toEqual(["label:team=hydro ", 'label:team="north sea" ']);
    expect(offers("label:|")).toContain('label:"odd key"=');
  });

  test("keeps quiet within quotes, and leaves what follows the caret alone", () => {
    expect(offers('error:"st|')).toEqual([]);
    expect(offers("sta| created:>-1d")).toEqual(["status: created:>-1d"]);
  });
});

const progress = {
  stages: 2,
  stages_ended: 1,
  stage: 2,
  stage_name: "tiles",
  approval: false,
  retrying: false,
  total: 101,
  completed: 41,
  failed: 2,
  skipped: 0,
  open_stages: [{ stage_id: 7, total: 100, completed: 40, failed: 2, skipped: 0 }],
};
const job: ListedJob = {
  job_id: "a",
  job_type: "tile",
  run: 1,
  status: "processing",
  priority: 0,
  labels: {},
  created_at: "",
  started_at: "",
  finished_at: null,
  error: null,
  group_id: null,
  correlation_id: null,
  paused_at: null,
  waits_for: 0,
  progress,
};
const named = (job_id: string, status: ListedJob["status"] = "queued"): ListedJob => ({ ...job, job_id, status });

describe("rows", () => {
  test("that stand keep their places and learn what became of them; new ones are counted", () => {
    const shown = [named("c"), named("b"), named("a")];
    const latest = [named("e"), named("d"), named("c", "completed"), named("b")];
    const { rows, fresh } = heldRows(shown, latest);
    expect(rows.map(({ job_id, status }) => `${job_id} ${status}`)).toEqual(["c completed", "b queued", "a queued"]);
    expect(fresh).toBe(2);
  });

  test("follow the stream: open stages are counted as it told of them, and never go back", () => {
    const told = (completed: number, stage_id = 7) =>
      new Map([[stage_id, { stage_id, total: 100, completed, failed: 3, skipped: 0, processing: 5 }]]);
    expect(liveProgress(job, told(60))).toEqual({ total: 101, completed: 61, failed: 3, skipped: 0, processing: 5 });
    expect(liveProgress(job, told(10))).toMatchObject({ completed: 41, failed: 2 });
    expect(liveProgress(job, told(60, 99))).toMatchObject({ completed: 41 });
    expect(liveProgress({ progress: null }, told(60))).toBeNull();
  });

  test("say in a few words where a job is", () => {
    const counted = liveProgress(job, new Map());
    expect(standing(job, counted)).toBe("stage 2 of 2 · 43 of 101 · 2 failed");
    const paused = { ...job, progress: { ...progress, approval: true } };
    expect(standing(paused, counted)).toContain("waits for approval");
    expect(standing({ ...job, waits_for: 2 }, counted)).toBe("waits for 2 other jobs");
    expect(standing({ ...job, finished_at: "x", status: "failed" }, counted)).toBe("41 of 101 · 2 failed");
    expect(standing({ ...job, progress: { ...progress, retrying: true } }, counted)).toContain("retrying");
  });
});
