// What the pages of requests and datasets compute: sentences, comparisons, what is sent, what can be done, and where problems belong.
import { describe, expect, test } from "vitest";
import { fromPlain } from "../../dashboard/src/form/values.js";
import { decisionText, latestText } from "../../dashboard/src/pages/datasets/release_words.js";
import {
  type Asked,
  askLines,
  bodyText,
  bringLines,
  filesOf,
  keyOf,
  nothing_asked,
  placed,
  recipeFor,
} from "../../dashboard/src/pages/requests/ask_body.js";
import { asked, no_filters, standing } from "../../dashboard/src/pages/requests/asked.js";
import { comparedRows, fileChanges, parameterChanges } from "../../dashboard/src/pages/requests/compared.js";
import type { Recipe, ReviewSide, Service } from "../../dashboard/src/pages/requests/records.js";
import { servicePlace, servicesInGroups } from "../../dashboard/src/pages/requests/services.js";
import { storyOf } from "../../dashboard/src/pages/requests/story.js";
import { isAsked, isReviewed, why_not } from "../../dashboard/src/pages/requests/verb_rules.js";
import { requestVerdict, type VerdictRequest } from "../../src/core/shown/request_verdict.js";

const job = (name: string, status: string, more: object = {}) => ({
  name,
  status,
  sequence: 1,
  gate: null,
  stage: null,
  total: null,
  completed: null,
  failed: null,
  skipped: null,
  skip_reason: null,
  ...more,
});
const request = (status: string, jobs: VerdictRequest["jobs"], more: Partial<VerdictRequest> = {}): VerdictRequest => ({
  status,
  epoch: 1,
  created_at: "2031-05-14T10:00:00Z",
  started_at: "2031-05-14T10:00:01Z",
  finished_at: null,
  run_at: null,
  error: null,
  waits_for_approval: null,
  jobs,
  ...more,
});
const now_ms = Date.parse("2031-05-14T10:01:00Z");
const ended = { finished_at: "2031-05-14T10:00:13Z" };

describe("the sentence about a request", () => {
  const say = (one: VerdictRequest, facts: object = {}) => {
    const { text, tone } = requestVerdict(one, { now_ms, ...facts });
    return `${tone}: ${text}`;
  };

  test("says which step runs and how far it is", () => {
    const running = job("cover", "processing", {
      sequence: 2,
      stage: "tiles",
      total: 96,
      completed: 10,
      failed: 2,
      skipped: 0,
    });
    expect(say(request("processing", [job("check", "completed"), running]))).toBe(
      "busy: Step 2 of 2 (cover) runs at tiles, 12 of 96 tasks done, 2 failed",
    );
    expect(say(request("processing", [job("check", "queued")]))).toBe("waits: Step 1 of 1 (check) waits for a worker");
    expect(say(request("processing", [job("check", "planning")]))).toBe("busy: Step 1 of 1 (check) is being planned");
    expect(say(request("processing", [job("check", "completed"), job("load", "waiting")]))).toBe(
      "busy: The next job is about to start",
    );
  });

  test("asks at a gate before it tells what else runs", () => {
    const jobs = [job("a", "processing"), job("publish", "waiting_approval", { sequence: 2, gate: "Publish\n it?" })];
    expect(say(request("processing", jobs))).toBe("waits: Step 2 of 2 (publish) waits for approval: Publish it?");
  });

  test("tells when it will begin", () => {
    const later = request("pending", [job("a", "waiting")], { started_at: null, run_at: "2031-05-14T10:02:00Z" });
    expect(say(later)).toBe("waits: Waits for its time, in 1 min");
  });

  test("tells how it ended, what is missing, and what became of its release", () => {
    const done = [job("a", "completed"), job("b", "completed")];
    expect(say(request("completed", done, ended), { services: 1 })).toBe(
      "well: Completed in 12 s · 2 jobs · 1 address of what it made",
    );
    expect(say(request("completed", done, ended), { approval: "pending_review" })).toBe(
      "waits: Completed in 12 s · 2 jobs · its release waits for a review",
    );
    expect(say(request("completed", done, ended), { approval: "revoked" })).toContain("over: ");
    const partly = [
      job("a", "partial_success", { failed: 1 }),
      job("b", "failed"),
      job("c", "skipped", { skip_reason: "upstream" }),
      job("d", "skipped", { skip_reason: "when" }),
    ];
    expect(say(request("partial_success", partly, ended))).toBe(
      "partly: Partly succeeded in 12 s · missing: 1 task of a, b, c (skipped: what it needs failed)",
    );
    const failed = request("failed", [job("a", "completed"), job("b", "failed", { sequence: 2 })], {
      ...ended,
      error: { job: "b", message: "no\ntable" },
      epoch: 2,
    });
    expect(say(failed)).toBe("badly: Failed in epoch 2, 12 s after it first started at step 2 of 2 (b) · no table");
    expect(say(request("cancelled", [job("a", "completed")], { ...ended, error: { message: "not wanted" } }))).toBe(
      "over: Cancelled in 12 s: not wanted · 1 job completed before, and stays",
    );
  });
});

