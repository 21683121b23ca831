// The version of the writer of Parquet, as its package says it: an export's item tells what wrote its files.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const main = createRequire(import.meta.url).resolve("hyparquet-writer");

export const writer_version: string = (
  JSON.parse(readFileSync(join(dirname(main), "..", "package.json"), "utf8")) as { version: string }
).version;
