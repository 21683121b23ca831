// Terms of a job filter as the query of GET /api/jobs and /api/jobs/counts: relative times become moments here, where the caller's
// clock and days are. Pure.
import type { JobTerms } from "./job_filter.js";
import { formatWord } from "./job_filter_text.js";
import { type DayStart, utcDay, whenAt } from "./job_filter_time.js";

export interface JobQuery {
  q?: string;
  type?: string;
  status?: string;
  label?: string;
  id?: string;
  error?: string;
  correlation_id?: string;
  group_id?: string;
  created_after?: string;
  created_before?: string;
  finished_after?: string;
  finished_before?: string;
  priority_from?: string;
  priority_to?: string;
  paused?: "true";
  waiting?: "true";
  approval?: "true";
  retrying?: "true";
}

export function jobQuery(terms: JobTerms, now: Date, dayStart: DayStart = utcDay): JobQuery {
  const query: JobQuery = {};
  const put = (key: keyof JobQuery, value: string | null) => {
    if (value !== null && value !== "") query[key] = value as "true";
  };
  const at = (when: string | null) => (when === null ? null : whenAt(when, now, dayStart).toISOString());
  put("q", terms.words.map(formatWord).join(" "));
  put("type", terms.types.join(","));
  put("status", terms.statuses.join(","));
  put("label", terms.labels.map(labelPair).join(","));
  put("id", terms.id);
  put("error", terms.error);
  put("correlation_id", terms.correlation);
  put("group_id", terms.group);
  put("created_after", at(terms.created.from));
  put("created_before", at(terms.created.to));
  put("finished_after", at(terms.finished.from));
  put("finished_before", at(terms.finished.to));
  put("priority_from", terms.priority.from === null ? null : String(terms.priority.from));
  put("priority_to", terms.priority.to === null ? null : String(terms.priority.to));
  for (const condition of terms.conditions) put(condition, "true");
  return query;
}

/** `key:value`; a comma, colon or backslash of their own has a backslash before it. */
function labelPair({ key, value }: { key: string; value: string | null }): string {
  const escaped = (text: string) => text.replace(/[\\,:]/g, "\\$&");
  return value === null ? escaped(key) : `${escaped(key)}:${escaped(value)}`;
}

/** The labels of a query: pairs, and keys whose value is of no matter. null: not written so. */
export function readLabels(text: string): { labels: Record<string, string>; label_keys: string[] } | null {
  const labels = new Map<string, string>();
  const label_keys: string[] = [];
  for (const pair of text.match(/(?:[^\\,]|\\.)+|^$/gs) ?? [""]) {
    const found = /^((?:[^\\:]|\\.){1,200})(?::((?:[^\\]|\\.)*))?$/s.exec(pair);
    if (found === null) return null;
    const plain = (part: string) => part.replace(/\\(.)/gs, "$1");
    const key = plain(found[1]!);
    if (key.length > 100) return null;
    if (found[2] === undefined) label_keys.push(key);
    else labels.set(key, plain(found[2]));
  }
  if (/(^|[^\\])(\\\\)*,($|,)|^,|(^|[^\\])(\\\\)*\\$/.test(text)) return null;
  return { labels: Object.fromEntries(labels), label_keys };
}
