// Where a stage's tasks are, how they stand, and what came out of the job: on a map, and told in words beside it.
import { useEffect, useMemo, useState } from "react";
import { useLocation } from "wouter";
import { isTerminal } from "../../../../src/core/shown/statuses.js";
import { touches } from "../../../../src/geo/boxes.js";
import type { Bounds } from "../../../../src/geo/raster.js";
import { call, type Reply } from "../../api/call.js";
import { to, useQueryState } from "../../routes.js";
import { joined, type Range, type Selection, useSelection } from "../../selection.js";
import { announce, Button, Empty, ProblemNote, Skeleton } from "../../ui/index.js";
import { VerbsBar } from "../heat/verbs_bar.js";
import "../heat/heat.css";
import type { Area } from "./drawn_area.js";
import { BinCard, ItemCard, TaskCard } from "./hit_card.js";
import { useItems, useMapItems } from "./items.js";
import { LazyMap } from "./lazy_map.js";
import { MapCard } from "./map_card.js";
import { MapTools } from "./map_tools.js";
import { usePictureOnMap } from "./picture_on_map.js";
import { around, type Hit, missing_states, ordinalIn, withSurroundings } from "./shapes.js";
import { ItemsTold, TasksTold } from "./told.js";
import { useFootprints, useSelectedIds } from "./use_footprints.js";

type Job = Reply<"jobs.get">;
export type Stage = Job["stages"][number];

interface JobMapProps {
  job: Job;
  stage: Stage;
  /** When none of its tasks says where it is: another stage may. null: it is shown all the same. */
  onNowhere: (() => void) | null;
}

export function JobMap({ job, stage, onNowhere }: JobMapProps) {
  const [{ layer, task }, setQuery] = useQueryState({ layer: "tasks", task: "" });
  const show_outputs = layer === "outputs" && job.items_url !== null;
  const selection = useSelection(stage.stage_id);
  const [view, setView] = useState<Bounds | null>(null);
  const [hit, setHit] = useState<Hit | null>(null);
  const [pinned, setPinned] = useState<Hit | null>(null);
  const [drawing, setDrawing] = useState(false);
  const [wanted_fit, setWantedFit] = useState<{ box: Bounds; again: number } | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [, navigate] = useLocation();
  const { data, error, refetch } = useFootprints({ job_id: job.job_id, stage, view, selected: selection.ranges });
  const selected = useSelectedIds(data?.boxes ?? none, selection.has);

  const found = useItems(
    show_outputs ? { filter: `"fanfold:job_id" = '${job.job_id}'` } : null,
    isTerminal(job.status) ? {} : { every_ms: 5_000 },
  );
  const items = found.data ?? no_items;
  const map_items = useMapItems(show_outputs ? items : no_items);
  const chosen_item = pinned?.kind === "items" ? (pinned.ids[0] ?? null) : null;
  const picture = usePictureOnMap(chosen_item === null ? null : (items[chosen_item] ?? null));

  // biome-ignore lint/correctness/useExhaustiveDependencies: a card about another layer is of no use
  useEffect(() => {
    setHit(null);
    setPinned(null);
  }, [layer]);

  const extent = show_outputs ? extentOfItems(map_items) : ((data?.extent as Bounds | null | undefined) ?? null);
  const fit = wanted_fit ?? (extent === null ? null : { box: extent, again: 0 });
  // Where nothing came out, and nothing will: the holes in the outputs.
  const missing = useMemo(
    () => (data?.boxes ?? none).filter(({ id }) => missing_states.has(data?.states.get(id) ?? "queued")),
    [data],
  );
  const again = () => (wanted_fit?.again ?? 0) + 1;
  const selected_extent = useMemo(
    () =>
      selectedExtent(data?.boxes ?? none, selected) ?? (data?.selected?.extent as Bounds | null | undefined) ?? null,
    [data, selected],
  );

  useAskedTask(task, stage.stage_id, selection, selected_extent, (box) => setWantedFit({ box, again: again() }));
  const is_nowhere = !show_outputs && data !== undefined && data.with_box === 0 && data.unread === 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: told once
  useEffect(() => {
    if (is_nowhere) onNowhere?.();
  }, [is_nowhere]);

  async function select({ box, adds }: Area): Promise<void> {
    setProblem(null);
    if (data === undefined) return;
    let ranges: Range[];
    if (data.kind === "boxes" && data.with_box === data.boxes.length) {
      ranges = data.boxes.filter((one) => touches(one.box, box)).map(({ id }): Range => [id, id + 1]);
    } else {
      try {
        const within = await call("footprints.within", {
          job_id: job.job_id,
          stage: stage.name,
          bbox: box.map((edge) => edge.toFixed(6)).join(),
        });
        ranges = within.ranges as [number, number][];
      } catch (failed) {
        setProblem(failed);
        return;
      }
    }
    if (adds) selection.add(ranges);
    else selection.set(ranges);
    const count = joined(ranges).reduce((sum, [lo, hi]) => sum + hi - lo, 0);
    announce(count === 0 ? "No task is in this area" : `${count.toLocaleString("en-US")} tasks in this area selected`);
    setDrawing(false);
  }

  function pick(given: Hit | null): void {
    setHit(null);
    if (given?.kind === "boxes" && given.ids.length === 1 && !given.is_touch) {
      navigate(to.task(`${stage.stage_id}-${given.ids[0]}`));
    } else setPinned(given);
  }

  if (is_nowhere && onNowhere !== null) return <Skeleton lines={8} />;
  if (data === undefined) return error === null ? <Skeleton lines={8} /> : <ProblemNote error={error} />;
  const shown = pinned ?? hit;
  const nothing = !show_outputs && data.with_box === 0;
  return (
    <section className="job-map stack" aria-label={`Map of stage ${stage.name}`}>
      <MapTools
        has_outputs={job.items_url !== null}
        layer={show_outputs ? "outputs" : "tasks"}
        onLayer={(next) => {
          setQuery({ layer: next });
          setWantedFit(null);
        }}
        drawing={drawing}
        onDrawing={setDrawing}
        can_draw={!show_outputs && data.with_box > 0}
        onFit={extent === null ? null : () => setWantedFit({ box: extent, again: again() })}
        selected={selection.size}
        onSelected={selected_extent === null ? null : () => setWantedFit({ box: selected_extent, again: again() })}
        footprints={data}
      />
      <ProblemNote error={problem} />
      {nothing ? (
        <NoBoxes stage={stage} onOutputs={job.items_url === null ? null : () => setQuery({ layer: "outputs" })} />
      ) : (
        <LazyMap
          label={show_outputs ? "Map of the job's outputs" : `Map of the tasks of stage ${stage.name}`}
          boxes={show_outputs ? missing : data.boxes}
          states={data.states}
          selected={selected}
          bins={show_outputs ? none : data.bins}
          items={map_items}
          chosen_item={chosen_item}
          picture={picture}
          fit={fit}
          drawing={drawing}
          onView={setView}
          onHover={setHit}
          onPick={pick}
          onDraw={(area) => void select(area)}
        >
          {shown !== null && (
            <MapCard at={shown} onClose={pinned && (() => setPinned(null))}>
              {shown.kind === "boxes" && <TaskCard ids={shown.ids} footprints={data} is_pinned={pinned !== null} />}
              {shown.kind === "bins" && <BinCard bin={data.bins.find(({ id }) => id === shown.ids[0])} />}
              {shown.kind === "items" && (
                <ItemCard items={shown.ids.flatMap((id) => items[id] ?? [])} is_pinned={pinned !== null} />
              )}
            </MapCard>
          )}
        </LazyMap>
      )}
      <VerbsBar
        job_id={job.job_id}
        job_ended={job.finished_at !== null}
        stage={stage.name}
        stage_id={stage.stage_id}
        selection={selection}
        onDone={() => void refetch()}
      />
      {show_outputs ? (
        <ItemsTold items={items} found={found} empty="This job has put no item into the catalogue yet." />
      ) : (
        data.with_box > 0 && <TasksTold footprints={data} selected={selected} />
      )}
    </section>
  );
}

