// The page of findings is what the code says, and every code in the sources is in it.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { finding_table } from "../../src/geo/findings.js";
import { page } from "./raster_checks.js";

const doc = new URL("../../docs/raster_checks.md", import.meta.url);
const sources = new URL("../../src/geo/", import.meta.url);

test("the findings in the docs are those of the code", () => {
  const written = page();
  if (process.env.FANFOLD_WRITE_DOCS === "1") writeFileSync(doc, written);
  expect(readFileSync(doc, "utf8")).toBe(written);
});

test("every finding of the table is made somewhere", () => {
  const code = readdirSync(sources)
    .filter((file) => file.endsWith(".ts"))
    .filter((file) => !file.endsWith("_findings.ts") || file === "statistics_findings.ts")
    .map((file) => readFileSync(new URL(file, sources), "utf8"))
    .join("\n");
  const unused = Object.keys(finding_table).filter((name) => !code.includes(`"${name}"`));
  expect(unused).toEqual([]);
});