describe("what is different from before", () => {
  const side = (more: Partial<ReviewSide> = {}): ReviewSide => ({
    request_id: "a".repeat(32),
    version_id: "1",
    run: 1,
    status: "completed",
    data_type: "raster",
    created_at: "",
    finished_at: "",
    files: ["bronze:a.tif"],
    file_count: 1,
    parameters: {},
    tasks: { total: 4, completed: 4, failed: 0, skipped: 0 },
    made: [{ media_type: "image/png", files: 1, bytes: 1_000 }],
    extent: [0, 0, 10, 10],
    at_least: false,
    items: 3,
    items_at_least: false,
    job_ids: [],
    release: null,
    ...more,
  });
  const found = (now: ReviewSide, before: ReviewSide | null, name: string) =>
    comparedRows(now, before).find((row) => row.name === name);

  test("is told in figures, with the difference; without a before nothing differs", () => {
    const now = side({
      tasks: { total: 5, completed: 3, failed: 2, skipped: 0 },
      made: [
        { media_type: "image/png", files: 1, bytes: 600 },
        { media_type: "image/tiff; application=geotiff; profile=cloud-optimized", files: 2, bytes: 900 },
      ],
      extent: [0, 0, 5, 10],
      items: 0,
    });
    expect(found(now, side(), "Tasks completed")).toMatchObject({ before: "4", now: "3", differs: true, by: "−1" });
    expect(found(now, side(), "Tasks failed")).toMatchObject({ by: "+2" });
    expect(found(now, side(), "… COGs")).toMatchObject({ before: "0", now: "2", by: "+2" });
    expect(found(now, side(), "Size of them")).toMatchObject({ before: "1 KB", now: "1.5 KB", by: "+500 B" });
    expect(found(now, side(), "Extent")).toMatchObject({ now: "0, 0, 5, 10", by: "50 % of the area" });
    expect(found(side({ extent: [1, 0, 11, 10] }), side(), "Extent")).toMatchObject({ by: "moved" });
    expect(found(now, side(), "Items in the catalogue")).toMatchObject({ before: "3", now: "0" });
    expect(found(side(), side(), "Recipe")).toMatchObject({ differs: false, by: null });
    expect(comparedRows(side(), null).every(({ differs, before }) => differs === null && before === null)).toBe(true);
    expect(found(side({ items: null }), side({ items: null }), "Items in the catalogue")).toBeUndefined();
  });

  test("is told of parameters down to the single value, whatever order their keys have", () => {
    const before = { approval: true, options: { crs: "EPSG:4326", bands: [1, 2] }, gone: { a: 1, b: 2 } };
    const now = { options: { bands: [2], crs: "EPSG:4326" }, approval: true, gone: { b: 2, a: 1 }, "new": null };
    expect(parameterChanges(before, now)).toEqual([
      { path: "new", before: null, now: "null" },
      { path: "options.bands", before: "[1,2]", now: "[2]" },
    ]);
    expect(parameterChanges({ a: [{ x: 1, y: 2 }] }, { a: [{ y: 2, x: 1 }] })).toEqual([]);
  });

  test("is told of files that came and went", () => {
    expect(fileChanges(["a", "b"], ["b", "c"])).toEqual({ added: ["c"], gone: ["a"] });
  });
});

