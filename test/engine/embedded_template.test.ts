// The template of new embedded databases: complete, of this schema only, and without what tells one database from another.
import { mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEmbedded } from "../../src/engine/database/embedded_database.js";
import { giveId, readTemplate, writeTemplate } from "../../src/engine/database/embedded_template.js";
import { schemaState } from "../../src/engine/schema/migrate.js";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fanfold-template-"));
  await writeTemplate(join(folder, "template"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("a database that starts from the template is complete, and has an id of its own that it keeps", async () => {
  const ids: string[] = [];
  for (const name of ["one", "two", "one"]) {
    const embedded = await openEmbedded(join(folder, name), { load: () => readTemplate(join(folder, "template")) });
    const db = embedded.as(null);
    expect((await schemaState(db)).pending).toEqual([]);
    await giveId(embedded);
    const [row] = await db.sql<{ id: string }>`select app.deployment_id() as id`;
    ids.push(row!.id);
    await embedded.close();
  }
  const [one, two, again] = ids;
  expect(one).toMatch(/^[0-9a-f]{16}$/);
  expect(two).not.toBe(one);
  expect(again).toBe(one);
});

test("a template of another schema is none", async () => {
  const [name] = await readdir(join(folder, "template"));
  await rename(join(folder, "template", name!), join(folder, "template", `0${name}`));
  expect(await readTemplate(join(folder, "template"))).toBeUndefined();
});
