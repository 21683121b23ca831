// The checker can fail: a good history, and one break of it for every rule.
import { expect, test } from "vitest";
import { deadlocksIn } from "./cluster.js";
import type { Effect } from "./effects.js";
import { checkHistory, type History } from "./history.js";

/** One execution: its start and its end. */
function run(name: string, stage_id: number, ordinal: number, from: number, to: number | null, more = {}): Effect[] {
  const facts = {
    run: name,
    job_id: "j",
    stage: `s${stage_id}`,
    stage_id,
    ordinal,
    attempt: 1,
    process: "p",
    claim_id: stage_id * 10,
    worker_id: "w1",
    effect_key: `${stage_id}/${ordinal}`,
    ...more,
  };
  const start: Effect = { at: from, what: "start", ...facts };
  return to === null ? [start] : [start, { at: to, what: "end", outcome: "returned", ...facts }];
}

const result = (stage_id: number, ordinal: number, name: string) => ({
  stage_id,
  ordinal,
  status: "completed",
  attempt: 1,
  worker_id: "w1",
  run: name,
});

/** Two stages of two tasks and one; a task of the first failed once, and one was cut off with its worker. */
function good(): History {
  const stage = { job_id: "j", status: "completed", max_attempts: 3, epoch: 1 };
  const threw = { attempt: 1, claim_id: 8 };
  return {
    acknowledged: ["j"],
    jobs: [{ job_id: "j", status: "completed" }],
    stages: [
      { stage_id: 1, number: 1, name: "first", total: 2, ...stage },
      { stage_id: 2, number: 2, name: "second", total: 1, ...stage },
    ],
    results: [result(1, 0, "a"), { ...result(1, 1, "b"), attempt: 2 }, result(2, 0, "c")],
    attempts: [
      { stage_id: 1, ordinal: 0, attempt: 1, epoch: 1, outcome: "lost", worker_id: "w0" },
      { stage_id: 1, ordinal: 1, attempt: 1, epoch: 1, outcome: "failed", worker_id: "w1" },
    ],
    events: [
      { event_id: 1, kind: "stage.completed", job_id: "j", stage_id: 1 },
      { event_id: 2, kind: "stage.completed", job_id: "j", stage_id: 2 },
      { event_id: 3, kind: "job.completed", job_id: "j", stage_id: null },
    ],
    unfinished: [],
    violations: [],
    rescues: [{ worker_id: "w0", lease_s: 3, silent_s: 3.2 }],
    effects: [
      ...run("cut", 1, 0, 1, null, { worker_id: "w0", claim_id: 7 }),
      ...run("threw", 1, 1, 2, 3, threw).map((effect) =>
        effect.outcome ? { ...effect, outcome: "threw" as const } : effect,
      ),
      ...run("a", 1, 0, 10, 20),
      ...run("b", 1, 1, 10, 21, { attempt: 2 }),
      ...run("c", 2, 0, 30, 40),
    ],
    acks: [
      { at: 22, what: "ack", stage_id: 1, ordinal: 0, claim_id: 10, run: "a" },
      { at: 22, what: "ack", stage_id: 1, ordinal: 1, claim_id: 10, run: "b" },
      { at: 41, what: "ack", stage_id: 2, ordinal: 0, claim_id: 20, run: "c" },
    ],
  };
}

test("a good history has no problems, and what ran twice is counted", () => {
  expect(checkHistory(good())).toEqual({
    problems: [],
    counts: {
      tasks: 3,
      executions: 5,
      duplicates: 2,
      cut_off: 1,
      lost: 1,
      refused: 0,
      released: 0,
      failed_attempts: 1,
      reused_claims: 0,
    },
  });
});

/** The same job; then its second stage ran again, in a second epoch. */
function repaired(): History {
  const history = good();
  const { effects, events, attempts, results, acks, stages } = history;
  stages[1]!.epoch = 2;
  effects.push(...run("d", 2, 0, 50, 60, { claim_id: 21 }));
  attempts.push({ stage_id: 2, ordinal: 0, attempt: 1, epoch: 1, outcome: "superseded", worker_id: "w1" });
  events.push(
    { event_id: 4, kind: "job.retried", job_id: "j", stage_id: null },
    { event_id: 5, kind: "stage.completed", job_id: "j", stage_id: 2 },
    { event_id: 6, kind: "job.completed", job_id: "j", stage_id: null },
  );
  results[2] = result(2, 0, "d");
  acks.push({ at: 61, what: "ack", stage_id: 2, ordinal: 0, claim_id: 21, run: "d" });
  return history;
}

test("a job that was repaired ends once in each epoch, and what it had confirmed before was superseded on record", () => {
  expect(checkHistory(repaired()).problems).toEqual([]);
});

const started = (history: History, name: string) =>
  history.effects.find((effect) => effect.run === name && effect.what === "start")!;
const ended = (history: History, name: string) =>
  history.effects.find((effect) => effect.run === name && effect.what === "end")!;

