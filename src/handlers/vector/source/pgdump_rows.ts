// Reads the lines of COPY that GDAL wrote into a PGDUMP file. Nothing in them is changed: a number is put before each, and a line that is
// no UTF-8 is kept from the database, which would refuse all others with it.
import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { Permanent } from "../../../core/errors/errors.js";
import { geometry_name } from "../gdal/ogr_engine.js";
import { type BatchLimits, batch_limits, type RejectedRow, type RowBatch, type RowSource } from "./rows.js";

const backslash = 0x5c;
const newline = 0x0a;

/** `first`: the number of its first row. */
export async function openPgdump(file: string, first: number, limits: BatchLimits = batch_limits): Promise<RowSource> {
  const lines = new DumpLines(file, limits.row_bytes);
  const header = await lines.header();
  return {
    has_geometry: header?.[0] === geometry_name,
    column_count: (header?.length ?? 0) - (header?.[0] === geometry_name ? 1 : 0),
    batches: () => batches(lines, header, first, limits),
  };
}

async function* batches(
  lines: DumpLines,
  header: string[] | null,
  first: number,
  limits: BatchLimits,
): AsyncGenerator<RowBatch> {
  let next = first;
  let pieces: Buffer[] = [];
  let bytes = 0;
  let count = 0;
  let rejects: RejectedRow[] = [];
  const taken = (): RowBatch => {
    const batch = { rows: [{ bytes: Buffer.concat(pieces), rows: count }], count, rejects, next };
    [pieces, bytes, count, rejects] = [[], 0, 0, []];
    return batch;
  };
  for await (const line of lines.rows()) {
    const n = next++;
    if (line === null) {
      rejects.push({ n, code: "too_large", reason: `is larger than ${limits.row_bytes / 2 ** 20} MB`, properties: {} });
    } else if (!isUtf8(line)) {
      rejects.push({
        n,
        code: "bad_encoding",
        reason: "has text that is not UTF-8: give encoding",
        properties: shown(line, header ?? []),
      });
    } else {
      const number = Buffer.from(`${n}\t`);
      pieces.push(number, line);
      bytes += number.length + line.length;
      count += 1;
    }
    if (count + rejects.length >= limits.rows || bytes >= limits.bytes) yield taken();
  }
  if (count + rejects.length > 0) yield taken();
}

/** What is shown of a line that cannot be stored as it is. */
function shown(line: Buffer, header: readonly string[]): Record<string, string> {
  const fields = line.toString("latin1").replace(/\n$/, "").split("\t");
  return Object.fromEntries(
    header.slice(0, 40).flatMap((name, at) => {
      const field = fields[at];
      return name === geometry_name || field === undefined || field === "\\N" ? [] : [[name, field.slice(0, 200)]];
    }),
  );
}

class DumpLines {
  private readonly pieces: AsyncIterator<Buffer>;
  private rest: Buffer = Buffer.alloc(0);

  constructor(
    file: string,
    private readonly row_bytes: number,
  ) {
    this.pieces = createReadStream(file, { highWaterMark: 2 ** 20 })[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  private async more(): Promise<boolean> {
    const { done, value } = await this.pieces.next();
    if (done) return false;
    this.rest = this.rest.length === 0 ? value : Buffer.concat([this.rest, value]);
    return true;
  }

  /** The columns of the first COPY; null where no row was written. */
  async header(): Promise<string[] | null> {
    const end = ") FROM STDIN;\n";
    for (;;) {
      const start = this.rest.indexOf("\nCOPY ");
      const stop = start === -1 ? -1 : this.rest.indexOf(end, start);
      if (stop !== -1) {
        const text = this.rest.subarray(start, stop).toString("utf8");
        this.rest = this.rest.subarray(stop + end.length);
        const list = text.slice(text.indexOf('" (') + 3);
        return [...list.matchAll(/"((?:[^"]|"")*)"/g)].map((match) => match[1]!.replaceAll('""', '"'));
      }
      if (!(await this.more())) {
        if (/^INSERT /m.test(this.rest.toString("latin1"))) throw unexpected();
        return null;
      }
    }
  }

  /** Null: a row that was too large to be held. */
  async *rows(): AsyncGenerator<Buffer | null> {
    let skipping = false;
    let searched = 0;
    for (;;) {
      const end = rowEnd(this.rest, searched);
      if (end === -1) {
        searched = Math.max(0, this.rest.length - 1);
        if (this.rest.length > this.row_bytes) {
          skipping = true;
          // Whether a line end is one is told by what stands before it.
          this.rest = Buffer.from(this.rest.subarray(-2));
          searched = 0;
        }
        if (await this.more()) continue;
        return;
      }
      searched = 0;
      const row = this.rest.subarray(0, end + 1);
      this.rest = this.rest.subarray(end + 1);
      if (!skipping && row.length === 3 && row[0] === backslash && row[1] === 0x2e) {
        // GDAL ends a COPY when a row needs other columns; nothing of the kind is expected behind it.
        if (await this.goesOn()) throw unexpected();
        return;
      }
      yield skipping ? null : row;
      skipping = false;
    }
  }

  private async goesOn(): Promise<boolean> {
    while (this.rest.length < 4096 && (await this.more()));
    return /^(COPY|INSERT) /m.test(this.rest.subarray(0, 4096).toString("latin1"));
  }
}

/** A line end with a backslash before it belongs to a value; two backslashes are one character. */
function rowEnd(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(newline, from); at !== -1; at = bytes.indexOf(newline, at + 1)) {
    let before = at;
    while (before > 0 && bytes[before - 1] === backslash) before -= 1;
    if ((at - before) % 2 === 0) return at;
  }
  return -1;
}

function unexpected(): Permanent {
  return new Permanent("GDAL wrote rows in a form that is not expected", { code: "gdal_failed" });
}
