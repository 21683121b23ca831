// Submitters and operators as OS processes, which ask at the same moment: see client_main.ts.
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { plainScript } from "../plain_code.js";

const script = plainScript(new URL("./client_main.ts", import.meta.url));

export interface ClientTask {
  database_url: string;
  storage_dir: string;
  connections: number;
}

export interface Question {
  verb: "submit" | "enqueue" | "resume" | "retryStage";
  args: unknown[];
  times: number;
  /** Nanoseconds of CLOCK_MONOTONIC, as text: not before. */
  at: string;
}

export type Answer =
  | { ok: Record<string, unknown>; error?: undefined }
  | { ok?: undefined; error: { code: string; message: string } };

export class ClientProcess {
  readonly ready: Promise<void>;
  private readonly child: ChildProcess;
  private readonly exited: Promise<void>;
  private readonly waiting: { resolve(line: string): void; reject(error: Error): void }[] = [];

  constructor(task: ClientTask) {
    const args = [script, JSON.stringify(task)];
    this.child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.ready = this.line().then(() => {});
    createInterface({ input: this.child.stdout! }).on("line", (line) => this.waiting.shift()?.resolve(line));
    this.exited = new Promise((resolve) => {
      this.child.once("close", () => {
        for (const { reject } of this.waiting.splice(0)) reject(new Error("the client process is gone"));
        resolve();
      });
    });
  }

  private line(): Promise<string> {
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }

  async ask(verb: Question["verb"], args: unknown[], { times = 1, at = "0" } = {}): Promise<Answer[]> {
    const question: Question = { verb, args, times, at };
    this.child.stdin!.write(`${JSON.stringify(question)}\n`);
    return JSON.parse(await this.line()) as Answer[];
  }

  /** Resolves when it has left, and its connections with it. */
  async close(): Promise<void> {
    this.child.stdin!.end();
    await this.exited;
  }

  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.exited;
  }
}

/** A moment that lies so far ahead that all who are told of it will have heard. */
export function soon(): { at: string } {
  return { at: String(process.hrtime.bigint() + 100_000_000n) };
}
