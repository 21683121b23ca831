// Who belongs to which child process, and how much memory they use, from /proc. Read every quarter of a second for all
// children together. Without /proc (macOS, Windows) there is nothing to see: memory_mb then limits the JavaScript heap only.
import { readdirSync, readFileSync } from "node:fs";

export interface Member {
  pid: number;
  rss_mb: number;
  /** In hundredths of a second since the machine started. With the pid it names a process for ever. */
  started: number;
  /** It has left the group of its child, as `spawn` with `detached` does: a signal to the group does not reach it. */
  is_outside: boolean;
}

export class ProcessTable {
  /** Known to belong to nobody here. Nobody comes to belong later: a process is born to its parent, into its group. */
  private others = new Set<number>();
  /** Those outside of the groups, seen while their parent was known; it may be gone by now. */
  private outside = new Map<number, number>();

  /** Everybody who belongs to these children, by the pid of the child; null where there is no /proc. */
  look(children: ReadonlySet<number>): Map<number, Member[]> | null {
    const found = new Map<number, Member[]>(Array.from(children, (child) => [child, []]));
    const others = new Set<number>();
    const outside = new Map<number, number>();
    const names = processNames();
    if (names === null) return null;
    // Parents mostly have the lower number, and are met before their children.
    for (const pid of names) {
      if (this.others.has(pid) && !children.has(pid)) {
        others.add(pid);
        continue;
      }
      const stat = readStat(pid);
      if (stat === null) continue;
      const { group, parent, started, is_zombie } = stat;
      const known = (one: number) => outside.get(one) ?? this.outside.get(one);
      const child = children.has(group) ? group : (known(pid) ?? known(group) ?? known(parent) ?? parent);
      const members = found.get(child);
      if (members === undefined) others.add(pid);
      else if (!is_zombie) {
        if (child !== group) outside.set(pid, child);
        members.push({ pid, rss_mb: readRss(pid), started, is_outside: child !== group });
      }
    }
    this.others = others;
    this.outside = outside;
    return found;
  }
}

/** Kills this process and no other that may have got its number. */
export function killMember({ pid, started }: Member): void {
  if (readStat(pid)?.started !== started) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone in between.
  }
}

function processNames(): number[] | null {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return null;
  }
}

function readStat(pid: number): { parent: number; group: number; started: number; is_zombie: boolean } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The second field is the program's name in brackets, and may hold anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [state, parent, group] = fields;
    return { parent: Number(parent), group: Number(group), started: Number(fields[19]), is_zombie: state === "Z" };
  } catch {
    return null;
  }
}

function readRss(pid: number): number {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1];
    return Number(kilobytes ?? 0) / 1024;
  } catch {
    return 0;
  }
}
