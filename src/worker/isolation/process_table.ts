// Who is in which process group, and how much memory they use, from /proc. Read every quarter of a second for all children
// together. Without /proc (macOS, Windows) there is nothing to see: memory_mb then limits the JavaScript heap only.
import { readdirSync, readFileSync } from "node:fs";

export interface Member {
  pid: number;
  rss_mb: number;
  /** In hundredths of a second since the machine started. */
  started: number;
}

export class ProcessTable {
  /** Of other groups when first seen. A process is born into its group, and only a child of ours could join one of ours. */
  private others = new Set<number>();

  /** The members of each of these groups; null where there is no /proc. */
  look(groups: ReadonlySet<number>): Map<number, Member[]> | null {
    const found = new Map<number, Member[]>(Array.from(groups, (group) => [group, []]));
    const others = new Set<number>();
    let names: string[];
    try {
      names = readdirSync("/proc");
    } catch {
      return null;
    }
    for (const name of names) {
      const pid = Number(name);
      if (!Number.isInteger(pid)) continue;
      if (this.others.has(pid)) {
        others.add(pid);
        continue;
      }
      const stat = readStat(pid);
      if (stat === null) continue;
      const members = found.get(stat.group);
      if (members === undefined) others.add(pid);
      else if (!stat.is_zombie) members.push({ pid, rss_mb: readRss(pid), started: stat.started });
    }
    this.others = others;
    return found;
  }
}

function readStat(pid: number): { group: number; started: number; is_zombie: boolean } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The second field is the program's name in brackets, and may hold anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { group: Number(fields[2]), started: Number(fields[19]), is_zombie: fields[0] === "Z" };
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
