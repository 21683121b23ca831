// The two writers of GeoParquet, with the same rows: what a reader finds in their files is the same.
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TaskContext } from "../../src/core/task/context.js";
import type { Snapshot } from "../../src/handlers/export/facts.js";
import { installedDuckdb, writeByDuckdb } from "../../src/handlers/export/formats/duckdb_parquet.js";
import { layoutOf, writeGeoparquet } from "../../src/handlers/export/formats/geoparquet.js";
import { readParquet } from "./read_parquet.js";

const duckdb = await installedDuckdb();
const folder = mkdtempSync(join(tmpdir(), "fanfold-duckdb-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const odd = 'odd "name"';
const columns = [
  ["name", "string", "text"],
  ["people", "integer", "bigint"],
  ["small", "integer", "integer"],
  ["share", "number", "double precision"],
  ["open", "boolean", "boolean"],
  ["day", "date", "date"],
  ["seen", "datetime", "timestamp with time zone"],
  [odd, "json", "jsonb"],
].map(([name, type, pg_type]) => ({ name, type, pg_type, source_name: name }));

const point = "0101000000000000000000F03F0000000000000040";
const row = (n: number, ...values: unknown[]) => [n, String(n), point, 1, 2, 1, 2, ...values];
const rows = [
  row(1, 'a "quoted", line\nand ü', "9007199254740993", 7, 0.1 + 0.2, true, 12_000, "1715000000123456", '{"a":[1]}'),
  row(2, "", "-1", -7, "NaN", false, -1, "-1", "[]"),
  [3, "3", null, null, null, null, null, null, null, null, null, null, null, null, null],
  ...Array.from({ length: 3000 }, (_, at) =>
    row(at + 4, `n${at}`, String(at), at, at / 7, null, at, String(at), "null"),
  ),
];

const snapshot = {
  ...{ table_name: "t", row_count: rows.length, name: "both", columns, srid: 4326, version: 1 },
  ...{ geometry_types: ["Point"], bounds: [1, 2, 1, 2], bytes: 1 },
} as unknown as Snapshot;

/** Pages of a thousand rows. */
const ctx = {
  signal: new AbortController().signal,
  scratch: async () => folder,
  progress: () => {},
  db: (work: (session: unknown) => unknown) =>
    work({
      sql: async (_: unknown, __: string, behind: number) => [
        { page: JSON.stringify(rows.slice(behind, behind + 1000)) },
      ],
    }),
} as unknown as TaskContext;

describe.skipIf(duckdb === null)("GeoParquet by DuckDB", () => {
  // DuckDB asks for it at its first session, and moments must not move with the machine's place.
  const { TZ } = process.env;
  beforeAll(() => {
    process.env.TZ = "America/New_York";
  });
  afterAll(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });

  test.each(["gzip", "snappy", "zstd"] as const)(
    "says what hyparquet-writer says, packed with %s",
    async (compression) => {
      const file = join(folder, `${compression}.parquet`);
      const layout = layoutOf(snapshot);
      const version = await writeByDuckdb(duckdb!, ctx, snapshot, file, {
        ...layout,
        compression,
        row_group_rows: 1000,
      });
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
      const own = await writeGeoparquet(ctx, snapshot, { compression: "gzip", row_group_rows: 1000 });
      expect(own.writer.name).toBe("hyparquet-writer");
      const [theirs, ours] = [await readParquet(file), await readParquet(own.file)];
      expect(theirs.geo).toEqual(ours.geo);
      // What DuckDB calls JSON, this reader reads as that.
      const told = ours.rows.map((row) => ({ ...row, [odd]: row[odd] === null ? null : JSON.parse(String(row[odd])) }));
      expect(theirs.rows).toEqual(told);
      expect(theirs.rows[0]).toMatchObject({ people: 9_007_199_254_740_993n, seen: new Date(1_715_000_000_123) });
      const types = ({ metadata }: typeof theirs) => metadata.schema.slice(1).map(({ name, type }) => [name, type]);
      expect(types(theirs)).toEqual(types(ours));
      expect(theirs.metadata.row_groups.length).toBeGreaterThan(1);
    },
  );
});
