// One child process as the worker sees it: given one task at a time, watched, and ended with everything it has started. When
// it is used again is the pool's to say.
import type { ChildProcess } from "node:child_process";
import type { Duplex, Readable } from "node:stream";
import type { Handler } from "../../core/declare/declare.js";
import { TimeoutError, Transient } from "../../core/errors/errors.js";
import type { Failure } from "../../core/errors/failures.js";
import type { Done } from "../finish/outcome.js";
import { ChildFailure, crashOf, type KillReason } from "./crash.js";
import { type ForkSettings, forkChild } from "./fork.js";
import { addGroup, removeGroup, signalGroup } from "./groups.js";
import type { IsolatedTask } from "./isolated_task.js";
import type { End, Escaped, FromChild, PackedError, ToChild } from "./messages.js";
import { Output } from "./output.js";
import { killMember, type Member } from "./process_table.js";
import { RunningTask } from "./running_task.js";
import { readMessages, writeMessage } from "./wire.js";

/** For the child to come up and import its module; the task's own time-out starts afterwards. */
const START_MS = 60_000;
/** Between SIGTERM, for those who tidy up, and SIGKILL. */
const TERM_MS = 500;
/** What the dead have written is read to its end, unless somebody outside the group keeps the pipe open. */
const LAST_WORDS_MS = 200;
/** What is written while no task runs is in nobody's log; a process that writes more than this then is ended. */
const IDLE_OUTPUT_BYTES = 64 * 1024;
/** A hundredth of a second is how /proc counts; the margin is for the fork itself. */
const TICK_MS = 10;
const MARGIN_TICKS = 2;

export interface ProcessSettings extends ForkSettings {
  /** Whose tasks it runs: what one of another tenant left in its memory, the next would find. */
  tenant_id: string;
  abort_grace_ms: number;
}

export type Returned = string | Done | Failure;

/** The process was gone before the task began: another may take it. */
export class Untouched extends Error {}

export interface ProcessEvents {
  /** A task of it has ended, however; the process may be used again if it is `usable`. */
  onFree(process: HandlerProcess): void;
  onGone(process: HandlerProcess): void;
  /** An error that belongs to no running task. */
  onLateError(process: HandlerProcess, error: Escaped): void;
}

export class HandlerProcess {
  /** The pid of the child, which leads it; 0 if it could not be forked. */
  readonly group: number;
  /** False from the moment it is known that no other task should run in it. */
  usable = true;
  tasks = 0;
  rss_mb = 0;
  idle_since = performance.now();
  readonly gone: Promise<void>;
  private readonly child: ChildProcess;
  private readonly channel: Duplex | undefined;
  private readonly forked_at: number;
  private readonly output: Output;
  private task: RunningTask | null = null;
  private peak_mb = 0;
  private kill_reason: KillReason | null = null;
  private escaped: Escaped | null = null;
  private outsiders: Member[] = [];
  /** Processes that the last handler may keep. */
  private helpers = 0;

  constructor(
    readonly settings: ProcessSettings,
    private readonly events: ProcessEvents,
  ) {
    this.child = forkChild(settings);
    // Not before: forking a large worker on a busy machine takes its time, and by as much what a task starts would seem to be older
    // than the task, and be killed as a leftover.
    this.forked_at = performance.now();
    // First of all: an error that finds no listener would be the end of the worker.
    this.gone = new Promise((resolve) => {
      this.child.on("exit", (code, signal) => this.exited(code, signal, resolve));
      // What could not be forked has no exit; what could not be sent a signal will have one.
      this.child.on("error", (error) => this.group === 0 && this.notForked(error, resolve));
    });
    this.group = this.child.pid ?? 0;
    if (this.group > 0) addGroup(this.group);
    this.output = new Output(
      (level, line) => this.task?.ctx.log[level](line),
      (bytes) => this.written(bytes),
    );
    // Without a free file descriptor there are no streams at all, whatever the type says.
    const [, stdout, stderr, channel] = this.child.stdio ?? [];
    this.channel = channel as Duplex | undefined;
    if (stdout) this.output.read(stdout as Readable, "info");
    if (stderr) this.output.read(stderr as Readable, "warn");
    if (this.channel) {
      const onBroken = () => this.killFor({ code: "killed" });
      readMessages(this.channel, (message) => this.heard(message as FromChild), onBroken);
      // A broken channel is the end of the child, which is told elsewhere.
      this.channel.on("error", () => {});
    }
  }

