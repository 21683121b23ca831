// The filter in the address, as text, as terms, and as what the server is asked.
import { useMemo, useRef } from "react";
import { type FilterProblem, type JobTerms, noTerms, parseJobFilter } from "../../../../src/core/shown/job_filter.js";
import { type JobQuery, jobQuery } from "../../../../src/core/shown/job_filter_query.js";
import type { DayStart } from "../../../../src/core/shown/job_filter_time.js";
import { useNow } from "../../ui/index.js";

export interface Asked {
  terms: JobTerms;
  problems: FilterProblem[];
  query: JobQuery;
  /** Without its statuses: what the chips count. */
  any_status: JobQuery;
}

/** A day begins where the reader is. */
const localDay: DayStart = (year, month, day) => new Date(year, month - 1, day);
/** "The last hour" moves on in such steps: a question that changed every second would be asked every second. */
const STEP_MS = 15_000;

/** While the text has problems, what it last meant stays asked for. */
export function useAsked(text: string): Asked {
  const step = Math.floor(useNow() / STEP_MS);
  const good = useRef<JobTerms>(noTerms());
  return useMemo(() => {
    const { terms, problems } = parseJobFilter(text);
    if (problems.length === 0) good.current = terms;
    const now = new Date((step + 1) * STEP_MS);
    const query = jobQuery(good.current, now, localDay);
    const any_status = jobQuery({ ...good.current, statuses: [] }, now, localDay);
    return { terms, problems, query, any_status };
  }, [text, step]);
}
