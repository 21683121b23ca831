// The embedded database keeps its promises: its driver, and a walk or two of each family of verbs. They are tests of the blocks that
// run on a server otherwise (`bothDatabases`). Both kinds of database run the same SQL, so the rest of these blocks is left to
// `npm run test:embedded`. All share one embedded database here: starting one takes longer than most of the tests.
import { describe, TestRunner } from "vitest";
import { declareOnEmbedded, type Walks } from "../postgres.js";

/** By file and block: the names of tests, or all of them. */
const walks: Record<string, Walks> = {
  metrics: {
    "measuring a database": "all",
  },
  statistics: {
    "the planner's statistics": "all",
  },
  submit: {
    submitting: [
      "the id is the SHA-256 of tenant, type, parameters and run, the same from TypeScript, from SQL and from core",
      "a submit inside the caller's transaction exists when that commits, or not at all",
      "jobs are listed newest first in pages that neither repeat nor leave out",
    ],
  },
  submit_ways: {
    "submitting alone and among others": ["leaves the same rows, whatever the shape of the job"],
  },
  bad_input: {
    "bad input": [
      "a blueprint's problems are all told at once, with where each is",
      "SQL and TypeScript make the same canonical JSON of every vector",
    ],
  },
  claims: {
    claiming: [
      "claiming a batch of a wide stage moves one number and adds one claim",
      "a worker whose lease is over loses its claims, and its tasks run again with the crash counted",
    ],
  },
  turns: {
    turns: ["wide jobs share every claim, and share alike when each claim is for one task"],
  },
  advance: {
    advancing: [
      "the last task out closes its stage and opens the next in the same call",
      "a fan-out over data makes one task per item, with templated index and parameters",
      "a diamond opens its join once, when both branches have ended",
    ],
  },
  outcomes: {
    outcomes: ["a failed critical stage fails the job and cancels what waits"],
  },
  decision_table: {
    "the decision table": ["in the docs is what the engine's functions say"],
  },
  deadlines: {
    deadlines: ["a queue that nobody serves for a night fails nothing; what is worked on for too long fails"],
  },
  retries: {
    retries: ["an error that only code makes is tried three times, and what is permanent once"],
  },
  bounds: {
    "what is put off": ["a gate behind a condition that was put off is asked when it is met"],
    "what a plan grows to": ["is refused at submit, where the submit would make it"],
  },
  repair: {
    repair: [
      "a partial success resumed runs the failed tasks and, downstream, exactly what covers them",
      "retry-stage runs the whole stage again, and what follows it",
    ],
  },
  operate: {
    operating: [
      "a waiting task, a running one and a failed one are skipped for a reason, once",
      "a gate waits for a person, stops the deadline, and says who approved and why",
    ],
  },
  why: {
    "why an open job or task does not move": [
      "RUNNING: tasks that run as usual are no blocker, and the answer counts them",
      "WAITING_STAGE: what is left in the stage before, its slowest tasks, and why that one does not move",
    ],
  },
  why_ended: {
    "why an ended job or task is as it is": [
      "UPSTREAM_FAILED: the failed stage, its importance and budget, and what is usable",
    ],
  },
  janitor: {
    "the janitor": [
      "takes back what a silent worker holds, and says so with its run",
      "checks a stage when it has closed, tells a difference once, and puts the counters right",
    ],
  },
  lone_tasks: {
    "lone tasks": [
      "the same key and the same body return the same task, from TypeScript and from psql",
      "lone tasks are listed by type and status, in pages",
    ],
  },
  groups: {
    groups: ["a group opens with its first job, and ends once, with the last job after it is sealed"],
  },
  dependencies: {
    dependencies: ["a job waits for all it depends on, starts with the last of them, and its deadline with it"],
  },
  schedules: {
    schedules: [
      "a time that is due gets its job, with the time in its labels and parameters, and never another",
      "the scheduler runs by itself until it is stopped",
    ],
  },
  webhooks: {
    "the outbox of webhooks": [
      "a job's end is told to every endpoint that subscribed to it, and each has a task, in the same transaction",
    ],
  },
  rates: {
    rates: ["what ended is counted once, of jobs and of lone tasks, however often it is folded"],
  },
  hosts: {
    "the state of a host": ["as many calls as allowed are under way at a time, and whoever leaves makes room"],
  },
  task_zones: {
    "files of tasks": [
      "a published file is there for others with the finish, and not before",
      "files are listed by zone and key, a page at a time, of a prefix or of a job",
    ],
  },
  file_sweep: {
    "the sweep of files": ["removes what an attempt that never finished has published, when it is a day old"],
  },
  // It leaves tables behind.
  database: {
    "a database": "all",
    "a closed database": "all",
  },
};

for (const [file, blocks] of Object.entries(walks)) {
  describe(file, async () => {
    await declareOnEmbedded(blocks, () => import(`./${file}.test.ts?embedded`));
    // What else the file declares has run on the server.
    const { tasks } = TestRunner.getCurrentSuite();
    tasks.splice(0, tasks.length, ...tasks.filter(({ name }) => name.endsWith(" (embedded)")));
  });
}