describe("what can be done", () => {
  const standing_of = (status: string, waits: string | null = null) => ({
    status: status as "completed",
    finished_at: status === "processing" ? null : "x",
    resumable: status === "failed",
    waits_for_approval: waits,
  });
  const release = (approval: string, wants_approval = true) => ({ approval: approval as "approved", wants_approval });

  test("a person is asked at a gate, and after the end when a review is wanted", () => {
    expect(isAsked({ request: standing_of("processing", "publish"), release: null })).toBe(true);
    expect(isAsked({ request: standing_of("processing"), release: release("pending_review") })).toBe(false);
    expect(isAsked({ request: standing_of("completed"), release: release("pending_review") })).toBe(true);
    expect(isAsked({ request: standing_of("failed"), release: release("pending_review") })).toBe(false);
    expect(isReviewed(release("pending_review", false))).toBe(false);
  });

  test("what is approved is revoked before it is made again or taken down", () => {
    const facts = { request: standing_of("completed"), release: release("approved") };
    expect(why_not.again(facts)).toContain("revoke it first");
    expect(why_not.unpublish(facts)).toContain("revoke it");
    expect(why_not.revoke(facts)).toBeNull();
    const free = { ...facts, release: release("approved", false) };
    expect([why_not.again(free), why_not.unpublish(free)]).toEqual([null, null]);
    expect(why_not.revoke({ ...facts, release: release("pending_review") })).toContain("waiting for a review");
    expect(why_not.revoke({ ...facts, release: null })).not.toBeNull();
  });

  test("only what ended badly is resumed, and only what is open is cancelled", () => {
    const of = (status: string) => ({ request: standing_of(status), release: null });
    expect([why_not.resume(of("failed")), why_not.cancel(of("processing"))]).toEqual([null, null]);
    for (const not of [why_not.resume(of("completed")), why_not.resume(of("processing")), why_not.cancel(of("failed"))])
      expect(not).not.toBeNull();
  });
});

describe("what the form sends", () => {
  const form: Asked = {
    ...nothing_asked,
    dataset_id: " dem ",
    resource_id: "al ps",
    version_id: "1",
    brought: ["scene 1.tif"],
    places: "bronze:a.tif\n\n  bronze:b.tif ",
  };

  test("files that are brought lie where the command line would put them, beside those that are named", () => {
    expect(keyOf(form, "scene 1.tif")).toBe("requests/dem/al-ps/1/scene 1.tif");
    expect(filesOf(form)).toEqual(["bronze:requests/dem/al-ps/1/scene 1.tif", "bronze:a.tif", "bronze:b.tif"]);
  });

  test("what is not given is not sent, and numbers keep their digits", () => {
    expect(JSON.parse(bodyText({ ...form, places: "", brought: [] }))).toEqual({
      dataset_id: "dem",
      resource_id: "al ps",
      version_id: "1",
    });
    const parameters = { options: fromPlain({ nodata: -9999 }), n: fromPlain(1) };
    const text = bodyText({
      ...form,
      parameters,
      mode: "force",
      priority: "5",
      client_id: "portal",
      data_type: "raster",
    });
    expect(JSON.parse(text)).toMatchObject({
      data_type: "raster",
      parameters: { options: { nodata: -9999 }, n: 1 },
      mode: "force",
      priority: 5,
      client_id: "portal",
    });
  });

  test("is the same as a command and as curl, with every text one word", () => {
    const { cli, curl } = askLines("https://x.example/f", { ...form, brought: ["it's.tif"], mode: "force" });
    expect(cli).toBe(
      "fanfold requests submit './it'\\''s.tif' bronze:a.tif bronze:b.tif --dataset dem --resource 'al ps' --version-id 1 --force",
    );
    expect(curl).toContain("curl -sS -X POST 'https://x.example/f/api/platform/submit'");
    const [begin, part, complete] = bringLines("https://x.example/f", form, "scene 1.tif", 9);
    expect(begin).toContain('"bytes":9');
    expect(part).toContain("-T './scene 1.tif' 'https://x.example/f/api/files/<upload_id>/parts/1'");
    expect(complete).toContain("/complete'");
  });

  test("the recipe is found by how all names end and by their number", () => {
    const recipe = (data_type: string, extensions: string[], more: object = {}) =>
      ({ data_type, accepts: { extensions, ...more } }) as unknown as Recipe;
    const recipes = [recipe("raster", [".tif"], { max_files: 1 }), recipe("several", [".tif"], { min_files: 2 })];
    expect(recipeFor(["bronze:A.TIF"], recipes)?.data_type).toBe("raster");
    expect(recipeFor(["bronze:a.tif", "bronze:b.tif"], recipes)?.data_type).toBe("several");
    expect(recipeFor(["https://x/a.tif?sig=1"], recipes)?.data_type).toBe("raster");
    expect(recipeFor(["bronze:a.tif", "bronze:b.csv"], recipes)).toBeNull();
    expect(recipeFor([], recipes)).toBeNull();
    // As the server does: the one that takes the fewest files, and then the fewest kinds of them.
    const wide = [recipe("other", [".tif", ".csv"]), recipe("own", [".csv"]), ...recipes];
    expect(recipeFor(["bronze:a.tif"], wide)?.data_type).toBe("raster");
    expect(recipeFor(["bronze:a.csv"], wide)?.data_type).toBe("own");
  });

  test("problems stand at their fields, at their parameters, or above both", () => {
    const problem = (path: string) => ({ path, problem: "is wrong", fix: "mend it" });
    const where = placed(
      [
        problem("body.version_id"),
        problem("$.skip"),
        problem("body.parameters.skip"),
        problem("$.jobs.a"),
        problem("x"),
      ],
      ["version_id"],
    );
    expect(where.fields.get("version_id")).toBe("is wrong mend it");
    expect(where.parameters.map(({ path }) => path)).toEqual(["$.skip", "$.skip"]);
    expect(where.others.map(({ path }) => path)).toEqual(["$.jobs.a", "x"]);
  });
});

