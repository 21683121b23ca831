// Reading and doing, as hooks. What is read is read again when something happened that it is about, at most four times a second.
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import type { StreamedEvent } from "../../../src/core/api/stream.js";
import type { VerbName } from "../../../src/core/shown/verb_words.js";
import { useEvents, useLive } from "../live/live.js";
import { ApiProblem, call, type FieldsOf, type Reply } from "./call.js";

const AT_MOST_EVERY_MS = 250;

interface Reading {
  /** Read again when such an event is told. */
  when?: (event: StreamedEvent) => boolean;
  /** And so often while the page is live. */
  every_ms?: number;
  enabled?: boolean;
}

type Asked<Name extends VerbName> =
  Record<never, never> extends FieldsOf<Name>
    ? [fields?: FieldsOf<Name>, reading?: Reading]
    : [fields: FieldsOf<Name>, reading?: Reading];

export function useGet<Name extends VerbName>(name: Name, ...asked: Asked<Name>) {
  const [fields = {} as FieldsOf<Name>, { when, every_ms, enabled = true } = {}] = asked;
  const client = useQueryClient();
  const { state } = useLive();
  const key = [name, fields];
  const result = useQuery<Reply<Name>, ApiProblem>({
    queryKey: key,
    queryFn: ({ signal }) => call(name, fields, signal),
    enabled,
    placeholderData: keepPreviousData,
    refetchInterval: every_ms !== undefined && state !== "paused" ? every_ms : false,
  });
  const again = useThrottled(() => void client.invalidateQueries({ queryKey: key, exact: true }), AT_MOST_EVERY_MS);
  useEvents((event) => {
    if (enabled && when?.(event) === true) again();
  });
  return result;
}

/** Runs at once, then at most once in so many milliseconds, and once more for what came meanwhile. */
export function useThrottled(work: () => void, ms: number): () => void {
  const latest = useRef(work);
  latest.current = work;
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const waiting = useRef(false);
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    },
    [],
  );
  return useCallback(() => {
    if (timer.current !== null) {
      waiting.current = true;
      return;
    }
    const tick = () => {
      timer.current = null;
      if (!waiting.current) return;
      waiting.current = false;
      latest.current();
      timer.current = setTimeout(tick, ms);
    };
    latest.current();
    timer.current = setTimeout(tick, ms);
  }, [ms]);
}

export interface Verb<Name extends VerbName> {
  run(fields: FieldsOf<Name>): Promise<Reply<Name> | null>;
  busy: boolean;
  problem: ApiProblem | null;
  forget(): void;
}

/** Does something; resolves with the answer, or null when it was refused and `problem` tells why. What is on the page is read again. */
export function useVerb<Name extends VerbName>(name: Name): Verb<Name> {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const run: Verb<Name>["run"] = useCallback(
    async (fields) => {
      setBusy(true);
      setProblem(null);
      try {
        const answer = await call(name, fields);
        void client.invalidateQueries();
        return answer;
      } catch (error) {
        setProblem(error instanceof ApiProblem ? error : new ApiProblem({ detail: String(error) }));
        return null;
      } finally {
        setBusy(false);
      }
    },
    [client, name],
  );
  return { run, busy, problem, forget: useCallback(() => setProblem(null), []) };
}
