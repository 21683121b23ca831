// GDAL in a Python process that stays: starting a program takes longer than converting a small raster. It is shut in and limited as the
// programs are, serves one call at a time and the tenant of its parent alone, and is replaced after so many calls; one that must be ended
// costs the call it was in. Large files go to the programs, whose limits count for each call.
import { type ChildProcess, spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { Permanent } from "../../../core/errors/errors.js";
import type { Program } from "./cli_process.js";
import { gdalError } from "./gdal_errors.js";
import type { SourceFile } from "./gdal_programs.js";
import { warm_script } from "./warm_script.js";

/** What leaks a little leaks for so many. */
const calls_per_process = 500;
const max_line = 64 * 1024 * 1024;

export interface WarmCall {
  do: "info" | "translate" | "warp";
  source: SourceFile;
  options: readonly string[];
  target?: string;
  signal: AbortSignal;
  /** For the error: "the file cannot be opened". */
  failing: string;
  /** Lines that GDAL calls errors and we do not. */
  harmless: RegExp;
}

interface Answer {
  value: string | null;
  said: string[];
}

export class WarmGdal {
  private running: Running | null = null;
  /** Calls wait for each other. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly python: string,
    private readonly program: Program,
  ) {}

  call(call: WarmCall): Promise<string> {
    const turn = this.last.then(() => this.run(call));
    this.last = turn.catch(() => {});
    return turn;
  }

  private async run({ signal, failing, harmless, source, ...ask }: WarmCall): Promise<string> {
    signal.throwIfAborted();
    if (this.running === null || this.running.calls >= calls_per_process || !this.running.usable) {
      this.running?.end();
      this.running = new Running(this.python, this.program);
    }
    const { running } = this;
    const end = () => running.end();
    signal.addEventListener("abort", end, { once: true });
    try {
      const folder = dirname(ask.target ?? source.file);
      const answer = await running.ask({ ...ask, file: source.file, driver: source.driver, folder });
      signal.throwIfAborted();
      // It may have died of what came before: a fresh one tells.
      if (answer === null && running.calls > 1) {
        if (ask.target !== undefined) await rm(ask.target, { force: true });
        return await this.run({ signal, failing, harmless, source, ...ask });
      }
      const errors = answer?.said.filter((line) => line.startsWith("ERROR") && !harmless.test(line)) ?? [];
      if (answer === null) throw new Permanent(`${failing}: ${running.why}`, { code: "gdal_crashed" });
      if (answer.value === null || errors.length > 0) throw gdalError(failing, errors);
      return answer.value;
    } finally {
      signal.removeEventListener("abort", end);
    }
  }
}

class Running {
  calls = 0;
  usable = true;
  why = "GDAL was ended";
  private readonly child: ChildProcess;
  private waiting: ((answer: Answer | null) => void) | null = null;

  constructor(python: string, { wrapper, env }: Program) {
    const [command = "", ...args] = [...wrapper, python, "-I", "-c", warm_script];
    const folder = tmpdir();
    const places = { HOME: folder, TMPDIR: folder, CPL_TMPDIR: folder, XDG_DATA_HOME: folder };
    // In the group of this process, which the worker ends as a whole.
    this.child = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"], cwd: "/", env: { ...env, ...places } });
    // Idle, it keeps nobody from ending.
    this.child.unref();
    const { stdin, stdout } = this.child;
    stdin?.on("error", () => {});
    for (const stream of [stdin, stdout]) (stream as unknown as { unref?: () => void } | null)?.unref?.();
    createInterface({ input: stdout! }).on("line", (line) => this.answer(line));
    this.child.on("error", () => this.gone(null));
    this.child.on("exit", (_, killed_by) => this.gone(killed_by));
  }

  /** null: it has ended, and `why` says how. */
  ask(ask: object): Promise<Answer | null> {
    this.calls++;
    return new Promise((resolve) => {
      this.waiting = resolve;
      if (this.usable) {
        this.child.ref();
        this.child.stdin?.write(`${JSON.stringify(ask)}\n`);
      } else this.settle(null);
    });
  }

  end(): void {
    this.usable = false;
    this.child.kill("SIGKILL");
  }

  private answer(line: string): void {
    this.child.unref();
    if (line.length <= max_line) this.settle(JSON.parse(line) as Answer);
    else this.end();
  }

  private gone(killed_by: NodeJS.Signals | null): void {
    this.usable = false;
    if (killed_by === "SIGXCPU") this.why = "it took more processor time than allowed";
    else if (killed_by === "SIGXFSZ") this.why = "the output is larger than allowed";
    else if (killed_by !== null) this.why = `GDAL was ended by ${killed_by}`;
    this.settle(null);
  }

  private settle(answer: Answer | null): void {
    const { waiting } = this;
    this.waiting = null;
    waiting?.(answer);
  }
}
