// The libraries with which OGC's executable test suites read a service's OpenAPI document have nothing against ours: what they refuse, the suites
// skip whole. They come from Maven by name; without Maven, or a registry that has them, the test says so and is left out.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { OgcLinks } from "../../../src/server/routes/ogc/links.js";
import { openApiDocument } from "../../../src/server/routes/ogc/openapi.js";

const here = fileURLToPath(new URL("readers", import.meta.url));

test("the OpenAPI document is read by the libraries of OGC's test suites, and they have nothing against it", (context) => {
  const dir = mkdtempSync(join(tmpdir(), "fanfold-readers-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const classes = join(dir, "classpath");
  const plugin = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath";
  const maven = spawnSync("mvn", ["-q", "-B", "-f", join(here, "pom.xml"), plugin, `-Dmdep.outputFile=${classes}`], {
    encoding: "utf8",
  });
  if (maven.status !== 0) return context.skip(`Maven did not fetch them: ${maven.error ?? maven.stdout.slice(0, 300)}`);
  const file = join(dir, "api.json");
  const document = openApiDocument(new OgcLinks("http://127.0.0.1:8080")) as { paths: object };
  writeFileSync(file, JSON.stringify(document));
  const read = spawnSync("java", ["-cp", readFileSync(classes, "utf8"), join(here, "ReadApi.java"), file], {
    encoding: "utf8",
  });
  expect([read.status, read.status === 0 ? "" : read.stderr]).toEqual([0, ""]);
  const count = Object.keys(document.paths).length;
  expect(read.stdout.trim().split("\n")).toEqual([`kaizen: ${count} paths`, `openapi4j: ${count} paths`]);
});
