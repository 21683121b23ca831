// What a request made, on a map: its items in the catalogue, or the tasks of its jobs that say where they are.
import { lazy, Suspense, useMemo, useState } from "react";
import { useGet } from "../../api/hooks.js";
import { useSession } from "../../api/session.js";
import { useQueryState } from "../../routes.js";
import { Empty, ProblemNote, Safe, Skeleton } from "../../ui/index.js";
import { stagesInTurn } from "../job/stages_in_turn.js";
import { ItemCard } from "../map/hit_card.js";
import { type StacItem, useItems, useMapItems } from "../map/items.js";
import { LazyMap } from "../map/lazy_map.js";
import { MapCard } from "../map/map_card.js";
import "../map/map.css";
import { usePictureOnMap } from "../map/picture_on_map.js";
import { around, type Hit } from "../map/shapes.js";
import { ItemsTold } from "../map/told.js";
import type { Request } from "./records.js";

const JobMap = lazy(() => import("../map/job_map.js").then((module) => ({ default: module.JobMap })));
const none: readonly StacItem[] = [];
const AGAIN_MS = 5_000;

export function RequestMap({ request }: { request: Request }) {
  const { catalog } = useSession();
  const [{ show }, set] = useQueryState({ show: "" });
  const jobs = request.jobs.flatMap(({ name, job_id }) => (job_id === null ? [] : [{ name, job_id }]));
  const filter = jobs.map(({ job_id }) => `"fanfold:job_id" = '${job_id}'`).join(" OR ");
  const found = useItems(
    catalog && jobs.length > 0 ? { filter } : null,
    request.finished_at === null ? { every_ms: AGAIN_MS } : {},
  );
  const items = found.data ?? none;
  const waits = catalog && jobs.length > 0 && found.data === undefined && found.error === null;
  // Unless something is asked for: what is in the catalogue, else where its tasks are.
  const chosen = jobs.find(({ name }) => name === show) ?? null;
  const shows_items = show === "items" || (show === "" && items.length > 0);
  if (waits) return <Skeleton lines={8} />;
  return (
    <div className="stack">
      <nav className="pills" aria-label="What the map shows">
        <Pill
          text={`In the catalogue${found.data === undefined ? "" : ` (${items.length})`}`}
          on={shows_items}
          onChoose={() => set({ show: "items" })}
        />
        {jobs.map(({ name }) => (
          <Pill key={name} text={`Tasks of ${name}`} on={chosen?.name === name} onChoose={() => set({ show: name })} />
        ))}
      </nav>
      {shows_items ? (
        <Items items={items} found={found} />
      ) : chosen !== null ? (
        <TasksOf key={chosen.job_id} job_id={chosen.job_id} onNowhere={null} />
      ) : (
        <FirstSomewhere jobs={jobs} />
      )}
    </div>
  );
}

function Pill({ text, on, onChoose }: { text: string; on: boolean; onChoose(): void }) {
  return (
    <button type="button" className={on ? "pill current" : "pill"} aria-pressed={on} onClick={onChoose}>
      <Safe text={text} limit={80} />
    </button>
  );
}

function Items({ items, found }: { items: readonly StacItem[]; found: ReturnType<typeof useItems> }) {
  const [hit, setHit] = useState<Hit | null>(null);
  const [pinned, setPinned] = useState<Hit | null>(null);
  const map_items = useMapItems(items);
  const chosen = pinned?.ids[0] ?? null;
  const picture = usePictureOnMap(chosen === null ? null : (items[chosen] ?? null));
  const extent = useMemo(() => around(map_items.map(({ box }) => box)), [map_items]);
  const shown = pinned ?? hit;
  return (
    <>
      {items.length > 0 && (
        <LazyMap
          label="Map of what the request made"
          items={map_items}
          chosen_item={chosen}
          picture={picture}
          fit={extent === null ? null : { box: extent, again: 0 }}
          onHover={setHit}
          onPick={(given) => {
            setHit(null);
            setPinned(given);
          }}
        >
          {shown !== null && (
            <MapCard at={shown} onClose={pinned && (() => setPinned(null))}>
              <ItemCard items={shown.ids.flatMap((id) => items[id] ?? [])} is_pinned={pinned !== null} />
            </MapCard>
          )}
        </LazyMap>
      )}
      <ItemsTold items={items} found={found} empty="Nothing of this request is in the catalogue now." />
    </>
  );
}

/** The last job that says where its tasks are: those before it prepare what it makes. */
function FirstSomewhere({ jobs }: { jobs: readonly { name: string; job_id: string }[] }) {
  const [empty, setEmpty] = useState<ReadonlySet<string>>(new Set());
  const next = jobs.toReversed().find(({ job_id }) => !empty.has(job_id));
  if (next === undefined) {
    return (
      <Empty title="Nothing of this request is on the map yet">
        Items come with what it publishes; a task is on the map when its planner gives it a box in degrees.
      </Empty>
    );
  }
  return (
    <>
      <p className="muted">
        Nothing of it is in the catalogue now. These are the tasks of job <Safe text={next.name} />.
      </p>
      <TasksOf
        key={next.job_id}
        job_id={next.job_id}
        onNowhere={() => setEmpty((before) => new Set([...before, next.job_id]))}
      />
    </>
  );
}

function TasksOf({ job_id, onNowhere }: { job_id: string; onNowhere: (() => void) | null }) {
  const { data: job, error } = useGet("jobs.get", { job_id }, { when: (event) => event.job_id === job_id });
  const [empty, setEmpty] = useState<ReadonlySet<number>>(new Set());
  if (job === undefined || job.job_id !== job_id) {
    return error === null ? <Skeleton lines={8} /> : <ProblemNote error={error} />;
  }
  const turn = stagesInTurn(job);
  const stage = turn.find(({ stage_id }) => !empty.has(stage_id)) ?? turn[0];
  if (stage === undefined) return null;
  const is_last = turn.every(({ stage_id }) => stage_id === stage.stage_id || empty.has(stage_id));
  return (
    <Suspense fallback={<Skeleton lines={8} />}>
      <JobMap
        key={stage.stage_id}
        job={job}
        stage={stage}
        onNowhere={is_last ? onNowhere : () => setEmpty((before) => new Set([...before, stage.stage_id]))}
      />
    </Suspense>
  );
}
