// Ends this process when the worker that forked it is gone. The loop of a handler may be blocked, so a thread of its own
// looks: only a changed parent tells, because a process killed with -9 says nothing.
import { Worker } from "node:worker_threads";

const PERIOD_MS = 500;

export function endWithParent(parent: number): void {
  const source = `
    const end = () => {
      try { process.kill(-process.pid, "SIGKILL"); } catch { process.kill(process.pid, "SIGKILL"); }
    };
    const look = () => { if (process.ppid !== ${parent}) end(); };
    look();
    setInterval(look, ${PERIOD_MS});`;
  // None of the flags and variables of this process: a loader would cost more than the whole thread.
  const thread = new Worker(source, {
    eval: true,
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 32 },
  });
  thread.unref();
  thread.on("error", () => {});
}

/** Everything this process has started shares its group. */
export function endGroup(): never {
  try {
    process.kill(-process.pid, "SIGKILL");
  } catch {}
  process.exit(1);
}
