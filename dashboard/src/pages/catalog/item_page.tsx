// One item: where it is, how it looks, what is known of it, its files, and which task of which job made it.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useParams } from "wouter";
import { type ApiProblem, request } from "../../api/call.js";
import { useGet } from "../../api/hooks.js";
import { to } from "../../routes.js";
import { Card, CommandLine, Copy, Json, Page, ProblemNote, Safe, Skeleton, Table } from "../../ui/index.js";
import { tileAddress } from "../layers/features.js";
import { keptStyle } from "../layers/kept_style.js";
import {
  placeOf,
  provenanceOf,
  type StacAsset,
  type StacItem,
  titleOf,
  useMapItems,
  webLink,
  whenOf,
} from "../map/items.js";
import { LazyMap } from "../map/lazy_map.js";
import { usePictureOnMap } from "../map/picture_on_map.js";
import { Quicklook } from "../map/quicklook.js";
import { boxText } from "../map/shapes.js";
import { Fact } from "./collection_page.js";
import { bytesText, checksumText } from "./files.js";

export function ItemPage() {
  const { collection_id, item_id } = useParams<{ collection_id: string; item_id: string }>();
  const params = { collection_id: decodeURIComponent(collection_id ?? ""), item_id: decodeURIComponent(item_id ?? "") };
  const { data, error } = useQuery<{ item: StacItem; text: string }, ApiProblem>({
    queryKey: ["stac item", params],
    queryFn: async ({ signal }) => {
      const response = await request("GET", "/stac/collections/{collection_id}/items/{item_id}", { params, signal });
      const text = await response.text();
      return { item: JSON.parse(text) as StacItem, text };
    },
  });
  const crumbs = [
    { href: to.catalog(), text: "Catalogue" },
    { href: to.catalog(params.collection_id), text: params.collection_id },
  ];
  if (data === undefined) {
    return (
      <Page title={params.item_id} crumbs={crumbs}>
        {error === null ? <Skeleton lines={8} /> : <ProblemNote error={error} />}
      </Page>
    );
  }
  return (
    <Page title={titleOf(data.item)} heading={<Safe text={titleOf(data.item)} limit={200} />} crumbs={crumbs}>
      <Item {...data} />
    </Page>
  );
}

function Item({ item, text }: { item: StacItem; text: string }) {
  const list = useMemo(() => [item], [item]);
  const map_items = useMapItems(list);
  const picture = usePictureOnMap(item);
  const place = placeOf(item);
  const { job_id, task_id } = provenanceOf(item);
  const { description } = item.properties;
  const layer = useLayerOf(item);
  return (
    <>
      {typeof description === "string" && (
        <p className="muted catalog-text">
          <Safe text={description} limit={2000} />
        </p>
      )}
      <dl className="catalog-facts">
        <Fact name="Id">
          <code>
            <Safe text={item.id} />
          </code>
        </Fact>
        <Fact name="When">{whenOf(item) ?? "–"}</Fact>
        <Fact name="Where">
          {place === null ? "it does not say" : <span className="number">{boxText(place.box)}</span>}
        </Fact>
        <Fact name="Made by">
          {job_id === null && task_id === null && <span className="muted">not a job of ours</span>}
          {job_id !== null && <Link href={to.job(job_id)}>job {job_id.slice(0, 12)}</Link>}{" "}
          {task_id !== null && <Link href={to.task(task_id)}>task {task_id}</Link>}
        </Fact>
        {layer !== null && (
          <Fact name="Layer">
            <Link href={to.layer(layer.name)}>its features</Link>
          </Fact>
        )}
        <Properties item={item} />
      </dl>
      <div className="catalog-pair">
        <Quicklook item={item} large />
        {place !== null && (
          <LazyMap
            label="Where the item is"
            items={map_items}
            chosen_item={0}
            picture={picture}
            tiles={
              layer === null
                ? null
                : {
                    url: tileAddress(layer, "", layer.style?.column ?? null),
                    layer: layer.name,
                    style: layer.style,
                    chosen: null,
                  }
            }
            fit={{ box: place.box, again: 0 }}
          />
        )}
      </div>
      <Card title="Files">
        <Table
          caption="Files of the item"
          rows={Object.entries(item.assets ?? {})}
          rowKey={([key]) => key}
          columns={[
            { title: "File", cell: ([key, asset]) => <FileName name={key} asset={asset} /> },
            { title: "Type", cell: ([, { type }]) => <Safe text={type ?? "–"} limit={80} />, minor: true },
            { title: "Size", align: "right", cell: ([, asset]) => bytesText(asset["file:size"]) },
            { title: "Checksum", cell: ([, asset]) => <Checksum asset={asset} />, minor: true },
            { title: "Address", cell: ([key, asset]) => <Address name={key} asset={asset} /> },
          ]}
        />
      </Card>
      <Card title="As the catalogue has it">
        <Json text={text} name={item.id} open={1} />
        <CommandLine
          label="curl"
          text={`curl -H "Authorization: Bearer $FANFOLD_KEY" ${JSON.stringify(
            new URL(
              `stac/collections/${encodeURIComponent(item.collection)}/items/${encodeURIComponent(item.id)}`,
              document.baseURI,
            ).href,
          )}`}
        />
      </Card>
    </>
  );
}

