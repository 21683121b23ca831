// Text, numbers and times. Job text is hostile: control characters and marks that turn the reading direction are shown, not obeyed.
import { Fragment, useSyncExternalStore } from "react";
import { count, took } from "../../../src/core/shown/figures.js";
import { printable } from "../../../src/core/values/printable.js";

const unsafe =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Text from outside. Line ends and tabs stay; what else cannot be seen is marked. */
export function Safe({ text, limit = 20_000 }: { text: unknown; limit?: number }) {
  const whole = String(text ?? "");
  const shown = whole.length > limit ? `${whole.slice(0, limit)}…` : whole;
  const parts: { at: number; text: string; mark?: string }[] = [];
  let from = 0;
  for (const { index, 0: found } of shown.matchAll(unsafe)) {
    if (index > from) parts.push({ at: from, text: shown.slice(from, index) });
    parts.push({ at: index, text: "", mark: printable(found) });
    from = index + found.length;
  }
  if (parts.length === 0) return <bdi>{shown}</bdi>;
  if (from < shown.length) parts.push({ at: from, text: shown.slice(from) });
  return (
    <bdi>
      {parts.map((part) => (
        <Fragment key={part.at}>
          {part.mark === undefined ? part.text : <span className="mark">{part.mark}</span>}
        </Fragment>
      ))}
    </bdi>
  );
}

export function Count({ n }: { n: number }) {
  return <span className="number">{count(n)}</span>;
}

export function Duration({ ms }: { ms: number | null | undefined }) {
  if (ms === null || ms === undefined) return <span className="muted">–</span>;
  return <span className="number nowrap">{durationText(ms)}</span>;
}

export function durationText(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : took(ms / 1000);
}

let now_ms = Date.now();
const tickers = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | null = null;

function onTick(listener: () => void): () => void {
  tickers.add(listener);
  ticking ??= setInterval(() => {
    now_ms = Date.now();
    if (document.visibilityState === "visible") for (const tick of tickers) tick();
  }, 1000);
  return () => {
    tickers.delete(listener);
    if (tickers.size > 0 || ticking === null) return;
    clearInterval(ticking);
    ticking = null;
  };
}

/** The time by the second, for what grows while it is looked at. */
export function useNow(): number {
  return useSyncExternalStore(onTick, () => now_ms);
}

/** Relative, with the absolute time in its title. */
export function Time({ at }: { at: string | number | null | undefined }) {
  const now = useNow();
  if (at === null || at === undefined) return <span className="muted">–</span>;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={absoluteTime(date)} className="nowrap">
      {relativeTime(date.getTime(), Math.max(now, Date.now() - 1500))}
    </time>
  );
}

export function absoluteTime(date: Date): string {
  return `${date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" })} (${date.toISOString()})`;
}

/** What is past, in one unit: it does not tick while it is read. What is to come, as exactly as a duration. */
export function relativeTime(at: number, now: number): string {
  const s = (now - at) / 1000;
  if (Math.abs(s) < 1.5) return "now";
  return s >= 0 ? `${roundly(s)} ago` : `in ${took(-s).replace(/^(\d)\.\d s$/, "$1 s")}`;
}

function roundly(s: number): string {
  if (s < 59.5) return `${Math.round(s)} s`;
  if (s < 3600) return `${Math.max(1, Math.floor(s / 60))} min`;
  if (s < 48 * 3600) return `${Math.floor(s / 3600)} h`;
  return `${count(Math.floor(s / 86_400))} d`;
}
