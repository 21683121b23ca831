// The process groups of handlers: each child leads one, so that what it started ends with it. Whatever ends this process
// in an orderly way ends them too; when it dies without a word, the watchdog in each child does.
const led = new Set<number>();

/** `group` is the pid of its leader. */
export function addGroup(group: number): void {
  if (led.size === 0) process.on("exit", killAll);
  led.add(group);
}

/** To be called as soon as the leader has ended: from then on its number may be given to others. */
export function removeGroup(group: number): void {
  led.delete(group);
  if (led.size === 0) process.off("exit", killAll);
}

export function signalGroup(group: number, signal: NodeJS.Signals): void {
  if (!led.has(group)) return;
  try {
    process.kill(-group, signal);
  } catch {
    // Gone already; or a system without process groups, where the leader is all there is to be had.
    try {
      process.kill(group, signal);
    } catch {}
  }
}

function killAll(): void {
  for (const group of led) signalGroup(group, "SIGKILL");
}
