// One collection: its items on a map and as pictures. Only what is in view, or fits the search, is asked for, 500 at a time.
import { useEffect, useMemo, useState } from "react";
import { Link, useParams } from "wouter";
import type { Bounds } from "../../../../src/geo/raster.js";
import { to, useQueryState } from "../../routes.js";
import { Button, Card, Checkbox, Empty, Input, JsonOf, Page, ProblemNote, Safe, Skeleton } from "../../ui/index.js";
import { ItemCard } from "../map/hit_card.js";
import { howMany, type StacItem, titleOf, useItems, useMapItems, whenOf } from "../map/items.js";
import { LazyMap } from "../map/lazy_map.js";
import { MapCard } from "../map/map_card.js";
import { usePictureOnMap } from "../map/picture_on_map.js";
import { Quicklook } from "../map/quicklook.js";
import { boxText, type Hit } from "../map/shapes.js";
import { ItemsTold } from "../map/told.js";
import { ItemCount, Where } from "./catalog_page.js";
import { extentOf, isWholeGlobe, timesOf, titleOfCollection, useCollection } from "./collections.js";
import { boxOf, datetimeOf, filterOf } from "./search.js";

/** Pictures on the page at once; each is fetched when it comes into view. */
const PICTURES = 60;

export function CollectionPage() {
  const collection_id = decodeURIComponent(useParams<{ collection_id: string }>().collection_id ?? "");
  const { data: collection, error } = useCollection(collection_id);
  const crumbs = [{ href: to.catalog(), text: "Catalogue" }];
  if (collection === undefined) {
    return (
      <Page title={collection_id} crumbs={crumbs}>
        {error === null ? <Skeleton lines={8} /> : <ProblemNote error={error} />}
      </Page>
    );
  }
  return (
    <Page
      title={titleOfCollection(collection)}
      heading={<Safe text={titleOfCollection(collection)} limit={200} />}
      crumbs={crumbs}
    >
      <p className="muted catalog-text">
        <Safe text={collection.description ?? ""} limit={2000} />
      </p>
      <dl className="catalog-facts">
        <Fact name="Id">
          <code>
            <Safe text={collection.id} />
          </code>
        </Fact>
        <Fact name="Items">
          <ItemCount collection_id={collection.id} />
        </Fact>
        <Fact name="When">{timesOf(collection) ?? "–"}</Fact>
        <Fact name="Where">
          <Where collection={collection} />
        </Fact>
        <Fact name="License">
          <Safe text={collection.license ?? "–"} limit={80} />
        </Fact>
      </dl>
      <Items collection_id={collection.id} extent={extentOf(collection)} />
      <Card title="As the catalogue has it">
        <JsonOf value={collection} name={collection.id} open={1} />
      </Card>
    </Page>
  );
}

export function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const no_query = { q: "", from: "", until: "", bbox: "", only: "view" };

function Items({ collection_id, extent }: { collection_id: string; extent: Bounds | null }) {
  const [query, setQuery] = useQueryState(no_query);
  const [view, setView] = useState<Bounds | null>(null);
  const [drawing, setDrawing] = useState(false);
  const [hit, setHit] = useState<Hit | null>(null);
  const [pinned, setPinned] = useState<Hit | null>(null);
  const { filter, problem } = filterOf(useSettled(query.q));
  const drawn = boxOf(query.bbox);
  const datetime = datetimeOf(query.from, query.until);
  // A box that was drawn counts; without one, what the map shows; "all" asks for the first ones wherever they are.
  const area = drawn ?? (query.only === "all" ? null : view);
  const search = useMemo(
    () => ({ collections: collection_id, bbox: area, datetime, filter }),
    [collection_id, area, datetime, filter],
  );
  const found = useItems(search);
  const items = found.data ?? none;
  const map_items = useMapItems(items);
  const chosen = pinned?.ids[0] ?? null;
  const picture = usePictureOnMap(chosen === null ? null : (items[chosen] ?? null));
  const shown = pinned ?? hit;
  const is_searched = query.q !== "" || datetime !== undefined || drawn !== null;
  return (
    <>
      <form className="catalog-search" onSubmit={(event) => event.preventDefault()} aria-label="Search the items">
        <Input
          label="Find"
          placeholder="part of an id, or gsd<=10"
          value={query.q}
          problem={problem}
          onChange={({ target }) => setQuery({ q: target.value }, { replace: true })}
        />
        <Input
          label="From"
          type="date"
          value={query.from}
          onChange={({ target }) => setQuery({ from: target.value }, { replace: true })}
        />
        <Input
          label="Until"
          type="date"
          value={query.until}
          onChange={({ target }) => setQuery({ until: target.value }, { replace: true })}
        />
        <div className="row catalog-buttons">
          <Button aria-pressed={drawing} onClick={() => setDrawing(!drawing)} title="Or hold Shift and drag on the map">
            {drawing ? "Draw a box …" : "Search an area"}
          </Button>
          {is_searched && <Button onClick={() => setQuery({ ...no_query, only: query.only })}>Clear</Button>}
        </div>
      </form>
      <Checkbox
        label="Only what the map shows"
        checked={query.only !== "all"}
        onChange={({ target }) => setQuery({ only: target.checked ? "view" : "all" })}
      />
      {drawn !== null && <p className="muted">Only within {boxText(drawn)}.</p>}
      <LazyMap
        label="Items of the collection"
        items={map_items}
        chosen_item={chosen}
        picture={picture}
        fit={extent === null ? null : { box: isWholeGlobe(extent) ? [-170, -60, 180, 75] : extent, again: 0 }}
        drawing={drawing}
        onView={setView}
        onHover={setHit}
        onPick={(given) => {
          setHit(null);
          setPinned(given);
        }}
        onDraw={({ box }) => {
          setDrawing(false);
          setPinned(null);
          setQuery({ bbox: box.map((edge) => edge.toFixed(4)).join() });
        }}
      >
        {shown !== null && (
          <MapCard at={shown} onClose={pinned && (() => setPinned(null))}>
            <ItemCard items={shown.ids.flatMap((id) => items[id] ?? [])} is_pinned={pinned !== null} />
          </MapCard>
        )}
      </LazyMap>
      <ItemsTold
        items={items}
        found={found}
        empty={is_searched ? "No item fits." : "No item lies in what the map shows."}
      />
      {found.data !== undefined && items.length === 0 && !is_searched && query.only === "all" && (
        <Empty
          title="This collection has no items"
          command={`fanfold submit process_raster source=bronze:scenes/dem.tif collection=${/^[\w.-]+$/.test(collection_id) ? collection_id : "<id>"}`}
        />
      )}
      {items.length > 0 && (
        <section aria-label="Pictures">
          <ul className="catalog-grid">
            {items.slice(0, PICTURES).map((item) => (
              <Tile key={item.id} item={item} />
            ))}
          </ul>
          {items.length > PICTURES && (
            <p className="muted">{`Pictures of the first ${PICTURES}. ${howMany(items.length, found.hasNextPage, undefined)} are on the map.`}</p>
          )}
        </section>
      )}
    </>
  );
}

const none: readonly StacItem[] = [];

/** What was written once the writing has stopped for a moment: not every letter is a search. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 250);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

function Tile({ item }: { item: StacItem }) {
  return (
    <li className="catalog-tile">
      <Quicklook item={item} />
      <Link href={to.catalog(item.collection, item.id)}>
        <Safe text={titleOf(item)} limit={80} />
      </Link>
      <span className="muted">{whenOf(item) ?? ""}</span>
    </li>
  );
}
