// The page of findings is what the code says, and every code in the sources is in it.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { finding_table } from "../../src/geo/findings.js";
import { page } from "./raster_checks.js";

const doc = new URL("../../docs/raster_checks.md", import.meta.url);
const sources = ["../../src/geo/", "../../src/handlers/raster/"].map((path) => new URL(path, import.meta.url));

test("the findings in the docs are those of the code", () => {
  const written = page();
  if (process.env.FANFOLD_WRITE_DOCS === "1") writeFileSync(doc, written);
  expect(readFileSync(doc, "utf8")).toBe(written);
});

test("every finding of the table is made somewhere", () => {
  const code = sources
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => new URL(file, folder)),
    )
    .filter(({ pathname }) => pathname.endsWith(".ts"))
    .filter(({ pathname }) => !pathname.endsWith("_findings.ts") || pathname.endsWith("/statistics_findings.ts"))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  const unused = Object.keys(finding_table).filter((name) => !code.includes(`"${name}"`));
  expect(unused).toEqual([]);
});
