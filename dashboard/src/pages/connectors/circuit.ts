// How a host that connectors call stands, in words. Pure.

import type { Reply } from "../../api/call.js";

export type Host = Reply<"connectors.hosts">["hosts"][number];

export interface Circuit {
  /** A status of the dashboard, for shape and colour. */
  status: "failed" | "retrying" | "later" | "completed";
  word: string;
  about: string;
  /** Until when it is left alone. */
  until: string | null;
}

export function circuitOf({ breaker, open_until, wait_until }: Host, now_ms: number): Circuit {
  if (breaker === "open") {
    return {
      status: "failed",
      word: "not called",
      until: open_until,
      about: "It failed too often. Tasks that need it wait, and spend no attempt.",
    };
  }
  if (breaker === "half_open") {
    return {
      status: "retrying",
      word: "tried again",
      until: null,
      about: "One call finds out whether it answers again; the others wait.",
    };
  }
  if (wait_until !== null && Date.parse(wait_until) > now_ms) {
    return { status: "later", word: "asked to wait", until: wait_until, about: "It said so itself (Retry-After)." };
  }
  return { status: "completed", word: "called", about: "", until: null };
}

const units: Record<string, (value: string) => string> = {
  max_concurrent: (value) => `at most ${value} calls at once`,
  rate_per_s: (value) => `${value} a second`,
  burst: (value) => `${value} in a row after a pause`,
};

/** What a configuration says of limits, in words; what is not known here stays as it is written. */
export function limitWords(config: Record<string, unknown>): string[] {
  const { limits } = config;
  if (typeof limits !== "object" || limits === null) return [];
  return Object.entries(limits).map(([name, value]) => units[name]?.(String(value)) ?? `${name} ${String(value)}`);
}