const broken: [rule: string, breaks: (history: History) => void, problem: RegExp][] = [
  ["an acknowledged submit is lost", (h) => h.acknowledged.push("k"), /acknowledged job k is lost/],
  ["a confirmed finish is lost", (h) => h.results.shift(), /confirmed finish of task 1-0 .* is lost/],
  [
    "a confirmed finish that was replaced",
    (h) => Object.assign(h.acks[0]!, { run: "cut" }),
    /confirmed finish of task 1-0 by cut under claim 10 is lost/,
  ],
  [
    "a confirmed finish of another claim",
    (h) => Object.assign(h.acks[0]!, { run: null, claim_id: 7 }),
    /confirmed finish of task 1-0 by null under claim 7 is lost/,
  ],
  ["two finishes of a task", (h) => h.results.push(result(1, 0, "a")), /task 1-0 has two accepted finishes/],
  ["a result nobody made", (h) => Object.assign(h.results[0]!, { run: "x" }), /1-0 is of "x", which never ran it/],
  ["a result of another task", (h) => Object.assign(h.results[0]!, { run: "b" }), /1-0 is of "b", which never ran it/],
  [
    "a result of a run that never ended",
    (h) => Object.assign(h.results[0]!, { run: "cut" }),
    /cut, which did not return/,
  ],
  ["a result that names another worker", (h) => Object.assign(h.results[0]!, { worker_id: "w9" }), /names w9 .* w1/],
  ["a result that names another attempt", (h) => Object.assign(h.results[0]!, { attempt: 3 }), /names w1 attempt 3/],
  ["a task without a result", (h) => h.results.pop(), /stage "second" \(2\) has 0 results of 1/],
  [
    "two accepted attempts at the same time",
    (h) => Object.assign(ended(h, "threw"), { at: 15 }),
    /accepted attempts of task 1-1 overlap: threw and b/,
  ],
  [
    "a stage that starts before the one before has closed",
    (h) => Object.assign(started(h, "c"), { at: 20.5 }),
    /task 2-0 of "second" started before "first" had closed/,
  ],
  ["a stage that closed twice", (h) => h.events.push({ ...h.events[0]!, event_id: 9 }), /"first" \(1\) closed 2 times/],
  ["a stage that never closed", (h) => h.events.shift(), /"first" \(1\) closed 0 times/],
  [
    "stages that closed out of order",
    (h) => Object.assign(h.events[0]!, { event_id: 2.5 }),
    /"second" .* out of order/,
  ],
  ["a job that ended twice", (h) => h.events.push({ ...h.events[2]!, event_id: 9 }), /job j ended 2 times/],
  ["a job that ended too early", (h) => Object.assign(h.events[2]!, { event_id: 1.5 }), /job j ended before its last/],
  [
    "too many attempts",
    (h) => h.attempts.push({ ...h.attempts[1]! }, { ...h.attempts[1]! }),
    /task 1-1 had 4 attempts of 3/,
  ],
  [
    "too many crashes",
    (h) => h.attempts.push({ ...h.attempts[0]! }, { ...h.attempts[0]! }, { ...h.attempts[0]! }),
    /task 1-0 was lost 4 times/,
  ],
  [
    "a rescue before the lease was over",
    (h) => Object.assign(h.rescues[0]!, { silent_s: 2.9 }),
    /w0 .* after 2.9 s of 3/,
  ],
  [
    "an effect key that changes",
    (h) => Object.assign(started(h, "cut"), { effect_key: "other" }),
    /task 1-0 has two effect keys/,
  ],
  [
    "an effect key of two tasks",
    (h) => Object.assign(started(h, "c"), { effect_key: "1/0" }),
    /tasks 1-0 and 2-0 share an effect key/,
  ],
  [
    "a job that has not ended",
    (h) => Object.assign(h.jobs[0]!, { status: "processing" }),
    /job j is processing at rest/,
  ],
  ["a stage that has not ended", (h) => Object.assign(h.stages[1]!, { status: "planning" }), /stage 2 is planning/],
  [
    "a task that is still held",
    (h) => h.unfinished.push({ place: "claims", stage_id: 2, range: "{[0,1)}" }),
    /\{\[0,1\)\} of stage 2 is in claims at rest/,
  ],
  [
    "a stage that does not verify",
    (h) => h.violations.push("ordinal 1 of stage 1 is nowhere"),
    /verify_stage: ordinal 1/,
  ],
];

for (const [rule, breaks, problem] of broken) {
  test(`it finds ${rule}`, () => {
    const history = good();
    breaks(history);
    expect(checkHistory(history).problems.join("\n")).toMatch(problem);
  });
}

const broken_repairs: typeof broken = [
  [
    "a finish that is gone without a record",
    (h) => h.attempts.pop(),
    /confirmed finish of task 2-0 by c under claim 20 is lost/,
  ],
  ["two ends in one epoch", (h) => h.events.push({ ...h.events[5]!, event_id: 9 }), /job j ended 2 times in epoch 2/],
  ["an epoch opened before the last had ended", (h) => h.events.splice(2, 1), /job j ended 0 times in epoch 1/],
  [
    "a stage that closed twice in one epoch",
    (h) => h.events.push({ ...h.events[4]!, event_id: 5.5 }),
    /closed 2 times/,
  ],
  [
    "too many attempts in one epoch",
    (h) => {
      const failed = { stage_id: 2, ordinal: 0, attempt: 1, epoch: 2, outcome: "failed", worker_id: "w1" };
      h.attempts.push({ ...failed }, { ...failed }, { ...failed });
    },
    /task 2-0 had 4 attempts of 3/,
  ],
];

for (const [rule, breaks, problem] of broken_repairs) {
  test(`of a repaired job it finds ${rule}`, () => {
    const history = repaired();
    breaks(history);
    expect(checkHistory(history).problems.join("\n")).toMatch(problem);
  });
}

test("a deadlock in the server's log is found", () => {
  expect(deadlocksIn("x [1] db 00000 LOG: fine\nx [2] db 40P01 ERROR:  deadlock detected")).toHaveLength(1);
  expect(deadlocksIn("x [1] db 00000 LOG: fine")).toEqual([]);
});
