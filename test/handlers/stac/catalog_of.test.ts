import { expect, test } from "vitest";
import type { SqlSession, TaskContext } from "../../../src/core/task/context.js";
import type { CatalogSetting } from "../../../src/core/task/raster_settings.js";
import { catalogOf } from "../../../src/handlers/stac/catalog_of.js";

/** Of a database that has both catalogues. */
function taskWith(catalog: CatalogSetting): TaskContext {
  const facts = { stac: "1", postgis: "3.5", pgstac: "0.9.8" };
  const session: SqlSession = { sql: async () => [{ installed: true, reply: facts }] as never };
  const db = async (work: (session: SqlSession) => unknown) => work(session);
  return { tenant_id: "default", raster: { catalog }, db } as unknown as TaskContext;
}

test("a task writes into the catalogue that the operator wants, which is the one that is served", async () => {
  expect((await catalogOf(taskWith("auto"))).store).toBe("pgstac");
  expect((await catalogOf(taskWith("pgstac"))).store).toBe("pgstac");
  expect((await catalogOf(taskWith("stac"))).store).toBe("stac");
  await expect(catalogOf(taskWith("off"))).rejects.toThrow("switched off");
});
