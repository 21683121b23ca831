// The collections of the catalogue.
import { useMemo } from "react";
import { Link, useLocation } from "wouter";
import type { Bounds } from "../../../../src/geo/raster.js";
import { useSession } from "../../api/session.js";
import { to } from "../../routes.js";
import { Button, CommandLine, Empty, Page, ProblemNote, Safe, Skeleton, Table } from "../../ui/index.js";
import { LazyMap } from "../map/lazy_map.js";
import { around, boxText, polygonOf, withSurroundings } from "../map/shapes.js";
import {
  extentOf,
  isWholeGlobe,
  type StacCollection,
  timesOf,
  titleOfCollection,
  useCollections,
  useItemCount,
} from "./collections.js";

export function CatalogPage() {
  const { catalog } = useSession();
  return <Page title="Catalogue">{catalog ? <Collections /> : <CatalogOff />}</Page>;
}

export function CatalogOff() {
  return (
    <Empty title="There is no catalogue here">
      <p>
        Fanfold keeps a STAC catalogue of what raster jobs make, where the database has PostGIS. With the embedded
        database, start it with the first command; on a server, install PostGIS and run the second.
      </p>
      <div className="stack">
        <CommandLine text="FANFOLD_CATALOG=stac fanfold up" />
        <CommandLine text="fanfold migrate" />
      </div>
    </Empty>
  );
}

function Collections() {
  const found = useCollections();
  const [, navigate] = useLocation();
  const collections = found.data ?? none;
  const places = useMemo(
    () =>
      collections.flatMap((collection, id) => {
        const box = extentOf(collection);
        return box === null || isWholeGlobe(box) ? [] : [{ id, geometry: polygonOf(box) }];
      }),
    [collections],
  );
  const fit = useMemo(() => {
    const boxes = collections.map((one) => extentOf(one)).filter((box) => box !== null && !isWholeGlobe(box));
    const all = around(boxes as Bounds[]);
    return all === null ? world : { box: withSurroundings(withSurroundings(all)), again: 0 };
  }, [collections]);
  const counted = useMemo(() => new Set(collections.slice(0, COUNTED).map(({ id }) => id)), [collections]);
  if (found.error !== null) return <ProblemNote error={found.error} />;
  if (found.data === undefined) return <Skeleton lines={6} />;
  if (collections.length === 0) {
    return (
      <Empty
        title="The catalogue is empty"
        command="fanfold submit process_raster source=bronze:scenes/dem.tif collection=dem --wait"
      >
        <p>A raster job makes the collection it names, and an item for each COG. Or try it with data of ours:</p>
        <p>
          <code>npm run demo</code>
        </p>
      </Empty>
    );
  }
  return (
    <>
      {places.length > 0 && (
        <LazyMap
          label="Extents of the collections"
          items={places}
          fit={fit}
          onPick={(hit) => {
            const collection = collections[hit?.ids[0] ?? -1];
            if (collection !== undefined) navigate(to.catalog(collection.id));
          }}
        />
      )}
      <Table
        caption="Collections"
        rows={collections}
        rowKey={({ id }) => id}
        href={({ id }) => to.catalog(id)}
        columns={[
          {
            id: "collection",
            title: "Collection",
            cell: (collection) => (
              <div>
                <Link href={to.catalog(collection.id)}>
                  <strong>
                    <Safe text={titleOfCollection(collection)} limit={120} />
                  </strong>
                </Link>
                <div className="muted catalog-clip">
                  <Safe text={collection.description ?? ""} limit={160} />
                </div>
              </div>
            ),
          },
          {
            id: "items",
            title: "Items",
            align: "right",
            cell: ({ id }) => (counted.has(id) ? <ItemCount collection_id={id} /> : <span className="muted">–</span>),
          },
          { id: "when", title: "When", cell: (collection) => timesOf(collection) ?? "–" },
          { id: "where", title: "Where", cell: (collection) => <Where collection={collection} />, minor: true },
        ]}
      />
      {found.hasNextPage && (
        <Button busy={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          More collections
        </Button>
      )}
    </>
  );
}

/** Each count is a call: of more collections it is told on their own pages. */
const COUNTED = 20;
const none: readonly StacCollection[] = [];
const world = { box: [-170, -60, 180, 75] as [number, number, number, number], again: 0 };

export function ItemCount({ collection_id }: { collection_id: string }) {
  const { data } = useItemCount(collection_id);
  return <span className="number nowrap">{data ?? "…"}</span>;
}

export function Where({ collection }: { collection: StacCollection }) {
  const box = extentOf(collection);
  if (box === null) return <span className="muted">–</span>;
  return isWholeGlobe(box) ? <>the whole globe</> : <span className="number">{boxText(box)}</span>;
}
