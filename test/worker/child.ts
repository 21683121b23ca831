// A worker in a process of its own, for tests that kill it. Arguments: database URL, storage folder, options as JSON.
// It says what happens on stdout, one word and a number per line.
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { stopOnSignals } from "../../src/worker/signals.js";
import { startWorker } from "../../src/worker/worker.js";

const [database_url, storage_dir, options = "{}"] = process.argv.slice(2);
const is_child = database_url !== undefined && storage_dir !== undefined;
// The test itself imports the job and the handler from here, and says nothing.
const say = (line: string) => is_child && process.stdout.write(`${line}\n`);

/** Runs for as long as its parameters say; `effects` is where it leaves its mark. */
export const child_handler = defineHandler("child.work", {}, async ({ ms = 0, mark = false, kept = false }, ctx) => {
  say(`started ${ctx.ordinal}`);
  if (mark) {
    await ctx.db(
      (session) => session.sql`
      insert into public.effects values (${ctx.effect_key}, ${ctx.attempt}::int) on conflict (effect_key) do nothing`,
    );
    say(`marked ${ctx.ordinal}`);
  }
  // A plain insert: run twice, it fails.
  const keep = { with_finish: true } as const;
  if (kept) await ctx.db((session) => session.sql`insert into public.effects values (${ctx.effect_key}, 0)`, keep);
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
  return { attempt: ctx.attempt };
});

export const child_job = defineJob({
  type: "child_job",
  stages: [
    { name: "work", task: "child.work", tasks: { count: "{parameters.n}" } },
    { name: "after", task: "child.work" },
  ],
});

if (is_child) {
  const registry = createRegistry({ jobs: [child_job], handlers: [child_handler] });
  const engine = await openEngine({ database_url, storage_dir, registry });
  const worker = await startWorker(engine, JSON.parse(options));
  const watch = stopOnSignals(worker);
  process.on("SIGTERM", () => say("asked to stop"));
  say(`ready ${process.pid}`);
  const how = await watch.stopped;
  say(`stopped ${how}`);
  watch.dispose();
  await engine.close();
}
