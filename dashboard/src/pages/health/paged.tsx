// A list that is live at its top and read on by hand: the newest page is read again when something happens, older ones stay.
import { useState } from "react";
import { ApiProblem } from "../../api/call.js";
import { Button, ProblemNote } from "../../ui/index.js";

interface Row {
  event_id: number;
}

/** Older rows are kept by this page; what the newest page shows meanwhile is not shown twice. */
export function useOlder<R extends Row>(
  newest: readonly R[],
  next: string | null,
  read: (cursor: string) => Promise<{ rows: R[]; next: string | null }>,
) {
  const [older, setOlder] = useState<{ rows: R[]; next: string | null } | null>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const cursor = older === null ? next : older.next;
  const more = async () => {
    if (cursor === null) return;
    setBusy(true);
    setProblem(null);
    try {
      const page = await read(cursor);
      // What was the newest page is kept: by the next read it may have moved on.
      setOlder({ rows: [...(older?.rows ?? newest), ...page.rows], next: page.next });
    } catch (error) {
      setProblem(error instanceof ApiProblem ? error : new ApiProblem({ detail: String(error) }));
    } finally {
      setBusy(false);
    }
  };
  const known = new Set(newest.map(({ event_id }) => event_id));
  const rows = [...newest, ...(older?.rows ?? []).filter(({ event_id }) => !known.has(event_id))].sort(
    (a, b) => b.event_id - a.event_id,
  );
  return { rows, has_more: cursor !== null, more, busy, problem };
}

export function Older({
  has_more,
  more,
  busy,
  problem,
}: Pick<ReturnType<typeof useOlder>, "has_more" | "more" | "busy" | "problem">) {
  return (
    <>
      <ProblemNote error={problem} />
      {has_more && (
        <Button className="small-button" busy={busy} onClick={() => void more()}>
          Older
        </Button>
      )}
    </>
  );
}
