// A server of its own for a test file, with the jobs of fixture_app and one worker that `fanfold up` runs for the whole file.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect } from "vitest";
import { freshDatabase } from "../postgres.js";
import { start as begin, type Document, type Ended, type FakeOptions, type Running } from "./fake_terminal.js";

export interface Served {
  fanfold(argv: string[], options?: FakeOptions): Promise<Ended>;
  start(argv: string[], options?: FakeOptions): Running;
  /** The server and the worker. */
  up(): Running;
  /** The one document of --json. */
  asked(...argv: string[]): Promise<Document>;
  database(): Awaited<ReturnType<typeof freshDatabase>>;
  /** A new empty folder. */
  folder(): Promise<string>;
  /** A job of `n` parts of which only `there` are there, ended. */
  broken(n: number, there?: readonly number[]): Promise<{ job_id: string; id: string; folder: string; mend: Mend }>;
  /** Tasks of a job, by their index. */
  tasks(job_id: string): Promise<Record<string, Document>>;
}

type Mend = (...numbers: number[]) => Promise<void>;

export function served(): Served {
  const app = ["--app", fileURLToPath(new URL("./fixture_app.ts", import.meta.url))];
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let root: string;
  let env: Record<string, string>;
  let up: Running;
  const start: Served["start"] = (argv, options = {}) => begin([...argv, ...app], { env, ...options });
  const fanfold: Served["fanfold"] = (argv, options) => start(argv, options).done;
  const folder = () => mkdtemp(path.join(root, "parts-"));
  const asked: Served["asked"] = async (...argv) => (await fanfold([...argv, "--json"])).json();

  beforeAll(async () => {
    database = await freshDatabase();
    root = await mkdtemp(path.join(tmpdir(), "fanfold-served-"));
    env = { DATABASE_URL: database.url, FANFOLD_DATA_DIR: root };
    up = start(["up", "--slots", "4"]);
    await up.until("is up");
  });

  afterAll(async () => {
    up.signal("SIGTERM");
    const ended = await up.done;
    await database.drop();
    await rm(root, { recursive: true, force: true });
    expect(ended.code).toBe(0);
    expect(ended.err).toContain("stopped gracefully");
  });

  return {
    fanfold,
    start,
    up: () => up,
    asked,
    folder,
    database: () => database,
    async broken(n, there = []) {
      const parts = await folder();
      const mend: Mend = async (...numbers) => {
        for (const number of numbers) await writeFile(path.join(parts, `part-${number}`), "");
      };
      await mend(...there);
      const { job_id, status } = await asked("submit", "fixture_mend", `folder=${parts}`, `n=${n}`, "--wait");
      expect(status).toBe("failed");
      return { job_id, id: job_id.slice(0, 12), folder: parts, mend };
    },
    async tasks(job_id) {
      const { tasks } = await asked("tasks", "list", "--job", job_id, "--limit", "1000");
      return Object.fromEntries(tasks.map((task: Document) => [task.index, task]));
    },
  };
}
