// What can be done with a map, and what its colours mean, with counts.

import { footprint_states } from "../../../../src/core/shown/footprints.js";
import { task_look } from "../../status.js";
import { Button, Count, Segments, ShapeIcon } from "../../ui/index.js";
import { missing_states } from "./shapes.js";
import type { Footprints } from "./use_footprints.js";

interface Props {
  layer: "tasks" | "outputs";
  has_outputs: boolean;
  onLayer(layer: "tasks" | "outputs"): void;
  drawing: boolean;
  onDrawing(drawing: boolean): void;
  can_draw: boolean;
  onFit: (() => void) | null;
  selected: number;
  onSelected: (() => void) | null;
  footprints: Footprints;
}

export function MapTools(props: Props) {
  const { layer, footprints, drawing, selected } = props;
  return (
    <div className="view-tools">
      <Segments
        label="Show"
        current={layer}
        onChoose={props.onLayer}
        choices={[
          { value: "tasks", text: "Tasks" },
          {
            value: "outputs",
            text: "Outputs",
            forbidden: props.has_outputs ? null : "There is no catalogue here: fanfold migrate",
          },
        ]}
      />
      <div className="row">
        {props.can_draw && (
          <Button
            aria-pressed={drawing}
            onClick={() => props.onDrawing(!drawing)}
            title="Or hold Shift and drag on the map"
          >
            {drawing ? "Draw a box …" : "Select an area"}
          </Button>
        )}
        {props.onFit !== null && <Button onClick={props.onFit}>Show all</Button>}
        {selected > 0 && props.onSelected !== null && layer === "tasks" && (
          <Button onClick={props.onSelected}>Zoom to the selected</Button>
        )}
      </div>
      <ul className="map-legend" aria-label="Tasks on the map by state">
        {footprint_states.map((state, code) => {
          const n = footprints.counts[code] ?? 0;
          return n === 0 || (layer === "outputs" && !missing_states.has(state)) ? null : (
            <li key={state} data-state={state}>
              <ShapeIcon status={state} /> <Count n={n} /> {task_look[state].label}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
