// A request as a reviewer looks at it: its release, what is different from before, and both on a map.
import { useMemo } from "react";
import type { Bounds } from "../../../../src/geo/raster.js";
import { verbCommands } from "../../api/commands.js";
import { pageBase } from "../../api/page_base.js";
import { Card, CliAndCurl, JsonOf, Skeleton } from "../../ui/index.js";
import { LazyMap } from "../map/lazy_map.js";
import "../map/map.css";
import { around, type MapItem, polygonOf } from "../map/shapes.js";
import { Changes } from "./changes.js";
import type { Request, Review } from "./records.js";

export function ReviewTab({ request, review }: { request: Request; review: Review | undefined }) {
  if (review === undefined) return <Skeleton lines={6} />;
  const { curl } = verbCommands(pageBase(), "requests.review", { request_id: request.request_id });
  return (
    <>
      <Card title={review.before === null ? "What it makes" : "Before and now"}>
        <Changes review={review} whole />
      </Card>
      <Extents review={review} />
      <div className="job-columns">
        <Card title="Parameters now">
          <JsonOf value={review.now.parameters} name="parameters" />
        </Card>
        {review.before !== null && (
          <Card title="Parameters before">
            <JsonOf value={review.before.parameters} name="parameters-before" />
          </Card>
        )}
      </div>
      <CliAndCurl curl={curl} />
    </>
  );
}

/** The box of now is the chosen one; that of before lies behind it. */
function Extents({ review: { now, before } }: { review: Review }) {
  const shown = useMemo(() => {
    const boxes = [before?.extent, now.extent].filter((one) => one != null && one.length === 4) as unknown as Bounds[];
    return boxes.map((box, id): MapItem & { box: Bounds } => ({ id, box, geometry: polygonOf(box) }));
  }, [before, now]);
  const box = around(shown.map((one) => one.box));
  if (box === null) return null;
  return (
    <Card title="Where">
      <LazyMap
        label="Extent before and now"
        items={shown}
        chosen_item={now.extent === null ? null : shown.length - 1}
        fit={{ box, again: 0 }}
      />
      <p className="muted small">
        The extent of its tasks now is the marked one{before?.extent != null && "; the other is that of before"}.
      </p>
    </Card>
  );
}
