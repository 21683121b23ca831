// The collections of the catalogue.
import { useMemo } from "react";
import { Link, useLocation } from "wouter";
import { useSession } from "../../api/session.js";
import { to } from "../../routes.js";
import { CommandLine, Empty, More, Page, ProblemNote, Safe, Skeleton, Table } from "../../ui/index.js";
import { ExtentsMap } from "../map/extents_map.js";
import { boxText } from "../map/shapes.js";
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
  const boxes = useMemo(() => {
    const all = collections.map(extentOf);
    return all.map((box) => (box !== null && isWholeGlobe(box) ? null : box));
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
      <ExtentsMap
        label="Extents of the collections"
        boxes={boxes}
        onPick={(at) => navigate(to.catalog(collections[at]!.id))}
      />
      <Table
        caption="Collections"
        rows={collections}
        rowKey={({ id }) => id}
        href={({ id }) => to.catalog(id)}
        columns={[
          {
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
            title: "Items",
            align: "right",
            cell: ({ id }) => (counted.has(id) ? <ItemCount collection_id={id} /> : <span className="muted">–</span>),
          },
          { title: "When", cell: (collection) => timesOf(collection) ?? "–" },
          { title: "Where", cell: (collection) => <Where collection={collection} />, minor: true },
        ]}
      />
      <More of={found}>More collections</More>
    </>
  );
}

/** Each count is a call: of more collections it is told on their own pages. */
const COUNTED = 20;
const none: readonly StacCollection[] = [];

export function ItemCount({ collection_id }: { collection_id: string }) {
  const { data } = useItemCount(collection_id);
  return <span className="number nowrap">{data ?? "…"}</span>;
}

export function Where({ collection }: { collection: StacCollection }) {
  const box = extentOf(collection);
  if (box === null) return <span className="muted">–</span>;
  return isWholeGlobe(box) ? <>the whole globe</> : <span className="number">{boxText(box)}</span>;
}
