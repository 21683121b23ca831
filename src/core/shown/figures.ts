// How numbers, durations and sizes read on the screen. Pure.

export function count(n: number): string {
  return n.toLocaleString("en-US");
}

export function tasks(n: number): string {
  return n === 1 ? "1 task" : `${count(n)} tasks`;
}

/** The stages behind those that run again, and how many of their tasks may run again with them. */
export function whatFollows(stages: readonly { stage: string; at_most: number; follows: boolean }[]): string {
  const following = stages.filter(({ follows }) => follows);
  return following
    .map(
      ({ stage, at_most }) => `${stage} (${at_most === 0 ? "only if its input changes" : `at most ${tasks(at_most)}`})`,
    )
    .join(", ");
}

export function seconds(s: number): string {
  if (!Number.isFinite(s) || s < 0) return "?";
  if (s < 9.95) return `${s.toFixed(1)}s`;
  if (s < 59.5) return `${Math.round(s)}s`;
  const minutes = Math.floor(Math.round(s) / 60);
  if (minutes < 60) return `${minutes}m${String(Math.round(s) % 60).padStart(2, "0")}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h${String(minutes % 60).padStart(2, "0")}m`;
  return `${Math.floor(hours / 24)}d${hours % 24}h`;
}

/** How long something took: 0.8 s, 12 s, 4 min 12 s, 2 h 5 min, 3 d 4 h. */
export function took(s: number): string {
  const all = Math.max(0, s);
  if (all < 9.95) return `${all.toFixed(1)} s`;
  const whole = Math.round(all);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return pair(Math.floor(whole / 60), "min", whole % 60, "s");
  const minutes = Math.round(all / 60);
  if (minutes < 48 * 60) return pair(Math.floor(minutes / 60), "h", minutes % 60, "min");
  const hours = Math.round(all / 3600);
  return pair(Math.floor(hours / 24), "d", hours % 24, "h");
}

function pair(many: number, unit: string, few: number, small: string): string {
  return few === 0 ? `${count(many)} ${unit}` : `${count(many)} ${unit} ${few} ${small}`;
}

export function rate(per_s: number): string {
  if (per_s >= 10) return `${count(Math.round(per_s))}/s`;
  if (per_s >= 0.1) return `${per_s.toFixed(1)}/s`;
  return `${(per_s * 60).toFixed(1)}/min`;
}

export function bytes(n: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let value = n;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 2 : 1)} ${units[unit]}`;
}
