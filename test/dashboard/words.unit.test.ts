// Small words of several pages, without a browser: times, groups, hosts, and the tasks an address names.
import { describe, expect, test } from "vitest";
import { bulkCommands } from "../../dashboard/src/api/commands.js";
import { submitLines } from "../../dashboard/src/form/form_lines.js";
import { circuitOf, type Host, limitWords } from "../../dashboard/src/pages/connectors/circuit.js";
import { type Group, standing, waitsFor } from "../../dashboard/src/pages/groups/standing.js";
import { stagesInTurn } from "../../dashboard/src/pages/job/stages_in_turn.js";
import { ordinalIn, withSurroundings } from "../../dashboard/src/pages/map/shapes.js";
import { durationText, relativeTime } from "../../dashboard/src/ui/text.js";
import { retryFromText } from "../../src/core/declare/retry.js";

describe("times", () => {
  const now = Date.parse("2031-05-14T12:00:00Z");

  test("past ones are told in one unit, coming ones as exactly as durations", () => {
    const ago = [1, 29, 59.6, 119, 3_599, 7_200, 47 * 3600, 49 * 3600].map((s) => relativeTime(now - s * 1000, now));
    expect(ago).toEqual(["now", "29 s ago", "1 min ago", "1 min ago", "59 min ago", "2 h ago", "47 h ago", "2 d ago"]);
    const coming = [5, 42, 93, 45_180].map((s) => relativeTime(now + s * 1000, now));
    expect(coming).toEqual(["in 5 s", "in 42 s", "in 1 min 33 s", "in 12 h 33 min"]);
  });

  test("durations read as the verdict's", () => {
    expect([774, 2_500, 75_000].map(durationText)).toEqual(["774 ms", "2.5 s", "1 min 15 s"]);
  });
});

describe("a group", () => {
  const group = {
    group_id: "valleys",
    name: null,
    status: "open",
    created_at: "",
    created_by: "Mara",
    hint: "",
    expected: null,
    sealed_at: null,
    sealed_by: null,
    finished_at: null,
    total: 0,
    open: 0,
    completed: 0,
    partial_success: 0,
    failed: 0,
    cancelled: 0,
  } as Group;

  test("says how many of its jobs have ended, and how", () => {
    expect(standing(group)).toBe("no job yet");
    expect(standing({ ...group, total: 1, completed: 1 })).toBe("1 of 1 job ended");
    expect(standing({ ...group, expected: 40, total: 12, open: 9, completed: 1, failed: 2 })).toBe(
      "3 of 40 jobs ended, 2 failed",
    );
  });

  test("says what it waits for until it has ended", () => {
    expect(waitsFor(group)).toContain("Once it is sealed");
    expect(waitsFor({ ...group, expected: 8 })).toContain("With the last of 8");
    expect(waitsFor({ ...group, sealed_at: "2031-05-14T12:00:00Z", open: 1 })).toContain("1 open job.");
    expect(waitsFor({ ...group, status: "failed" })).toBeNull();
  });
});

describe("a host", () => {
  const host: Host = {
    scope: "host/archive.example.com",
    breaker: "closed",
    open_until: null,
    wait_until: null,
    calls: 0,
    failed_count: 0,
    ok_count: 0,
    mean_s: 0,
    used_at: "2031-05-14T12:00:00Z",
  };
  const now = Date.parse("2031-05-14T12:00:00Z");
  const [before, after] = ["2031-05-14T11:59:00Z", "2031-05-14T12:01:00Z"];

  test("is called unless its circuit is open, or it asked to be left alone until a time to come", () => {
    expect(circuitOf(host, now)).toMatchObject({ word: "called", until: null });
    expect(circuitOf({ ...host, wait_until: before }, now)).toMatchObject({ word: "called", until: null });
    expect(circuitOf({ ...host, wait_until: after }, now)).toMatchObject({ word: "asked to wait", until: after });
    expect(circuitOf({ ...host, breaker: "open", open_until: after }, now)).toMatchObject({
      status: "failed",
      word: "not called",
      until: after,
    });
    expect(circuitOf({ ...host, breaker: "half_open" }, now)).toMatchObject({ word: "tried again" });
  });

  test("limits are words, and what is not known stays as it is written", () => {
    expect(limitWords({ limits: { max_concurrent: 4, rate_per_s: 10, shared: true } })).toEqual([
      "at most 4 calls at once",
      "10 a second",
      "shared true",
    ]);
    expect(limitWords({ base_url: "https://example.com" })).toEqual([]);
  });
});

describe("the map", () => {
  test("finds the task that its address names, of this stage only", () => {
    expect([ordinalIn("36-20", 36), ordinalIn("36-20", 3), ordinalIn("", 36), ordinalIn("36-x", 36)]).toEqual([
      20,
      null,
      null,
      null,
    ]);
  });

  test("shows what is around a box, and stays on the globe", () => {
    expect(withSurroundings([10, 40, 11, 42])).toEqual([9, 38, 12, 44]);
    expect(withSurroundings([-180, 80, -178, 84])).toEqual([-180, 76, -176, 85]);
    expect(withSurroundings([179, 0, -179, 1])).toEqual([179, -1, -179, 2]);
  });

  test("tries the stage that matters first, then those with the most tasks, and never one without any", () => {
    const stage = (name: string, total: number | null, more = {}) => ({
      name,
      total,
      failed: 0,
      status: "completed",
      ...more,
    });
    const stages = [stage("find", 1), stage("tiles", 300, { failed: 2 }), stage("shrink", 40), stage("later", null)];
    expect(stagesInTurn({ stages } as never).map(({ name }) => name)).toEqual(["tiles", "shrink", "find"]);
  });
});

describe("commands", () => {
  const base = "https://maps.example";

  test("of all jobs that fit are the filter as it was typed; of every job, what the verb is for", () => {
    const { cli, curl } = bulkCommands(base, "resume", { text: `error:"timed out"`, filter: { error: "timed out" } });
    expect(cli).toBe(`fanfold resume --filter 'error:"timed out"'`);
    expect(curl).toContain("/api/jobs/bulk");
    expect(bulkCommands(base, "cancel", { text: " ", filter: {} }, { reason: "late" }).cli).toBe(
      "fanfold cancel --filter status:queued,processing --reason late",
    );
    expect(bulkCommands(base, "cancel", { job_ids: ["ab"] }).cli).toBeNull();
  });

  test("of a submit name its settings of retries, which the command line takes", () => {
    const { cli } = submitLines(base, "hello_world", {}, { retry: { attempts: 5, within_s: 900 } } as never);
    expect(cli).toBe("fanfold submit hello_world --retry attempts=5,within_s=900");
    expect(retryFromText("attempts=5,within_s=900")).toEqual({ retry: { attempts: 5, within_s: 900 } });
  });

  test("of a submit name its receivers: an endpoint by its id, an address as JSON", () => {
    const webhooks = [{ endpoint: "we_abcdefghijklmnop" }, { url: "https://a.example", secret: "secret://a" }];
    expect(submitLines(base, "hello_world", {}, { webhooks } as never).cli).toBe(
      `fanfold submit hello_world --webhook we_abcdefghijklmnop --webhook '{"url":"https://a.example","secret":"secret://a"}'`,
    );
  });
});
