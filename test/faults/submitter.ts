// A submitter as an OS process: sends all its submits at once, and writes down what was answered.
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { plainScript } from "../plain_code.js";
import type { ChainParameters } from "./job.js";
import type { Scene } from "./scene.js";

export interface SubmitterTask {
  name: string;
  database_url: string;
  storage_dir: string;
  jobs: ChainParameters[];
}

let started = 0;
const script = plainScript(new URL("./submitter_main.ts", import.meta.url));

export class Submitter {
  readonly name = `submitter${++started}`;
  /** Jobs whose submit was answered. */
  readonly acknowledged: string[] = [];
  /** Submits that were answered or refused. */
  settled = 0;
  private readonly child: ChildProcess;
  private readonly exited: Promise<number | null>;

  constructor(scene: Scene, jobs: ChainParameters[]) {
    const { storage_dir, database } = scene;
    const url = new URL(database.url);
    // By this the test knows its sessions; those of an engine are all named alike.
    url.searchParams.set("application_name", this.name);
    const task: SubmitterTask = { name: this.name, database_url: url.href, storage_dir, jobs };
    const args = [script, JSON.stringify(task)];
    this.child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    createInterface({ input: this.child.stdout! }).on("line", (line) => {
      this.settled++;
      if (line.startsWith("ack ")) this.acknowledged.push(line.slice("ack ".length));
    });
    this.exited = new Promise((resolve) => this.child.once("close", (code) => resolve(code)));
  }

  /** Resolves with its exit code once it has gone. */
  end(signal: NodeJS.Signals): Promise<number | null> {
    this.child.kill(signal);
    return this.exited;
  }
}
