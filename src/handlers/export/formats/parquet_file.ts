// Writes one Parquet file row group after row group: what has been written goes to disk at once, and memory has the group that is being
// filled. A group also ends at so many bytes, because rows may be large.
import { type FileHandle, open } from "node:fs/promises";
import * as zlib from "node:zlib";
import type { KeyValue, SchemaElement } from "hyparquet";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { Permanent } from "../../../core/errors/errors.js";

export type Compression = "gzip" | "snappy" | "zstd";

export interface ParquetColumn {
  name: string;
  /** Its own element, and of a group those of its members behind it. */
  elements: SchemaElement[];
  /** False: its values hardly ever repeat, so that a dictionary of them is not even tried. */
  repeats: boolean;
}

export interface ParquetSettings {
  columns: readonly ParquetColumn[];
  compression: Compression;
  row_group_rows: number;
  key_values: readonly KeyValue[];
}

/** About so much of values is held before a row group ends. */
const group_bytes = 96 * 2 ** 20;

export class ParquetFile {
  private values: unknown[][];
  private rows = 0;
  private bytes = 0;
  private writing: Promise<void> = Promise.resolve();
  private readonly writer: ByteWriter & { flush(): Promise<void> };
  private readonly parquet: ParquetWriter;

  private constructor(
    private readonly handle: FileHandle,
    private readonly settings: ParquetSettings,
  ) {
    const { columns, compression, key_values } = settings;
    this.values = columns.map(() => []);
    this.writer = Object.assign(new ByteWriter(2 ** 20), { flush: () => this.flush() });
    this.parquet = new ParquetWriter({
      writer: this.writer,
      schema: [
        { name: "root", num_children: columns.length },
        ...columns.flatMap(({ elements }) => elements),
      ] as SchemaElement[],
      codec: compression.toUpperCase() as "GZIP" | "SNAPPY" | "ZSTD",
      compressors: compressorsOf(compression),
      kvMetadata: [...key_values],
    });
  }

  static async create(path: string, settings: ParquetSettings): Promise<ParquetFile> {
    return new ParquetFile(await open(path, "w"), settings);
  }

  /** One value for each column; `bytes`: about what they take. */
  async add(row: readonly unknown[], bytes: number): Promise<void> {
    for (let at = 0; at < this.values.length; at++) this.values[at]!.push(row[at] ?? null);
    this.rows += 1;
    this.bytes += bytes;
    if (this.rows >= this.settings.row_group_rows || this.bytes >= group_bytes) await this.endGroup();
  }

  async end(): Promise<void> {
    if (this.rows > 0) await this.endGroup();
    await this.parquet.finish();
    await this.flush();
    await this.handle.close();
  }

  async give_up(): Promise<void> {
    await this.handle.close();
  }

  private async endGroup(): Promise<void> {
    const { columns } = this.settings;
    const columnData = columns.map(({ name, repeats }, at) => ({
      name,
      data: this.values[at]!,
      ...(repeats ? {} : { encoding: "PLAIN" as const }),
    }));
    const size = this.rows;
    this.values = columns.map(() => []);
    [this.rows, this.bytes] = [0, 0];
    await this.parquet.write({ columnData, rowGroupSize: size });
  }

  private async flush(): Promise<void> {
    this.writing = this.writing.then(() => this.append());
    await this.writing;
  }

  private async append(): Promise<void> {
    const bytes = this.writer.getBytes();
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await this.handle.write(bytes, at);
      at += bytesWritten;
    }
    this.writer.index = 0;
  }
}

function compressorsOf(compression: Compression) {
  if (compression === "gzip") return { GZIP: (bytes: Uint8Array) => zlib.gzipSync(bytes, { level: 6 }) };
  if (compression === "snappy") return {};
  const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Uint8Array) => Uint8Array };
  if (zstdCompressSync === undefined) {
    throw new Permanent(
      `compression zstd needs Node 22.15 or later, and this is ${process.version}: take gzip or snappy`,
      {
        code: "no_zstd",
      },
    );
  }
  return { ZSTD: zstdCompressSync };
}
