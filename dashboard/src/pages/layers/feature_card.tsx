// What is known of the feature that was clicked.

import type { ApiProblem } from "../../api/call.js";
import { Button, Safe } from "../../ui/index.js";
import { CloseCard } from "../map/map_card.js";
import type { LayerFeature } from "./features.js";
import { valueText } from "./rejects_tab.js";

interface Props {
  id: number;
  feature: LayerFeature | undefined;
  error: ApiProblem | null;
  onClose(): void;
  /** Null: it has no place. */
  onZoom: (() => void) | null;
}

const MOST_SHOWN = 40;

export function FeatureCard({ id, feature, error, onClose, onZoom }: Props) {
  const all = Object.entries(feature?.properties ?? {});
  return (
    <section className="map-card pinned" aria-label={`Feature ${id}`}>
      <CloseCard onClose={onClose} />
      <p>
        <strong>Feature {id}</strong>
      </p>
      {error !== null && <p className="muted">{error.message}</p>}
      {feature === undefined && error === null && <p className="muted">…</p>}
      <dl className="layers-values">
        {all.slice(0, MOST_SHOWN).map(([name, value]) => (
          <div key={name}>
            <dt>
              <Safe text={name} limit={63} />
            </dt>
            <dd>
              <Safe text={valueText(value)} limit={200} />
            </dd>
          </div>
        ))}
      </dl>
      {all.length > MOST_SHOWN && <p className="muted">and {all.length - MOST_SHOWN} more</p>}
      {onZoom !== null && (
        <Button className="small-button" onClick={onZoom}>
          Zoom to it
        </Button>
      )}
    </section>
  );
}
