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
    // Windows has no process groups: there the leader is all there is to be had. Elsewhere a leader without a group has
    // ended, and its number may be another's by now.
    process.kill(process.platform === "win32" ? group : -group, signal);
  } catch {
    // Gone already.
  }
}

function killAll(): void {
  for (const group of led) signalGroup(group, "SIGKILL");
}
