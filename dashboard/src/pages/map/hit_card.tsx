// What lies under the pointer, in a few lines.
import { Link } from "wouter";
import { to } from "../../routes.js";
import { Count, Safe, StatusBadge } from "../../ui/index.js";
import { provenanceOf, type StacItem, titleOf, webLink, whenOf } from "./items.js";
import { Quicklook } from "./quicklook.js";
import { boxText, from_best } from "./shapes.js";
import type { Footprints } from "./use_footprints.js";

const MOST_SHOWN = 5;

interface TaskCardProps {
  ids: number[];
  footprints: Footprints;
  is_pinned: boolean;
}

export function TaskCard({ ids, footprints, is_pinned }: TaskCardProps) {
  const rank = (id: number) => from_best.indexOf(footprints.states.get(id) ?? "queued");
  const shown = ids.toSorted((a, b) => rank(b) - rank(a) || a - b).slice(0, MOST_SHOWN);
  const box = footprints.boxes.find(({ id }) => id === shown[0])?.box;
  return (
    <>
      <ul className="map-card-list">
        {shown.map((id) => {
          const attempt = footprints.attempts.get(id);
          const name = `Task ${id.toLocaleString("en-US")}`;
          return (
            <li key={id}>
              <StatusBadge status={footprints.states.get(id) ?? "queued"} />
              {is_pinned ? <Link href={to.task(`${footprints.stage_id}-${id}`)}>{name}</Link> : <strong>{name}</strong>}
              {attempt !== undefined && <span className="muted">attempt {attempt}</span>}
            </li>
          );
        })}
      </ul>
      {ids.length > shown.length && <p className="muted">and {ids.length - shown.length} more here</p>}
      {box !== undefined && shown.length === 1 && <p className="muted number">{boxText(box)}</p>}
      {!is_pinned && (
        <p className="muted">{ids.length === 1 ? "Click to open the task." : "Click to choose one of them."}</p>
      )}
    </>
  );
}

export function BinCard({ bin }: { bin: Footprints["bins"][number] | undefined }) {
  if (bin === undefined) return null;
  return (
    <>
      <p>
        <strong>
          <Count n={bin.count} /> {bin.count === 1 ? "task" : "tasks"} here
        </strong>
      </p>
      <ul className="map-card-list">
        {from_best.toReversed().map((state) => {
          const n = bin.counts[state] ?? 0;
          return n === 0 ? null : (
            <li key={state}>
              <StatusBadge status={state} />
              <Count n={n} />
            </li>
          );
        })}
      </ul>
      <p className="muted">Zoom in to see them one by one.</p>
    </>
  );
}

export function ItemCard({ items, is_pinned }: { items: StacItem[]; is_pinned: boolean }) {
  const [first] = items;
  if (first === undefined) return null;
  if (!is_pinned) {
    return (
      <>
        <p>
          <strong>
            <Safe text={titleOf(first)} limit={80} />
          </strong>
        </p>
        <p className="muted">
          {whenOf(first)}
          {items.length > 1 && ` · and ${items.length - 1} more here`}
        </p>
        <p className="muted">Click for its picture.</p>
      </>
    );
  }
  const { task_id } = provenanceOf(first);
  return (
    <>
      <Quicklook item={first} />
      <p>
        <Link href={to.catalog(first.collection, first.id)}>
          <Safe text={titleOf(first)} limit={80} />
        </Link>
      </p>
      <p className="muted">
        <Safe text={[whenOf(first), first.collection].filter(Boolean).join(" · ")} limit={120} />
      </p>
      <p className="row">
        {task_id !== null && <Link href={to.task(task_id)}>Task</Link>}
        <DataLink item={first} />
      </p>
      {items.length > 1 && (
        <ul className="map-card-list">
          {items.slice(1, MOST_SHOWN).map((item) => (
            <li key={`${item.collection}/${item.id}`}>
              <Link href={to.catalog(item.collection, item.id)}>
                <Safe text={titleOf(item)} limit={60} />
              </Link>
            </li>
          ))}
          {items.length > MOST_SHOWN && <li className="muted">and {items.length - MOST_SHOWN} more here</li>}
        </ul>
      )}
    </>
  );
}

function DataLink({ item }: { item: StacItem }) {
  const asset = Object.values(item.assets).find(({ roles }) => Array.isArray(roles) && roles.includes("data"));
  const href = typeof asset?.href === "string" ? webLink(asset.href) : null;
  if (href === null) return null;
  const is_cog = typeof asset?.type === "string" && asset.type.includes("cloud-optimized");
  return (
    <a href={href} rel="noreferrer noopener" download>
      {is_cog ? "COG" : "Data"}
    </a>
  );
}
