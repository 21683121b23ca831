// The template of new embedded databases: the dump of one that `npm run build` has migrated, which spares the first start of a folder
// several seconds. Its name is a hash of what it was made from; where none fits, a database is made from nothing as before.
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, brotliDecompress, constants } from "node:zlib";
import { migrate } from "../schema/migrate.js";
import { readSchemaFolder, schema_folder } from "../schema/schema_folder.js";
import { type EmbeddedDatabase, openEmbedded } from "./embedded_database.js";

/** `dist/` stands beside `src/` in the repository, and holds this file in the package. */
const template_folder = fileURLToPath(new URL("../../../dist/template", import.meta.url));

/** Undefined where none was built for this schema. */
export async function readTemplate(folder = template_folder): Promise<Blob | undefined> {
  try {
    return new Blob([await promisify(brotliDecompress)(await readFile(await templateFile(folder)))]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Makes the template in place of any other. */
export async function writeTemplate(folder = template_folder): Promise<void> {
  const file = await templateFile(folder);
  const database = await openEmbedded("memory://");
  try {
    await migrate(database.as(null));
    await database.as(null).script("delete from app.lock_salt");
    const dump = Buffer.from(await (await database.dump()).arrayBuffer());
    const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_LGWIN: window } = constants;
    const packed = await promisify(brotliCompress)(dump, { params: { [quality]: 9, [window]: 24 } });
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    // It must appear in one piece.
    await writeFile(`${file}.part`, packed);
    await rename(`${file}.part`, file);
  } finally {
    await database.close();
  }
}

/** What the id of a deployment is made from is not in the template: databases with one id would take each other's files for their own. */
export async function giveId(database: EmbeddedDatabase): Promise<void> {
  await database.as(null).script("insert into app.lock_salt default values on conflict do nothing");
}

async function templateFile(folder: string): Promise<string> {
  const { dependencies } = JSON.parse(await readFile(new URL("../../../package.json", import.meta.url), "utf8"));
  const { migrations, functions } = await readSchemaFolder(schema_folder);
  const hash = createHash("sha256").update(dependencies["@electric-sql/pglite"]);
  for (const { path, hash: text } of [...migrations, ...functions]) hash.update(`${path} ${text}\n`);
  return join(folder, `${hash.digest("hex").slice(0, 16)}.tar.br`);
}