/** The task that the address names is selected, and looked at once it is known where it is. */
function useAskedTask(
  task: string,
  stage_id: number,
  selection: Selection,
  extent: Bounds | null,
  look: (box: Bounds) => void,
): void {
  const [waiting, setWaiting] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each task that is asked for
  useEffect(() => {
    const ordinal = ordinalIn(task, stage_id);
    if (ordinal === null) return;
    selection.set([[ordinal, ordinal + 1]]);
    setWaiting(true);
  }, [task, stage_id]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when its place is known
  useEffect(() => {
    if (!waiting || extent === null) return;
    setWaiting(false);
    look(withSurroundings(extent));
  }, [waiting, extent]);
}

const none: readonly never[] = [];
const no_items: readonly never[] = [];

function NoBoxes({ stage, onOutputs }: { stage: Stage; onOutputs: (() => void) | null }) {
  const is_planned = stage.total !== null;
  return (
    <Empty
      title={is_planned ? `No task of "${stage.name}" says where it is` : `"${stage.name}" is not planned yet`}
      command={`yield { index, parameters, bbox: [west, south, east, north] };`}
    >
      <p>
        {is_planned
          ? "A task is on the map when its planner gives it a box in degrees, or its result has a bbox. Other stages of this job may have some."
          : "Its tasks are on the map as soon as they are planned."}
      </p>
      {onOutputs !== null && <Button onClick={onOutputs}>Show what the job has put into the catalogue</Button>}
    </Empty>
  );
}

function selectedExtent(boxes: readonly { id: number; box: Bounds }[], selected: ReadonlySet<number>): Bounds | null {
  return around(boxes.filter(({ id }) => selected.has(id)).map(({ box }) => box));
}

function extentOfItems(items: ReturnType<typeof useMapItems>): Bounds | null {
  return around(items.map(({ box }) => box));
}
