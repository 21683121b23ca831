// One layer: its features on a map and in a table, its columns, its versions, and the rows that were not taken.

import { Link, useParams } from "wouter";
import type { Reply } from "../../api/call.js";
import { useGet } from "../../api/hooks.js";
import { type LayerTab, layer_tabs, to } from "../../routes.js";
import { Card, Count, JsonOf, Page, ProblemNote, Safe, Skeleton, Table, Tabs, Time } from "../../ui/index.js";
import { Fact } from "../catalog/collection_page.js";
import { MapTab } from "./map_tab.js";
import { RejectsTab } from "./rejects_tab.js";
import { VersionsTab } from "./versions_tab.js";

export type WholeLayer = Reply<"layers.get">;

const AGAIN_MS = 10_000;
const tab_words: Record<LayerTab, string> = {
  map: "Map and table",
  columns: "Columns",
  versions: "Versions",
  rejects: "Rejects",
};

export function LayerPage() {
  const { layer_id = "", tab } = useParams<{ layer_id: string; tab?: string }>();
  return (
    <Layer key={layer_id} name={decodeURIComponent(layer_id)} tab={layer_tabs.find((one) => one === tab) ?? "map"} />
  );
}

function Layer({ name, tab }: { name: string; tab: LayerTab }) {
  const { data: layer, error } = useGet(
    "layers.get",
    { layer_id: name },
    { when: ({ kind }) => /^(layer\.|job\.(completed|partial_success|failed))/.test(kind), every_ms: AGAIN_MS },
  );
  const crumbs = [{ href: to.layers(), text: "Layers" }];
  // What was unpublished, or never loaded, may have versions and rejects all the same.
  if (layer === undefined && (error === null || tab === "map" || tab === "columns")) {
    return (
      <Page title={name} crumbs={crumbs}>
        {error === null ? <Skeleton lines={8} /> : <ProblemNote error={error} />}
        {error !== null && <LayerTabs name={name} tab={tab} />}
      </Page>
    );
  }
  const title = layer?.title ?? name;
  return (
    <Page title={title} heading={<Safe text={title} limit={200} />} crumbs={crumbs}>
      {layer !== undefined && <Facts layer={layer} />}
      <LayerTabs name={name} tab={tab} />
      {layer !== undefined && tab === "map" && <MapTab layer={layer} />}
      {layer !== undefined && tab === "columns" && <ColumnsTab layer={layer} />}
      {tab === "versions" && <VersionsTab name={name} />}
      {tab === "rejects" && <RejectsTab name={name} made_by={layer?.job_id ?? null} />}
    </Page>
  );
}

function LayerTabs({ name, tab }: { name: string; tab: LayerTab }) {
  return (
    <Tabs
      label="Views of the layer"
      current={tab}
      tabs={layer_tabs.map((id) => ({ id, text: tab_words[id], href: to.layer(name, id) }))}
    />
  );
}

function Facts({ layer }: { layer: WholeLayer }) {
  return (
    <>
      {layer.description !== null && (
        <p className="muted catalog-text">
          <Safe text={layer.description} limit={2000} />
        </p>
      )}
      <dl className="catalog-facts">
        <Fact name="Name">
          <code>{layer.name}</code>
        </Fact>
        <Fact name="Features">
          <Count n={layer.feature_count} />
        </Fact>
        <Fact name="Geometry">
          {layer.geometry_type ?? "none"}
          {layer.srid !== null && <span className="muted"> in EPSG:{layer.srid}</span>}
        </Fact>
        <Fact name="Version">
          {layer.version} <span className="muted">({layer.mode ?? "made"})</span>, <Time at={layer.updated_at} />
        </Fact>
        <Fact name="Rejected">
          {layer.rejected_count === 0 ? (
            "none"
          ) : (
            <Link href={to.layer(layer.name, "rejects")}>
              <Count n={layer.rejected_count} />
            </Link>
          )}
        </Fact>
        <Fact name="Made by">
          {layer.job_id === null ? (
            <span className="muted">not a job of ours</span>
          ) : (
            <Link href={to.job(layer.job_id)}>job {layer.job_id.slice(0, 12)}</Link>
          )}
        </Fact>
        {layer.collection !== null && layer.item_id !== null && (
          <Fact name="In the catalogue">
            <Link href={to.catalog(layer.collection, layer.item_id)}>
              <Safe text={layer.collection} limit={60} />
            </Link>
          </Fact>
        )}
      </dl>
    </>
  );
}

function ColumnsTab({ layer }: { layer: WholeLayer }) {
  return (
    <>
      <Table
        caption="Columns of the layer"
        rows={layer.columns}
        rowKey={({ name }) => name}
        columns={[
          { title: "Name", cell: ({ name }) => <code>{name}</code> },
          {
            title: "Type",
            cell: ({ type, pg_type }) => (type === pg_type ? type : `${type} (${pg_type})`),
          },
          {
            title: "In the source",
            cell: ({ source_name, name }) =>
              source_name === undefined || source_name === name ? (
                <span className="muted">the same</span>
              ) : (
                <Safe text={source_name} limit={120} />
              ),
          },
          {
            title: "Used as",
            cell: ({ name }) => (name === layer.time_column ? "time" : name === layer.style?.column ? "colour" : "–"),
            minor: true,
          },
        ]}
      />
      <Card title="Where it came from">
        <JsonOf value={{ source: layer.source, release: layer.release }} name={`${layer.name} source`} open={2} />
      </Card>
    </>
  );
}