test("the filter asks for what is given, and not for a status that nobody knows", () => {
  expect(asked(no_filters)).toEqual({});
  expect(asked({ ...no_filters, status: "failed,evil", text: " alps ", dataset: "dem", client: "portal" })).toEqual({
    status: "failed",
    text: "alps",
    dataset_id: "dem",
    client_id: "portal",
  });
  expect(asked({ ...no_filters, status: "evil" })).toEqual({});
});

test("a row says how far a request is, or what went wrong", () => {
  const jobs = [job("a", "completed"), job("b", "processing")] as never;
  expect(standing({ status: "processing", jobs, error: null })).toBe("1 of 2 jobs ended");
  expect(standing({ status: "failed", jobs, error: { message: "x".repeat(200) } })).toHaveLength(120);
});

test("addresses stand in groups, and those of collections and items of this service lead to their pages", () => {
  const service = (name: string, href: string): Service => ({ job: "publish", name, href, type: null, title: null });
  const groups = servicesInGroups([
    service("tiles", "1"),
    service("asset", "2"),
    service("stac_item", "3"),
    service("asset", "4"),
  ]);
  expect(groups.map(({ text, services }) => `${text} ${services.length}`)).toEqual(["Item 1", "Files 2", "tiles 1"]);
  const base = "https://x.example/f";
  expect(servicePlace(`${base}/stac/collections/a%2Fb/items/c%25`, base)).toMatchObject({
    collection_id: "a/b",
    item_id: "c%",
  });
  expect(servicePlace(`${base}/stac/collections/a`, base)).toMatchObject({ collection_id: "a", item_id: null });
  expect(servicePlace(`${base}/stac/collections/a/items`, base)).toMatchObject({ collection_id: null });
  expect(servicePlace(`${base}/stac/collections/%E0%A4%A`, base)).toMatchObject({ collection_id: null });
  expect(servicePlace("https://elsewhere.example/stac/collections/a", base)).toBeNull();
});

test("what happened is told in words, also what nobody has words for", () => {
  const told = (kind: string, data: Record<string, unknown> | null = null, of: string | null = null) =>
    storyOf({ kind, data, job: of }).text;
  expect(told("request.submitted", { run: 2, data_type: "raster" })).toBe(
    "It was asked for: run 2, by the recipe raster",
  );
  expect(told("release.approved", { clearance: "public", revision: 1 })).toBe(
    "The release was approved: clearance public, revision 1",
  );
  expect(told("job.failed", null, "load")).toBe("Job load failed");
  expect(told("job.re_planned", null, null)).toBe("A job: re planned");
  expect(told("request.toString")).toBe("Request toString");
});

test("who decided what, and which version is the latest", () => {
  const decision = { by: "ann", at: "", reason: null, clearance: "public", revision: 2 };
  expect(decisionText({ ...decision, decision: "approved" }).text).toBe("Approved (public, revision 2)");
  expect(decisionText({ ...decision, decision: "revoked", revision: 1 }).text).toBe("Revoked");
  const version = (approval: "approved" | "revoked" | "pending_review", latest: boolean, status = "completed") => ({
    approval,
    latest,
    status,
    version_id: "7",
  });
  expect(latestText([version("pending_review", false), { ...version("approved", true), version_id: "6" }])).toBe(
    "Version 6 is the latest: the highest that is approved and ended well.",
  );
  expect(latestText([version("revoked", false)])).toContain("the newest, 7, is revoked");
  expect(latestText([version("approved", false, "processing")])).toContain("approved, and its request is processing");
  expect(latestText([])).toBe("It has no version.");
});
