// The rows of a snapshot, page after page: each a short statement, so that no connection is held and memory has one page, however many
// rows there are.
import { Transient } from "../../core/errors/errors.js";
import type { TaskContext } from "../../core/task/context.js";
import type { Snapshot } from "./facts.js";

export type GeometryText = "wkb" | "wkt" | "geojson" | "none";

export type Scalar = string | number | boolean | null;

/** As geo.snapshot_row writes it. `geometry` is a text, but of geojson a value. */
export type SnapshotRow = [
  n: number,
  key: string,
  geometry: unknown,
  xmin: number | null,
  ymin: number | null,
  xmax: number | null,
  ymax: number | null,
  ...columns: Scalar[],
];

/** Where the columns begin in a row. */
export const first_column = 7;

const page_rows = 10_000;
const page_bytes = 4 * 2 ** 20;

export async function* snapshotPages(
  ctx: TaskContext,
  { table_name, row_count, name }: Pick<Snapshot, "table_name" | "row_count" | "name">,
  geometry: GeometryText,
): AsyncGenerator<SnapshotRow[]> {
  const request = JSON.stringify({ geometry, rows: page_rows, bytes: page_bytes });
  let behind = 0;
  while (behind < row_count) {
    ctx.signal.throwIfAborted();
    const [row] = await ctx.db(
      (session) => session.sql<{ page: string }>`
        select geo.read_snapshot(${table_name}::text, ${behind}::bigint, ${request}::text::jsonb) as page`,
    );
    const page = JSON.parse(row!.page) as SnapshotRow[];
    const last = page.at(-1)?.[0] ?? behind;
    if (page.length === 0 || last - behind !== page.length) {
      throw new Transient(`the copy of layer ${name} ended at row ${last} of ${row_count}`, { code: "snapshot_short" });
    }
    behind = last;
    yield page;
  }
}
