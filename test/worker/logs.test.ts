import { expect, test } from "vitest";
import { max_log_bytes, max_log_lines, max_log_message } from "../../src/core/task/log_line.js";
import type { ClaimedStage } from "../../src/engine/work/commands.js";
import { newPace } from "../../src/worker/claim/batch.js";
import { HeldClaim } from "../../src/worker/claim/held.js";
import { LogBudget, TaskLogs } from "../../src/worker/run/logs.js";

const batch = { claim_id: 3, stage_id: 1, attempt: 2, crashes: 0, tasks: [] };
const held = () => new HeldClaim(batch, { stage_id: 1 } as ClaimedStage, newPace(), 0);

/** Everything written while `work` logs. */
interface LogLine {
  c: number;
  o: number;
  a: number;
  ms: number;
  level: string;
  message: string;
  data?: unknown;
}

function written(work: (log: (message: string, data?: Record<string, unknown>) => void) => void): LogLine[] {
  const lines: LogLine[] = [];
  const logs = new TaskLogs((text) => lines.push(...(JSON.parse(text) as LogLine[])));
  const budget = new LogBudget();
  const claim = held();
  work((message, data) => logs.add(claim, 7, budget, "info", message, data));
  logs.stop();
  return lines;
}

test("a line names claim, ordinal, attempt and how long ago it was said", () => {
  const [line] = written((log) => log("half way", { tiles: 3 }));
  expect(line).toMatchObject({ c: 3, o: 7, a: 2, level: "info", message: "half way", data: { tiles: 3 } });
  expect(line!.ms).toBeGreaterThanOrEqual(0);
});

test("an attempt that logs for ever is cut off with one line that says so", () => {
  const lines = written((log) => {
    for (let n = 0; n < 100_000; n++) log(`line ${n}`);
  });
  expect(lines).toHaveLength(max_log_lines + 1);
  expect(lines.at(-1)).toMatchObject({ level: "warn", message: expect.stringContaining("truncated") });
});

test("an attempt that logs huge lines is cut off by bytes", () => {
  const lines = written((log) => {
    for (let n = 0; n < 500; n++) log("x".repeat(1_000_000));
  });
  const bytes = lines.reduce((sum, line) => sum + line.message.length, 0);
  expect(bytes).toBeLessThan(max_log_bytes + max_log_message);
  expect(lines.at(-1)!.message).toContain("truncated");
});

test("what cannot be stored is replaced and never thrown", () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  const lines = written((log) => {
    log("a\0b\ud800c");
    log("data", { "k\0": "v\0", half: "\udc00" });
    log("circle", circle);
    log("big", { n: 5n });
    log("huge", { text: "x".repeat(100_000) });
    log(undefined as unknown as string);
  });
  expect(lines[0]!.message).toBe("a\ufffdb\ufffdc");
  expect(lines[1]!.data).toEqual({ "k\ufffd": "v\ufffd", half: "\ufffd" });
  expect(lines[2]!.data).toHaveProperty("left_out");
  expect(lines[3]!.data).toHaveProperty("left_out");
  expect(lines[4]!.data).toHaveProperty("left_out");
  expect(lines).toHaveLength(6);
});

test("lines of a lost task are not sent", () => {
  const sent: string[] = [];
  const logs = new TaskLogs((text) => sent.push(text));
  const claim = held();
  logs.add(claim, 0, new LogBudget(), "info", "too late", undefined);
  claim.lost = true;
  expect(logs.take()).toBe("");
  logs.stop();
  expect(sent).toEqual([]);
});

test("a batch of lines is bounded by bytes", () => {
  const sent: string[] = [];
  const logs = new TaskLogs((text) => sent.push(text));
  const claim = held();
  const data = { text: "x".repeat(10_000) };
  for (let task = 0; task < 300; task++) logs.add(claim, task, new LogBudget(), "info", "large", data);
  logs.stop();
  expect(sent.length).toBeGreaterThanOrEqual(3);
  expect(Math.max(...sent.map((text) => text.length))).toBeLessThan(1_100_000);
  expect(sent.flatMap((text) => JSON.parse(text))).toHaveLength(300);
});
