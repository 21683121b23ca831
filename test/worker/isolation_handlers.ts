// Handlers that run in a process of their own, and what they do wrong. The tests register them from here, and the child
// processes import them from here.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineHandler } from "../../src/core/declare/declare.js";

const here = { isolation: "process", module: import.meta.url } as const;

/** What a well-behaved neighbour does. */
export const calm = defineHandler("calm", here, async (_, ctx) => ({ pid: process.pid, index: ctx.index }));

export const tells_environment = defineHandler("tells_environment", here, () => process.env);

const with_database = { ...here, database: true } as const;

/** Writes, says so, and never commits. */
export const stuck_in_db = defineHandler("stuck_in_db", with_database, (_, ctx) =>
  ctx.db(async (session) => {
    await session.sql`insert into public.written values (1)`;
    ctx.log.info(`pid ${process.pid}`);
    await new Promise(() => {});
  }),
);

export const writes = defineHandler("writes", with_database, (_, ctx) =>
  ctx.db((session) => session.sql`insert into public.written values (2)`),
);

export const uses_scratch = defineHandler("uses_scratch", here, async ({ then }, ctx) => {
  const dir = await ctx.scratch();
  writeFileSync(`${dir}/half.tif`, "x");
  ctx.log.info(`scratch ${dir}`);
  if (then === "exit") process.exit(3);
});

export const progresses = defineHandler("progresses", here, async ({ until }, ctx) => {
  for (let done = 0; done <= 1000; done++) ctx.progress({ done, total: 1000, message: "tiles" });
  while (!existsSync(until)) await sleep(10, undefined, { signal: ctx.signal });
});

export const chatty = defineHandler("chatty", here, (_, ctx) => {
  for (let n = 0; n < 50_000; n++) ctx.log.debug(`line ${n}`, { n });
  ctx.log.info("with what JSON cannot hold", { f: () => 1, n: 5n } as never);
});

/** In a module that others import, but not under this name. */
const hidden = defineHandler("hidden", here, () => 1);
export const hides = () => hidden;

export const lost_module = defineHandler("lost_module", { ...here, module: "file:///no/such/module.js" }, () => 1);

/** Runs until the file appears. */
export const holds = defineHandler("holds", here, async ({ until }, ctx) => {
  while (!existsSync(until)) await sleep(10, undefined, { signal: ctx.signal });
  return "held on";
});

export const exits = defineHandler("exits", here, ({ code }) => {
  process.stderr.write("last words\n");
  process.exit(code);
});

export const aborts = defineHandler("aborts", here, () => process.abort());

export const throws = defineHandler("throws", here, () => {
  throw new Error("boom");
});

/** Says its pid and waits. */
export const waits = defineHandler("waits", here, async (_, ctx) => {
  ctx.log.info(`pid ${process.pid}`);
  await sleep(600_000, undefined, { signal: ctx.signal });
});

export const deaf = defineHandler("deaf", here, async (_, ctx) => {
  process.on("SIGTERM", () => {});
  ctx.log.info(`pid ${process.pid}`);
  await new Promise((resolve) => setTimeout(resolve, 600_000));
});

export const never = defineHandler("never", here, () => new Promise(() => {}));

export const spins = defineHandler("spins", here, (_, ctx) => {
  ctx.log.info(`pid ${process.pid}`);
  for (;;);
});

export const heap = defineHandler("heap", { ...here, memory_mb: 4096 }, () => {
  const kept: unknown[] = [];
  for (;;) kept.push(Array.from({ length: 1000 }, (_, n) => ({ n })));
});

export const native = defineHandler("native", { ...here, memory_mb: 320 }, async () => {
  const kept: Buffer[] = [];
  for (;;) {
    kept.push(Buffer.alloc(32 * 1024 * 1024, 1));
    await sleep(20);
  }
});

export const rejects = defineHandler("rejects", here, async () => {
  void Promise.reject(new TypeError("nobody waits for this"));
  await sleep(600_000);
});

export const throws_aside = defineHandler("throws_aside", here, async () => {
  setTimeout(() => {
    throw new Error("out of a timer");
  });
  await sleep(600_000);
});

let openTrap: () => void = () => {};

/** `late`: returns, and leaves something behind that fails when the next task of this process asks for it. */
export const rejects_late = defineHandler("rejects_late", here, async ({ late }) => {
  openTrap();
  // The rejection is noticed once the loop has turned.
  await sleep(20);
  const trap = new Promise<void>((resolve) => {
    if (late) openTrap = resolve;
  });
  void trap.then(() => {
    throw new Error("too late");
  });
  return { pid: process.pid };
});

export const rejects_idle = defineHandler("rejects_idle", here, () => {
  setTimeout(() => void Promise.reject(new Error("too late")), 20);
  return { pid: process.pid };
});

/** As a native library does that closes a descriptor twice. */
export const babbles = defineHandler("babbles", here, async () => {
  writeSync(3, "GET / HTTP/1.1\r\n\r\n");
  await sleep(600_000);
});

export const floods = defineHandler("floods", { ...here, output_bytes: 1_000_000 }, async () => {
  const block = `${"x".repeat(999)}\n`.repeat(1000);
  for (let n = 0; n < 1000; n++) {
    if (!process.stdout.write(block)) await new Promise((resolve) => process.stdout.once("drain", resolve));
  }
});

export const talks = defineHandler("talks", here, () => {
  process.stdout.write("to stdout\nhalf a ");
  process.stdout.write("line\n");
  process.stderr.write("to stderr\n");
  process.stdout.write("without an end");
});

/** Starts a process that outlives it, and says its pid. */
export const breeds = defineHandler("breeds", here, async ({ and, detached = false }, ctx) => {
  const child = spawn("sleep", ["600"], { stdio: "inherit", detached });
  ctx.log.info(`grandchild ${child.pid}`);
  if (and === "exit") process.exit(3);
  if (and === "wait") await sleep(600_000);
  return { pid: process.pid, grandchild: child.pid };
});

let bred: number | undefined;

/** The first leaves a process behind; the second, in the same process, waits until that is gone. */
export const leaves = defineHandler("leaves", here, async () => {
  if (bred === undefined) {
    bred = spawn("sleep", ["600"], { stdio: "ignore" }).pid!;
    // Clearly before the next task, also for a clock that counts hundredths of a second and a machine on which forking takes a while.
    await sleep(500);
  } else while (isThere(bred)) await sleep(10);
  return { grandchild: bred };
});

/** Has another program do a part, at once, and says how that ended. */
export const delegates = defineHandler("delegates", here, async () => {
  const child = spawn("sleep", ["1"], { stdio: "ignore" });
  const [code, signal] = await once(child, "exit");
  return { pid: process.pid, code, signal };
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export const calm_too = defineHandler("calm_too", { ...here, memory_mb: 1024 }, () => ({ pid: process.pid }));

const hoard: Buffer[] = [];

/** More than half of what it may have, and never given back. */
export const hoards = defineHandler("hoards", { ...here, memory_mb: 400 }, () => {
  if (hoard.length === 0) hoard.push(Buffer.alloc(200 * 1024 * 1024, 1));
  return { pid: process.pid };
});
