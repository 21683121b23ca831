// Follows one job to its end: live lines on a terminal, plain lines in a pipe, one JSON document per change with --json.
// Only looks: whether a worker runs beside it is the caller's business.
import { setTimeout as pause } from "node:timers/promises";
import { paces, remember, type Sample } from "../../core/shown/pace.js";
import { isTerminal } from "../../core/shown/statuses.js";
import type { Engine } from "../../engine/engine.js";
import type { JobRecord } from "../../engine/verbs/records.js";
import { type Cli, globals } from "./command.js";
import { exit_codes, explain } from "./failure.js";
import { json, line, note } from "./io.js";
import { type Look, renderChanges, renderStages } from "./view.js";

export interface Followed {
  status: JobRecord;
  ended: "done" | "timeout" | "detached";
}

export interface FollowOptions {
  timeout_s?: number | undefined;
  /** With --json: every change as a line of its own (watch), or nothing until the end (submit --wait). */
  stream: boolean;
  signal: AbortSignal;
}

const show_every_ms = { live: 200, plain: 1000 };
// A database that restarts is back within a minute; a watcher that gives up sooner only makes people start it again.
const patience_ms = 60_000;

export async function follow(cli: Cli, engine: Engine, job_id: string, options: FollowOptions): Promise<Followed> {
  const screen = screenFor(cli, options);
  const began = performance.now();
  const deadline = options.timeout_s === undefined ? Number.POSITIVE_INFINITY : began + options.timeout_s * 1000;
  let samples: Sample[] = [];
  let latest: JobRecord | null = null;
  let shown: JobRecord | null = null;
  let show_at = 0;
  for (;;) {
    const status = await lookPatiently(cli, engine, job_id, options.signal, deadline);
    if (status) {
      samples = remember(samples, status, performance.now());
      latest = status;
      // The last look is always shown: it is what stays on the screen.
      const last = isTerminal(status.status) || options.signal.aborted || performance.now() >= deadline;
      if (last || performance.now() >= show_at) {
        screen.show(shown, status, samples);
        shown = status;
        show_at = performance.now() + screen.every_ms;
      }
    }
    const ended = status && isTerminal(status.status) ? "done" : options.signal.aborted ? "detached" : null;
    const result = ended ?? (performance.now() >= deadline ? "timeout" : null);
    if (result && latest) {
      screen.end();
      return { status: latest, ended: result };
    }
    const wait_ms = Math.min(lookAgainAfter(performance.now() - began), Math.max(1, deadline - performance.now()));
    await pause(wait_ms, null, { signal: options.signal }).catch(() => null);
  }
}

/** Short jobs are looked at often, so that their end is seen at once; long ones once a second, to be light on the database. */
function lookAgainAfter(elapsed_ms: number): number {
  return Math.min(1000, Math.max(50, elapsed_ms / 20));
}

/** One status. While the database is out of reach it says so once and tries again; null when there was no time left. */
async function lookPatiently(
  cli: Cli,
  engine: Engine,
  job_id: string,
  signal: AbortSignal,
  deadline: number,
): Promise<JobRecord | null> {
  let lost_at: number | null = null;
  for (;;) {
    try {
      return await engine.status(job_id);
    } catch (error) {
      const { exit_code, why } = explain(error);
      const now = performance.now();
      if (exit_code !== exit_codes.unusable || signal.aborted || (lost_at !== null && now - lost_at > patience_ms))
        throw error;
      if (lost_at === null)
        note(cli.io, `the database cannot be reached (${why ?? "no answer"}); trying again for a minute`);
      lost_at ??= now;
      if (now >= deadline) throw error;
      await pause(1000, null, { signal }).catch(() => null);
    }
  }
}

interface Screen {
  every_ms: number;
  show(before: JobRecord | null, now: JobRecord, samples: readonly Sample[]): void;
  end(): void;
}

function screenFor(cli: Cli, options: FollowOptions): Screen {
  if (globals(cli).json && options.stream) return jsonScreen(cli);
  if (cli.io.live) return liveScreen(cli);
  return globals(cli).json ? silentScreen : plainScreen(cli);
}

function lookOf(cli: Cli, status: JobRecord, samples: readonly Sample[]): Look {
  return { width: cli.io.screen_width(), colour: cli.io.colour, paces: paces(samples, status) };
}

function liveScreen(cli: Cli): Screen {
  return {
    every_ms: show_every_ms.live,
    show: (_before, now, samples) => cli.io.draw(renderStages(now, lookOf(cli, now, samples)).join("\n")),
    end: () => cli.io.drawn(),
  };
}

function plainScreen(cli: Cli): Screen {
  return {
    every_ms: show_every_ms.plain,
    show(before, now, samples) {
      if (!before)
        line(cli.io, renderStages({ ...now, stages: [] }, { ...lookOf(cli, now, samples), colour: false })[0]);
      for (const text of renderChanges(before, now, lookOf(cli, now, samples))) line(cli.io, text);
    },
    end: () => {},
  };
}

function jsonScreen(cli: Cli): Screen {
  return {
    every_ms: show_every_ms.plain,
    show(before, now) {
      // The clock alone is no change.
      if (JSON.stringify({ ...before, now: now.now }) !== JSON.stringify(now)) json(cli.io, now);
    },
    end: () => {},
  };
}

const silentScreen: Screen = { every_ms: show_every_ms.plain, show: () => {}, end: () => {} };
