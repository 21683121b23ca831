// The vector layers of the tenant: where they lie, how large they are, and what their last load left out.

import { useMemo } from "react";
import { Link, useLocation } from "wouter";
import { footprintBox } from "../../../../src/geo/boxes.js";
import type { Reply } from "../../api/call.js";
import { useGet } from "../../api/hooks.js";
import { useSession } from "../../api/session.js";
import { to, useQueryState } from "../../routes.js";
import { Button, CommandLine, Count, Empty, FirstRead, Input, Page, Safe, Table, Time } from "../../ui/index.js";
import { ExtentsMap } from "../map/extents_map.js";
import { useSettled } from "./settled.js";

export type LayerRecord = Reply<"layers.list">["layers"][number];

const PAGE_SIZE = 100;
const AGAIN_MS = 10_000;

export function LayersPage() {
  const { catalog } = useSession();
  return <Page title="Layers">{catalog ? <Layers /> : <LayersOff />}</Page>;
}

function LayersOff() {
  return (
    <Empty title="There are no vector layers here">
      <p>
        Vector files become layers where the database has PostGIS. With the embedded database, start it with the first
        command; on a server, install PostGIS and run the second.
      </p>
      <div className="stack">
        <CommandLine text="FANFOLD_CATALOG=stac fanfold up" />
        <CommandLine text="fanfold migrate" />
      </div>
    </Empty>
  );
}

function Layers() {
  const [{ q, cursor }, set] = useQueryState({ q: "", cursor: "" });
  const search = useSettled(q.trim());
  const { data, error } = useGet(
    "layers.list",
    { limit: PAGE_SIZE, search, cursor },
    { when: ({ kind }) => /^(layer\.|job\.(completed|partial_success))/.test(kind), every_ms: AGAIN_MS },
  );
  const is_asked = q !== "" || cursor !== "";
  return (
    <>
      <div className="layers-filter">
        <Input
          label="Find"
          placeholder="part of a name or title"
          value={q}
          onChange={({ target }) => set({ q: target.value, cursor: "" }, { replace: true })}
        />
      </div>
      <FirstRead data={data} error={error} title="The layers cannot be read" lines={5} />
      {data !== undefined && data.layers.length === 0 && (
        <Empty
          title={is_asked ? "No layer fits" : "No layers yet"}
          command="fanfold submit process_vector source=bronze:parcels.gpkg --wait"
        >
          A vector job loads Shapefiles, GeoPackages, GeoJSON and others into PostGIS, and serves them at once.
        </Empty>
      )}
      {data !== undefined && data.layers.length > 0 && <Found layers={data.layers} />}
      {data !== undefined && data.next !== null && (
        <Button onClick={() => set({ cursor: data.next ?? "" })}>More layers</Button>
      )}
      {cursor !== "" && <Button onClick={() => set({ cursor: "" })}>From the beginning</Button>}
    </>
  );
}

function Found({ layers }: { layers: readonly LayerRecord[] }) {
  const [, navigate] = useLocation();
  const boxes = useMemo(() => layers.map(({ extent }) => footprintBox(extent)), [layers]);
  return (
    <>
      <ExtentsMap label="Extents of the layers" boxes={boxes} onPick={(at) => navigate(to.layer(layers[at]!.name))} />
      <Table
        caption="Layers"
        rows={layers}
        rowKey={({ name }) => name}
        href={({ name }) => to.layer(name)}
        columns={[
          {
            title: "Layer",
            cell: (layer) => (
              <div>
                <Link href={to.layer(layer.name)}>
                  <strong>
                    <Safe text={layer.title ?? layer.name} limit={120} />
                  </strong>
                </Link>
                {layer.title !== null && <div className="muted mono small">{layer.name}</div>}
              </div>
            ),
          },
          {
            title: "Features",
            align: "right",
            cell: ({ feature_count }) => <Count n={feature_count} />,
          },
          { title: "Rejected", align: "right", cell: (layer) => <Rejected layer={layer} /> },
          { title: "Geometry", cell: ({ geometry_type }) => geometry_type ?? "none" },
          { title: "CRS", cell: ({ srid }) => (srid === null ? "–" : `EPSG:${srid}`), minor: true },
          {
            title: "Version",
            align: "right",
            cell: ({ version }) => <Count n={version} />,
            minor: true,
          },
          { title: "Changed", cell: ({ updated_at }) => <Time at={updated_at} /> },
        ]}
      />
    </>
  );
}

function Rejected({ layer: { name, rejected_count } }: { layer: LayerRecord }) {
  if (rejected_count === 0) return <span className="muted">none</span>;
  return (
    <Link href={to.layer(name, "rejects")}>
      <Count n={rejected_count} />
    </Link>
  );
}