  get busy(): boolean {
    return this.task !== null;
  }

  run(ctx: IsolatedTask, handler: Handler, worker_id: string, raster = ctx.raster): Promise<Returned> {
    const run = ++this.tasks;
    ctx.owner = this.settings.uid;
    const { output_bytes = Number.POSITIVE_INFINITY, database = false, helpers = 0 } = handler.options;
    this.helpers = helpers;
    const task = new RunningTask(run, ctx, output_bytes, database, this);
    this.task = task;
    this.peak_mb = this.rss_mb;
    this.output.reset();
    task.after(START_MS, () => this.notStarted());
    const { claim_id, attempt, stage } = ctx.claim;
    const { task: claimed, traceparent, outbound } = ctx;
    const order = {
      run,
      handler: handler.name,
      claim_id,
      attempt,
      stage,
      task: claimed,
      traceparent,
      outbound,
      raster,
      worker_id,
      is_remote: ctx.remote !== undefined,
    };
    this.send({ t: "run", order });
    return task.settled;
  }

  readonly reply = (id: number, value: unknown, error?: PackedError): void => {
    this.send({ t: "reply", id, value, error });
  };

  /** Ends it and everything in its group at once. */
  kill(signal: NodeJS.Signals = "SIGKILL"): void {
    this.usable = false;
    signalGroup(this.group, signal);
    if (signal === "SIGKILL") this.killOutsiders();
  }

  /** Those who have left the group, as far as they have been seen. */
  private killOutsiders(): void {
    for (const member of this.outsiders) killMember(member);
    this.outsiders = [];
  }

  /** What the process table says about its group: too much memory, or processes that an earlier task has left. */
  look(members: readonly Member[]): void {
    const { task, settings } = this;
    const leader = members.find(({ pid }) => pid === this.group);
    if (leader === undefined) return;
    this.outsiders = members.filter(({ is_outside }) => is_outside);
    const used_mb = members.reduce((sum, { rss_mb }) => sum + rss_mb, 0);
    if (task === null) {
      this.rss_mb = used_mb;
      if (members.length > 1 + this.helpers) this.kill();
      return;
    }
    this.peak_mb = Math.max(this.peak_mb, used_mb);
    if (used_mb > settings.memory_mb) {
      this.killFor({ code: "out_of_memory", used_mb, memory_mb: settings.memory_mb });
      return;
    }
    const task_started = leader.started + (task.began_at - this.forked_at) / TICK_MS - MARGIN_TICKS;
    const older = members.filter((member) => member !== leader && member.started < task_started);
    // One too many, and nobody can say which of them it is: its handler starts its own anew.
    if (older.length > this.helpers) for (const member of older) killMember(member);
  }

  private killFor(kill_reason: KillReason): void {
    this.kill_reason ??= kill_reason;
    this.kill();
  }

  private written(bytes: number): void {
    const output_bytes = this.task?.output_bytes ?? IDLE_OUTPUT_BYTES;
    if (bytes > output_bytes) this.killFor({ code: "output_limit", output_bytes });
  }

  private heard(message: FromChild): void {
    if (message?.t === "ready") {
      this.rss_mb = message.rss_mb;
      this.peak_mb = Math.max(this.peak_mb, message.rss_mb);
      return;
    }
    if (message?.t === "late") {
      this.usable = false;
      this.events.onLateError(this, message.error);
      return;
    }
    const { task } = this;
    if (task === null || message?.run !== task.run) return;
    const { ctx } = task;
    switch (message.t) {
      case "started":
        task.start();
        break;
      case "log":
        this.log(ctx, message.line);
        break;
      case "progress": {
        const { share, done = 0, total = 0, message: note } = message.made;
        ctx.progress(share ?? { done, total }, note);
        break;
      }
      case "effect":
        ctx.remote?.declare(message.effect);
        break;
      case "storing":
        ctx.enter("storing");
        break;
      case "call":
        task.service.answer(message.id, message.call);
        break;
      case "escaped":
        this.escaped = message.error;
        break;
      case "end":
        this.rss_mb = message.rss_mb;
        // What it wrote before it returned is in the pipe already, and is read before the loop turns.
        setImmediate(() => task === this.task && this.ended(task, message.end));
        break;
    }
  }

