// What a map shows, in words: for readers who do not see it, and where it cannot be drawn.
import { useMemo } from "react";
import { Link } from "wouter";
import { footprint_states } from "../../../../src/core/shown/footprints.js";
import type { Bounds } from "../../../../src/geo/raster.js";
import { to } from "../../routes.js";
import { task_look } from "../../status.js";
import { Count, More, ProblemNote, Safe, StatusBadge, Table } from "../../ui/index.js";
import { howMany, placeOf, type StacItem, titleOf, type useItems, whenOf } from "./items.js";
import { canDraw } from "./lazy_map.js";
import { boxText, from_best } from "./shapes.js";
import type { Footprints } from "./use_footprints.js";

const MOST_LISTED = 100;

export function TasksTold({ footprints, selected }: { footprints: Footprints; selected: ReadonlySet<number> }) {
  const { total, with_box, unusable, unread, extent, counts, kind, boxes, states, attempts, stage_id } = footprints;
  const listed = useMemo(() => {
    const rank = (id: number) => from_best.indexOf(states.get(id) ?? "queued") + (selected.has(id) ? 100 : 0);
    return boxes.toSorted((a, b) => rank(b.id) - rank(a.id) || a.id - b.id).slice(0, MOST_LISTED);
  }, [boxes, states, selected]);
  const parts = footprint_states.flatMap((state, code) => {
    const n = counts[code] ?? 0;
    return n === 0 ? [] : [`${n.toLocaleString("en-US")} ${task_look[state].label}`];
  });
  return (
    <div className="stack">
      <p className="map-summary">
        <Count n={with_box} /> of <Count n={total} /> tasks say where they are
        {extent !== null && <>, between {boxText(extent as Bounds)}</>}: {parts.join(", ")}.
        {unread > 0 && <> {unread.toLocaleString("en-US")} results are still to be read.</>}
        {unusable > 0 && (
          <>
            {" "}
            {unusable.toLocaleString("en-US")} {unusable === 1 ? "box is" : "boxes are"} none on the globe, and left
            out: a box is west, south, east, north in degrees.
          </>
        )}
        {kind === "bins" && (
          <> So many are drawn as a grid that shows the worst in each place; zoom in to see them one by one.</>
        )}
      </p>
      {kind === "boxes" && boxes.length > 0 && (
        <details open={!canDraw()}>
          <summary>
            {boxes.length > MOST_LISTED ? `The first ${MOST_LISTED} as a list` : "As a list"}, selected and failed ones
            first
          </summary>
          <Table
            caption="Tasks on the map"
            rows={listed}
            rowKey={({ id }) => String(id)}
            href={({ id }) => to.task(`${stage_id}-${id}`)}
            columns={[
              {
                title: "Task",
                cell: ({ id }) => <Link href={to.task(`${stage_id}-${id}`)}>{id.toLocaleString("en-US")}</Link>,
              },
              { title: "State", cell: ({ id }) => <StatusBadge status={states.get(id) ?? "queued"} /> },
              { title: "Attempt", cell: ({ id }) => attempts.get(id) ?? 1, align: "right", minor: true },
              { title: "Selected", cell: ({ id }) => (selected.has(id) ? "yes" : ""), minor: true },
              { title: "Where", cell: ({ box }) => <span className="number">{boxText(box)}</span> },
            ]}
          />
        </details>
      )}
    </div>
  );
}

interface ItemsToldProps {
  items: readonly StacItem[];
  found: ReturnType<typeof useItems>;
  empty: string;
}

export function ItemsTold({ items, found, empty }: ItemsToldProps) {
  const nowhere = items.filter((item) => placeOf(item) === null).length;
  if (found.error !== null) return <ProblemNote error={found.error} />;
  if (found.data === undefined) return null;
  if (items.length === 0) return <p className="muted">{empty}</p>;
  return (
    <div className="stack">
      <p className="map-summary row">
        <span>
          {howMany(items.length, found.hasNextPage, undefined)}
          {nowhere > 0 && `, ${nowhere.toLocaleString("en-US")} of them without a place`}.
        </span>
        <More of={found}>Show more</More>
      </p>
      <details open={!canDraw()}>
        <summary>{items.length > MOST_LISTED ? `The first ${MOST_LISTED} as a list` : "As a list"}</summary>
        <Table
          caption="Items on the map"
          rows={items.slice(0, MOST_LISTED)}
          rowKey={({ collection, id }) => `${collection}/${id}`}
          href={({ collection, id }) => to.catalog(collection, id)}
          columns={[
            {
              title: "Item",
              cell: (item) => (
                <Link href={to.catalog(item.collection, item.id)}>
                  <Safe text={titleOf(item)} limit={100} />
                </Link>
              ),
            },
            {
              title: "Collection",
              cell: ({ collection }) => <Safe text={collection} limit={60} />,
              minor: true,
            },
            { title: "When", cell: (item) => whenOf(item) ?? "–" },
            {
              title: "Where",
              cell: (item) => {
                const place = placeOf(item);
                return place === null ? "nowhere" : <span className="number">{boxText(place.box)}</span>;
              },
            },
          ]}
        />
      </details>
    </div>
  );
}
