// The features as a table, a page at a time: sorted by a column, the chosen one marked.
import { Button, Count, Empty, More, Safe, Skeleton, Table } from "../../ui/index.js";
import type { useFeatures } from "./features.js";
import type { WholeLayer } from "./layer_page.js";
import { valueText } from "./rejects_tab.js";
import { isNumber } from "./style_classes.js";

interface Props {
  layer: WholeLayer;
  found: ReturnType<typeof useFeatures>;
  sort: string;
  chosen: number | null;
  is_filtered: boolean;
  /** How many there are, once that is counted. */
  matched: number | null | undefined;
  onSort(sort: string): void;
  onChoose(id: number): void;
}

/** More columns are in the feature's own card. */
const MOST_COLUMNS = 12;
/** On a narrow window. */
const FEW_COLUMNS = 4;

export function FeatureTable({ layer, found, sort, chosen, is_filtered, matched, onSort, onChoose }: Props) {
  if (found.data === undefined) return found.error === null ? <Skeleton lines={6} /> : null;
  const features = found.data.flatMap((page) => page.features);
  const columns = layer.columns.slice(0, MOST_COLUMNS);
  if (features.length === 0) return <Empty title={is_filtered ? "No feature fits" : "The layer has no features"} />;
  return (
    <section className="stack" aria-label="Features">
      <p className="muted" role="status">
        {matched === undefined || matched === null ? (
          <>
            {found.hasNextPage ? "The first " : ""}
            <Count n={features.length} /> features
          </>
        ) : (
          <>
            <Count n={features.length} /> of <Count n={matched} /> features
          </>
        )}
        {layer.columns.length > columns.length && `, with ${columns.length} of ${layer.columns.length} columns`}.
      </p>
      <div className="layers-table">
        <Table
          caption="Features of the layer"
          rows={features}
          rowKey={({ id }) => String(id)}
          rowClass={({ id }) => (id === chosen ? "layers-chosen" : undefined)}
          columns={[
            {
              id: layer.key_column,
              title: layer.key_column,
              cell: ({ id }) => (
                <Button className="small-button" aria-pressed={id === chosen} onClick={() => onChoose(id)}>
                  {id}
                </Button>
              ),
            },
            ...columns.map(({ name, type }, at) => ({
              id: name,
              title: <Sorter name={name} sort={sort} onSort={onSort} />,
              ...(isNumber(type) ? { align: "right" as const } : {}),
              minor: at >= FEW_COLUMNS,
              cell: ({ properties }: (typeof features)[number]) => <Cell value={properties[name]} />,
            })),
          ]}
        />
      </div>
      <More of={found}>More features</More>
    </section>
  );
}

function Cell({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <span className="muted">–</span>;
  if (typeof value === "number") return <span className="number">{value}</span>;
  return (
    <span className="layers-cell">
      <Safe text={valueText(value)} limit={120} />
    </span>
  );
}

/** Ascending, then descending, then as they are stored. */
function Sorter({ name, sort, onSort }: { name: string; sort: string; onSort(sort: string): void }) {
  const [next, sign, words] =
    sort === name
      ? ([`-${name}`, "▲", "ascending"] as const)
      : sort === `-${name}`
        ? (["", "▼", "descending"] as const)
        : ([name, "", "not sorted"] as const);
  return (
    <button type="button" className="layers-sort" onClick={() => onSort(next)} title={`Sort by ${name}`}>
      {name}
      <span aria-hidden="true"> {sign}</span>
      <span className="sr-only">, {words}</span>
    </button>
  );
}