/** What the tiles of a vector layer are drawn by. Null while the page does not know it yet, and for items that are no layer. */
function useLayerOf(item: StacItem) {
  const name = item.properties["fanfold:layer"];
  const layer_id = typeof name === "string" ? name : "";
  const { data } = useGet("layers.get", { layer_id }, { enabled: layer_id !== "" });
  if (layer_id === "" || data === undefined || data.geometry_type === null) return null;
  return { name: data.name, version: data.version, style: keptStyle(data) };
}

const told_elsewhere = new Set([
  "datetime",
  "start_datetime",
  "end_datetime",
  "title",
  "description",
  "fanfold:job_id",
  "fanfold:task_id",
]);
const MOST_PROPERTIES = 24;

/** The short ones; all of them are in the JSON below. */
function Properties({ item }: { item: StacItem }) {
  const short = Object.entries(item.properties).filter(
    ([name, value]) =>
      !told_elsewhere.has(name) &&
      (typeof value === "number" || typeof value === "boolean" || (typeof value === "string" && value.length <= 120)),
  );
  return (
    <>
      {short.slice(0, MOST_PROPERTIES).map(([name, value]) => (
        <div key={name}>
          <dt>
            <Safe text={name} limit={60} />
          </dt>
          <dd>
            <Safe text={value} />
          </dd>
        </div>
      ))}
    </>
  );
}

function FileName({ name, asset }: { name: string; asset: StacAsset }) {
  const href = typeof asset.href === "string" ? webLink(asset.href) : null;
  const shown = <Safe text={asset.title ?? name} limit={80} />;
  return (
    <div>
      {href === null ? (
        shown
      ) : (
        <a href={href} rel="noreferrer noopener" target="_blank">
          {shown}
        </a>
      )}
      <div className="muted">
        <Safe text={[name, ...(Array.isArray(asset.roles) ? asset.roles : [])].join(" · ")} limit={80} />
      </div>
    </div>
  );
}

function Checksum({ asset }: { asset: StacAsset }) {
  const text = checksumText(asset["file:checksum"]);
  if (text === null) return <span className="muted">–</span>;
  return (
    <span className="row nowrap">
      <code title={text}>{text.slice(0, 19)}…</code>
      <Copy text={text.replace(/^\S+:/, "")} label="Copy the checksum" />
    </span>
  );
}

function Address({ name, asset }: { name: string; asset: StacAsset }) {
  if (typeof asset.href !== "string") return <span className="muted">–</span>;
  return (
    <span className="catalog-address">
      <code>
        <Safe text={asset.href} limit={90} />
      </code>
      <Copy text={asset.href} label={`Copy the address of ${name.slice(0, 40)}`} />
    </span>
  );
}
