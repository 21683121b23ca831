// A job with everything its page can show: stages that run beside each other, a wide one whose tasks go on one by one when the test
// lets them, failures of several kinds, deliverables, and a person who must approve.

import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent, Transient } from "../../src/core/errors/errors.js";
import type { TaskContext } from "../../src/core/task/context.js";
import type { TestService } from "../server/service.js";

/** What a page must show as text, and nothing else. */
export const hostile = `<img src=x onerror="window.owned = true">\u202e\u0007 'quoted' & "so"`;
/** What people call things has neither marks of direction nor bells: it would be refused. */
export const hostile_name = hostile.replace("\u202e\u0007", "");

/** Tasks of mode "slow" wait here until they are let go, one by one. */
class Turnstile {
  #free = 0;
  readonly #waiting: (() => void)[] = [];

  async pass(signal: AbortSignal): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else {
      await new Promise<void>((resolve, reject) => {
        this.#waiting.push(resolve);
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    }
  }

  let(n: number): void {
    for (let one = 0; one < n; one++) {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

export const turnstile = new Turnstile();

/** Tasks of mode "stubborn" fail once, and wait at the turnstile when they are run again. */
const failed_once = new Set<string>();

interface Tile {
  number: number;
  mode: string;
}

async function tile({ number, mode }: Tile, ctx: TaskContext): Promise<unknown> {
  if (mode === "slow") await turnstile.pass(ctx.signal);
  if (mode === "stubborn") {
    if (!failed_once.has(ctx.task_id)) {
      failed_once.add(ctx.task_id);
      throw new Permanent("not at the first time", { code: "stubborn" });
    }
    await turnstile.pass(ctx.signal);
  }
  if (mode === "broken" && number % 5 === 0) {
    throw new Permanent(`tile ${number} has no data at bronze:scenes/${number}.tif`, { code: "no_data" });
  }
  if (mode === "broken" && number % 5 === 1)
    throw new Transient(`no answer from https://tiles.example/${number} in 30 s`);
  if (mode === "partly" && number === 3) throw new Permanent("tile 3 is under a cloud", { code: "cloud" });
  if (mode === "hostile" && number === 0) throw new Permanent(hostile, { code: "hostile" });
  ctx.deliver({
    name: mode === "hostile" ? hostile : "cogs",
    count: 1,
    location: mode === "hostile" ? "javascript:window.owned=true" : "silver:atlas/",
  });
  return { tile: number };
}

export const scene_parts = {
  jobs: [
    defineJob({
      type: "atlas",
      stages: [
        { name: "list", task: "atlas.list", description: "Find the scenes" },
        {
          name: "tiles",
          task: "atlas.tile",
          parallelism: "fan_out" as const,
          max_attempts: 1,
          max_parallel: 3,
          tasks: { count: "{parameters.n}", parameters: { number: "{ordinal}", mode: "{parameters.mode}" } },
          failure_budget: { percent: 10 },
          description: "Cut every scene into tiles",
        },
        { name: "stats", task: "atlas.stats", after: ["list"], importance: "optional" },
        { name: "mosaic", task: "atlas.mosaic", after: ["tiles"], parallelism: "fan_in" },
        { name: "publish", task: "atlas.publish", after: ["mosaic", "stats"], gate: "Do the tiles look right?" },
      ],
    }),
    defineJob({ type: "lonely", stages: [{ name: "wait", task: "lonely.wait" }] }),
  ],
  handlers: [
    defineHandler("atlas.list", {}, () => ({ scenes: 3 })),
    defineHandler("atlas.tile", {}, (parameters, ctx) => tile(parameters as unknown as Tile, ctx as TaskContext)),
    defineHandler("atlas.stats", {}, () => ({ mean: 12.5 })),
    defineHandler("atlas.mosaic", {}, () => ({ mosaic: true })),
    defineHandler("atlas.publish", {}, (_, ctx) => {
      (ctx as TaskContext).deliver({ name: "page", count: 1, location: "https://maps.example/atlas" });
      return { published: true, pixels: 9007199254740991 };
    }),
    // Nobody serves it.
    defineHandler("lonely.wait", {}, () => null),
  ],
};

export const served_types = ["atlas.list", "atlas.tile", "atlas.stats", "atlas.mosaic", "atlas.publish"];

export class Scene {
  #made = 0;

  constructor(private readonly service: () => TestService) {}

  get engine() {
    return this.service().engine.forTenant("default");
  }

  async atlas(
    mode: string,
    n: number,
    more: { labels?: Record<string, string>; depends_on?: string[] } = {},
  ): Promise<string> {
    const { job_id } = await this.engine.submit("atlas", { mode, n, made: ++this.#made }, more);
    return job_id;
  }

  async lonely(more: { depends_on?: string[] } = {}): Promise<string> {
    const { job_id } = await this.engine.submit("lonely", { made: ++this.#made }, more);
    return job_id;
  }

  /** Until a stage of the job is in this status. */
  async until(job_id: string, stage: string, status: string): Promise<void> {
    for (;;) {
      const { stages } = await this.engine.status(job_id);
      if (stages.find(({ name }) => name === stage)?.status === status) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** One that was approved, and has ended. */
  async published(mode = "fine", n = 6): Promise<string> {
    const job_id = await this.atlas(mode, n);
    await this.until(job_id, "publish", "waiting_approval");
    await this.engine.operate.approve(job_id, { stage: "publish", actor: "ada", reason: "fine" });
    await this.engine.wait(job_id);
    return job_id;
  }

  async ended(mode: string, n: number): Promise<string> {
    const job_id = await this.atlas(mode, n);
    await this.engine.wait(job_id);
    return job_id;
  }
}
