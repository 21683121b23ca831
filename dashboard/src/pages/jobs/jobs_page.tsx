// The list of jobs: what people open first. The address is the state: filter and page can be sent to another by the link.
import { useCallback, useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import type { BulkAction } from "../../../../src/core/api/job_bulk.js";
import type { JobTerms } from "../../../../src/core/shown/job_filter.js";
import { formatJobFilter } from "../../../../src/core/shown/job_filter_text.js";
import { useGet, useThrottled } from "../../api/hooks.js";
import { useEvents } from "../../live/live.js";
import { to, useQueryState } from "../../routes.js";
import { Button, Empty, Page, ProblemNote, Skeleton, Time, useKeys } from "../../ui/index.js";
import { useAsked } from "./asked.js";
import { BulkBar, BulkDialog, type Target } from "./bulk.js";
import { Chips } from "./chips.js";
import { FilterBox } from "./filter_box.js";
import { JobTable } from "./job_table.js";
import { heldRows, type JobPage as Listed, type ListedJob } from "./rows.js";
import { Views } from "./views.js";
import "./jobs.css";

const ROWS = "50";
/** Rows and counts are read again at most so often; progress in between comes with the stream. */
const AGAIN_MS = 1_000;
/** The pages that led to one, so that one can go back to newer jobs: by filter. */
const trails = new Map<string, string[]>();

export function JobsPage() {
  const [{ q: text, next: cursor }, set] = useQueryState({ q: "", next: "" });
  const { terms, problems, query, any_status } = useAsked(text);
  const list = useGet("jobs.list", { ...query, progress: "true", limit: ROWS, cursor });
  const counts = useGet("jobs.counts", any_status);
  const again = useThrottled(() => {
    void list.refetch();
    void counts.refetch();
  }, AGAIN_MS);
  useEvents(({ kind }) => {
    if (/^(job|stage)\./.test(kind)) again();
  });

  const key = JSON.stringify([text, cursor]);
  const { rows, fresh, show, box } = useSteadyRows(key, list.data, list.isPlaceholderData);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [all, setAll] = useState(false);
  const [acting, setActing] = useState<{ action: BulkAction; target: Target } | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter selects other jobs
  useEffect(() => {
    setSelected(new Set());
    setAll(false);
  }, [text]);

  const ask = useCallback(
    (filter: string, how: { typing: boolean } = { typing: false }) =>
      set({ q: filter, next: "" }, { replace: how.typing }),
    [set],
  );
  const change = (changed: JobTerms) => ask(formatJobFilter(changed));
  const older = () => {
    if (list.data?.next == null) return;
    trails.set(text, [...(trails.get(text) ?? []).filter((one) => one !== cursor), cursor]);
    set({ next: list.data.next });
    window.scrollTo({ top: 0 });
  };
  const newer = () => {
    if (cursor === "") return;
    const trail = trails.get(text) ?? [];
    trails.set(text, trail.slice(0, -1));
    set({ next: trail.at(-1) ?? "" });
    window.scrollTo({ top: 0 });
  };
  useKeys([
    { keys: "n", what: "Older jobs", run: older },
    { keys: "p", what: "Newer jobs", run: newer },
  ]);

  const select = (job_ids: readonly string[], on: boolean) => {
    setAll(false);
    setSelected((before) => {
      const after = new Set(before);
      for (const job_id of job_ids) {
        if (on) after.add(job_id);
        else after.delete(job_id);
      }
      return after;
    });
  };
  const chosen = terms.statuses.length === 0 ? Object.keys(counts.data?.counts ?? {}) : terms.statuses;
  const matching =
    counts.data === undefined ? null : chosen.reduce((sum, status) => sum + counts.data.counts[status as "queued"], 0);
  const is_more = counts.data?.at_least.some((status) => chosen.includes(status)) === true;
  const matching_text = matching === null ? "" : `${matching.toLocaleString("en-US")}${is_more ? "+" : ""}`;

  return (
    <Page
      title="Jobs"
      actions={
        <Link href={to.submit()} className="button primary">
          Submit a job
        </Link>
      }
    >
      <Views text={text} />
      <FilterBox text={text} problems={problems} onChange={ask} />
      <Chips terms={terms} counts={counts.data} onChange={change} />
      <ProblemNote error={list.error} title="The jobs cannot be read" />
      {selected.size > 0 && (
        <BulkBar
          selected={selected.size}
          all={all}
          matching={matching_text}
          onAll={() => setAll(true)}
          onClear={() => select([...selected], false)}
          onAct={(action) =>
            setActing({ action, target: all ? { filter: query, text } : { job_ids: [...selected].slice(0, 1000) } })
          }
        />
      )}
      {rows === null ? (
        list.error === null && <Skeleton lines={8} />
      ) : (
        <div className="job-list" ref={box} aria-busy={list.isPlaceholderData || undefined}>
          {fresh > 0 && (
            <button type="button" className="fresh" onClick={show}>
              {fresh === 1
                ? "1 new job"
                : `${fresh.toLocaleString("en-US")}${fresh >= Number(ROWS) ? " or more" : ""} new jobs`}
              : show
            </button>
          )}
          {rows.length > 0 && (
            <JobTable
              rows={rows}
              selected={selected}
              onSelect={select}
              onLabel={(label, value) =>
                change({
                  ...terms,
                  labels: [...terms.labels.filter((one) => one.key !== label), { key: label, value }],
                })
              }
            />
          )}
          {rows.length === 0 && (
            <Nothing
              page={list.data}
              filtered={text !== ""}
              on_first={cursor === ""}
              onClear={() => ask("")}
              onOlder={older}
            />
          )}
          <Pager
            page={list.data}
            rows={rows}
            matching={cursor === "" ? matching_text : null}
            has_newer={cursor !== ""}
            onOlder={older}
            onNewer={newer}
            onNewest={() => set({ next: "" })}
          />
        </div>
      )}
      {acting !== null && (
        <BulkDialog
          {...acting}
          onClose={() => {
            setActing(null);
            setSelected(new Set());
            setAll(false);
          }}
        />
      )}
    </Page>
  );
}

/** Rows do not move away from a reader who points at them, has one in focus or has scrolled down: what is new is counted instead. */
function useSteadyRows(key: string, page: Listed | undefined, is_old: boolean) {
  const box = useRef<HTMLDivElement>(null);
  const shown = useRef<{ key: string; rows: readonly ListedJob[] } | null>(null);
  const [, rerender] = useState(0);
  const latest = page?.jobs;
  if (latest === undefined) return { rows: null, fresh: 0, show: () => {}, box };
  const here = box.current;
  const is_looked_at =
    here !== null &&
    (here.matches(":hover") || here.contains(document.activeElement) || here.getBoundingClientRect().top < 0) &&
    document.visibilityState === "visible";
  const before = shown.current;
  if (
    before === null ||
    (before.key !== key && !is_old) ||
    before.rows.length === 0 ||
    (before.key === key && !is_looked_at)
  )
    shown.current = { key, rows: latest };
  const held = heldRows(shown.current?.rows ?? latest, latest);
  const show = () => {
    shown.current = { key, rows: latest };
    rerender((n) => n + 1);
  };
  // What has left this page, because it changed or others came, stays where it stood until the rows are shown anew.
  return { rows: held.rows, fresh: is_old ? 0 : held.fresh, show, box };
}

interface NothingProps {
  page: Listed | undefined;
  filtered: boolean;
  on_first: boolean;
  onClear(): void;
  onOlder(): void;
}

function Nothing({ page, filtered, on_first, onClear, onOlder }: NothingProps) {
  if (page?.next != null) {
    return (
      <Empty title="None so far">
        <p>
          {page.examined.toLocaleString("en-US")} jobs were looked at
          {page.looked_back_to !== null && (
            <>
              , back to <Time at={page.looked_back_to} />
            </>
          )}
          , and none fits.
        </p>
        <p className="row centred">
          <Button kind="primary" onClick={onOlder}>
            Look further
          </Button>
          <Button onClick={onClear}>Clear the filter</Button>
        </p>
      </Empty>
    );
  }
  if (filtered || !on_first) {
    return (
      <Empty title={filtered ? "No job fits this filter" : "No older jobs"}>
        <Button onClick={onClear}>{filtered ? "Clear the filter" : "To the newest"}</Button>
      </Empty>
    );
  }
  return (
    <Empty title="No jobs yet" command="fanfold submit hello_world --wait">
      <p>Submit the first one on the command line, or with the form.</p>
      <p>
        <Link href={to.submit()} className="button">
          Open the form
        </Link>
      </p>
    </Empty>
  );
}

interface PagerProps {
  page: Listed | undefined;
  rows: readonly ListedJob[];
  matching: string | null;
  has_newer: boolean;
  onOlder(): void;
  onNewer(): void;
  onNewest(): void;
}

function Pager({ page, rows, matching, has_newer, onOlder, onNewer, onNewest }: PagerProps) {
  if (page === undefined || (!has_newer && page.next === null && rows.length === 0)) return null;
  const is_short = page.looked_back_to !== null && rows.length > 0;
  return (
    <nav className="pager" aria-label="Pages">
      <span className="muted small">
        {rows.length > 0 && `${rows.length.toLocaleString("en-US")} shown`}
        {matching !== null && matching !== "" && rows.length > 0 && ` of ${matching}`}
        {is_short && (
          <>
            {" "}
            · looked back to <Time at={page.looked_back_to} />, older ones may fit
          </>
        )}
      </span>
      <span className="row ends">
        {has_newer && <Button onClick={onNewest}>Newest</Button>}
        <Button disabled={!has_newer} onClick={onNewer}>
          ← Newer
        </Button>
        <Button disabled={page.next === null} onClick={onOlder}>
          {is_short ? "Look further →" : "Older →"}
        </Button>
      </span>
    </nav>
  );
}