  private log(ctx: IsolatedTask, text: string): void {
    const { level, message, data } = JSON.parse(text);
    this.output.keep(`${level}: ${message}`);
    ctx.log[level as "info"](message, data);
  }

  private ended(task: RunningTask, end: End): void {
    // Sentenced while it returned: its exit tells the rest.
    if (this.kill_reason !== null) return;
    // What goes on behind an abort that was honoured is not known: the next task gets a fresh process.
    if (task.ctx.stop !== null) this.usable = false;
    this.output.flush();
    this.release(task);
    if ("returned" in end) task.resolve(end.returned);
    else task.reject(new ChildFailure(end.threw));
    this.events.onFree(this);
  }

  /** The task should stop: its handler is told, and after the grace its process is ended. */
  abort(): void {
    const { task, settings } = this;
    if (task === null) return;
    task.clearTimers();
    if (!task.has_started) {
      this.kill();
      return;
    }
    const { kind, reason } = task.ctx.stop!;
    const timeout_s = reason instanceof TimeoutError ? reason.timeout_s : null;
    this.send({ t: "abort", run: task.run, kind, message: reason.message, timeout_s });
    task.after(settings.abort_grace_ms, () => this.kill("SIGTERM"));
    task.after(settings.abort_grace_ms + TERM_MS, () => this.kill());
  }

  private notStarted(): void {
    const { task, settings } = this;
    this.kill();
    if (task === null) return;
    this.release(task);
    const message = `the handler's process did not import ${settings.module} within ${START_MS / 1000} s`;
    task.reject(new Transient(message, { code: "not_started" }));
  }

  private notForked(error: Error, resolve: () => void): void {
    const { task } = this;
    this.usable = false;
    resolve();
    if (task !== null) {
      this.release(task);
      task.reject(new Transient(`no process for the handler: ${error.message}`, { code: "not_started", cause: error }));
    }
    this.events.onGone(this);
  }

  private exited(exit_code: number | null, signal: NodeJS.Signals | null, resolve: () => void): void {
    // Before its number can be another's: those it has left behind end with it.
    this.kill();
    removeGroup(this.group);
    const bury = () => {
      clearTimeout(patience);
      this.child.off("close", bury);
      // Whatever was said before the end is heard first.
      setImmediate(() => {
        this.buried(exit_code, signal);
        resolve();
      });
    };
    const patience = setTimeout(bury, LAST_WORDS_MS);
    this.child.on("close", bury);
  }

  private buried(exit_code: number | null, signal: NodeJS.Signals | null): void {
    const { task, kill_reason, escaped, output, peak_mb: peak_memory_mb } = this;
    output.flush();
    const last_lines = output.lastLines();
    const { heap_full } = output;
    for (const stream of this.child.stdio) stream?.destroy();
    if (task !== null) {
      this.release(task);
      const ending = {
        pid: this.group,
        exit_code,
        signal,
        peak_memory_mb,
        last_lines,
        heap_full,
        kill_reason,
        escaped,
      };
      // It died of an earlier task, in the moment this one was sent to it.
      const untouched = !task.has_started && this.tasks > 1 && task.ctx.stop === null;
      task.reject(untouched ? new Untouched() : crashOf(ending));
    }
    this.events.onGone(this);
  }

  private release(task: RunningTask): void {
    task.detach();
    this.task = null;
    this.idle_since = performance.now();
    this.output.reset();
  }

  private send(message: ToChild): void {
    // Whether it arrives shows in what the child does; if it is gone, that is told by its exit.
    if (this.channel?.writable) writeMessage(this.channel, message);
  }
}
