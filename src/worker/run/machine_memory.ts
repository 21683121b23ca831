// How much memory this process may use: the machine's, or less where a control group says so (containers, systemd). Both kinds of
// control groups, and those above ours too: a limit further up binds as well.
import { readFileSync } from "node:fs";
import { totalmem } from "node:os";

export type ReadText = (path: string) => string | null;

const MB = 2 ** 20;
const V2 = "/sys/fs/cgroup";
const V1 = "/sys/fs/cgroup/memory";

/** In MB. */
export function machineMemory(read: ReadText = readText, total_bytes = totalmem()): number {
  const groups = (read("/proc/self/cgroup") ?? "").split("\n").map((line) => line.split(":"));
  const limits = [total_bytes];
  for (const [, controllers, ...path] of groups) {
    const dirs = upwards(path.join(":"));
    if (controllers === "") limits.push(...limitsOf(read, dirs, V2, "memory.max"));
    if (controllers?.split(",").includes("memory")) limits.push(...limitsOf(read, dirs, V1, "memory.limit_in_bytes"));
  }
  return Math.floor(Math.min(...limits) / MB);
}

/** `/a/b` → /a/b, /a and the root, which is all that a container sees of its own. */
function upwards(path: string): string[] {
  const parts = path.split("/").filter((part) => part !== "" && part !== "..");
  return Array.from({ length: parts.length + 1 }, (_, gone) => parts.slice(0, parts.length - gone).join("/"));
}

/** "max" and the largest number there is both mean: none. */
function limitsOf(read: ReadText, dirs: readonly string[], root: string, file: string): number[] {
  return dirs
    .map((dir) => Number(read([root, dir, file].filter((part) => part !== "").join("/")) ?? Number.NaN))
    .filter((bytes) => Number.isFinite(bytes) && bytes > 0);
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return null;
  }
}
