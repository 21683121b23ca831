// Workers as OS processes, to be killed, frozen and lied to about the time; and a fleet of them, in which whoever died is
// replaced, as a process manager would.
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { WorkerOptions } from "../../src/worker/options.js";
import type { WorkerStats } from "../../src/worker/worker.js";
import { plainScript } from "../plain_code.js";
import { eventually } from "../worker/shop.js";
import type { WorkerTask } from "./worker_main.js";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const script = plainScript(new URL("./worker_main.ts", import.meta.url));

/** Matrix A6: 4 slots, a lease of 3 s; the heartbeat and the sweep follow from it, at a third each. */
export const fault_worker: WorkerOptions = { slots: 4, lease_s: 3, poll_s: 1, grace_s: 10 };

export interface ProcessOptions {
  options?: WorkerOptions;
  /** FANFOLD_FAULTS: `after-claim:kill9`. */
  faults?: string;
  /** How the process's calendar clock is wrong; see clock_shim.mjs. */
  clock?: { offset_ms: number; jump_ms?: number };
  /** Waits at this fault point until the file is there; says `paused` first. */
  pause?: WorkerTask["pause"];
}

export type StartOptions = ProcessOptions & Omit<WorkerTask, "options">;

export interface LogLine {
  level: number;
  msg: string;
  [field: string]: unknown;
}

export interface Death {
  name: string;
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Whether a test or a fault point asked for it; any other death is the worker's own fault. */
  asked: boolean;
  /** Whether it had registered before. */
  started: boolean;
  stderr: string[];
}

export class WorkerProcess {
  readonly name: string;
  readonly lines: string[] = [];
  /** What it logged. */
  readonly logs: LogLine[] = [];
  /** What came on stderr and is no log line: a crash of Node itself, for one. */
  readonly stderr: string[] = [];
  readonly exited: Promise<Death>;
  private readonly child: ChildProcess;
  private asked: boolean;
  private ended = false;

  constructor(start: StartOptions) {
    const { options, faults, clock, ...task } = start;
    this.name = task.name;
    // A fault point that kills is a death that was asked for.
    this.asked = faults !== undefined && /:(kill9|exit)/.test(faults);
    const args: string[] = [];
    if (clock !== undefined) args.push("--import", path("./clock_shim.mjs"));
    const env = { ...process.env, FANFOLD_FAULTS: faults ?? "", FAULT_CLOCK: JSON.stringify(clock ?? null) };
    const given: WorkerTask = { ...task, options: { ...fault_worker, ...options } };
    this.child = spawn(process.execPath, [...args, script, JSON.stringify(given)], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    createInterface({ input: this.child.stdout! }).on("line", (line) => this.lines.push(line));
    createInterface({ input: this.child.stderr! }).on("line", (line) => {
      if (line.startsWith('{"level":')) this.logs.push(JSON.parse(line) as LogLine);
      else this.stderr.push(line);
    });
    // A run that is killed must not leave workers behind.
    const killWithUs = () => this.child.kill("SIGKILL");
    process.once("exit", killWithUs);
    // "close" and not "exit": only then has everything it said arrived.
    this.exited = new Promise((resolve) => {
      this.child.once("close", (code, signal) => {
        this.ended = true;
        process.removeListener("exit", killWithUs);
        const { name, stderr } = this;
        resolve({ name, code, signal, asked: this.asked || code === 0, started: this.lines.length > 0, stderr });
      });
    });
  }

  get pid(): number {
    return this.child.pid!;
  }

  get alive(): boolean {
    return !this.ended;
  }

  /** Resolves when it has said a line that starts so; false when it died first. */
  async said(start: string): Promise<boolean> {
    const heard = () => this.lines.some((line) => line.startsWith(start));
    await eventually(() => heard() || this.ended);
    return heard();
  }

  logged(message: string): LogLine[] {
    return this.logs.filter(({ msg }) => msg.includes(message));
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** kill -9. */
  async kill(): Promise<Death> {
    this.asked = true;
    this.child.kill("SIGKILL");
    return this.exited;
  }

  freeze(): void {
    this.child.kill("SIGSTOP");
  }

  thaw(): void {
    this.child.kill("SIGCONT");
  }

  /** SIGTERM; resolves with what it had done, once it has left. A worker that was killed before has nothing to tell. */
  async stop(): Promise<WorkerStats | null> {
    this.thaw();
    // Whoever is still starting has nobody yet to hear the signal: it dies of it.
    if (this.lines.length === 0) this.asked = true;
    this.child.kill("SIGTERM");
    await this.exited;
    const line = this.lines.find((said) => said.startsWith("stats "));
    return line === undefined ? null : (JSON.parse(line.slice("stats ".length)) as WorkerStats);
  }
}

/** Members are replaced when they die. A fault point or a wrong clock is given to the first of each place only. */
export class Fleet {
  readonly members: WorkerProcess[] = [];
  readonly deaths: Death[] = [];
  private started = 0;
  private leaving = false;
  private readonly places: Promise<void>[] = [];

  constructor(
    size: number,
    private readonly start: (name: string, first: ProcessOptions | null) => WorkerProcess,
    first: (place: number) => ProcessOptions = () => ({}),
  ) {
    for (let place = 0; place < size; place++) this.places.push(this.keep(place, first(place)));
  }

  private async keep(place: number, first: ProcessOptions): Promise<void> {
    for (let options: ProcessOptions | null = first; !this.leaving; options = null) {
      const member = this.start(`w${place}-${++this.started}`, options);
      this.members[place] = member;
      this.deaths.push(await member.exited);
    }
  }

  /** Resolves when every member is registered. */
  async ready(): Promise<void> {
    await eventually(() => this.members.every(({ lines }) => lines.length > 0));
  }

  /** Members that have registered and live. */
  get working(): WorkerProcess[] {
    return this.members.filter(({ alive, lines }) => alive && lines.length > 0);
  }

  /** SIGTERM to all, no more replacing. */
  async stop(): Promise<void> {
    this.leaving = true;
    await Promise.all(this.members.map((member) => member.stop()));
    await Promise.all(this.places);
  }

  /** For the end of a test that failed: nothing may be left behind. */
  async killAll(): Promise<void> {
    this.leaving = true;
    await Promise.all(this.members.map((member) => member.kill()));
    await Promise.all(this.places);
  }
}
