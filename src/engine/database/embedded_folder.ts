// The data folder of an embedded database: made if missing, refused with a reason if it cannot be one, held by one
// process. `pgdata` inside is the database itself, `initialising` says that it is not complete yet.
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { lockFolder } from "./folder_lock.js";

export { EmbeddedFolderBusy } from "./folder_lock.js";

export class EmbeddedFolderUnusable extends Error {
  override name = "EmbeddedFolderUnusable";
  readonly code = "EMBEDDED_FOLDER_UNUSABLE";

  constructor(
    readonly folder: string,
    reason: string,
    fix: string,
  ) {
    super(`${folder} cannot hold the embedded database: ${reason}. ${fix}`);
  }
}

export interface OpenedFolder {
  database_dir: string;
  /** There is no database in it yet. */
  is_new: boolean;
  /** The first start is complete. */
  initialised(): void;
  /** PostGIS was loaded here once: without it its tables cannot be read. */
  uses_postgis: boolean;
  usesPostgis(): void;
  release(): void;
  explain(error: unknown): Error;
}

/** What the pinned PGlite is. */
const major_version = "18";
const other_folder = "Use another folder (--data-dir other).";

export async function openFolder(data_dir: string): Promise<OpenedFolder> {
  const folder = makeFolder(resolve(data_dir));
  if (existsSync(join(folder, "PG_VERSION"))) {
    throw new EmbeddedFolderUnusable(folder, "it is the data folder of a Postgres server", other_folder);
  }
  const release = await lockFolder(folder);
  try {
    const database_dir = join(folder, "pgdata");
    const marker = join(folder, "initialising");
    // A first start that was killed leaves half a database, which nobody has written to yet.
    if (existsSync(marker)) rmSync(database_dir, { recursive: true, force: true });
    const is_new = !existsSync(database_dir);
    if (is_new) writeFileSync(marker, "");
    else assertVersion(folder, join(database_dir, "PG_VERSION"));
    return {
      database_dir,
      is_new,
      initialised: () => rmSync(marker, { force: true }),
      uses_postgis: existsSync(join(folder, "postgis")),
      usesPostgis: () => writeFileSync(join(folder, "postgis"), ""),
      release,
      explain: (error) => unusable(folder, error),
    };
  } catch (error) {
    release();
    throw error;
  }
}

function makeFolder(folder: string): string {
  try {
    mkdirSync(folder, { recursive: true });
    if (!statSync(folder).isDirectory()) throw new EmbeddedFolderUnusable(folder, "it is a file", other_folder);
    const probe = join(folder, `.write-${process.pid}`);
    writeFileSync(probe, "");
    rmSync(probe);
    return realpathSync(folder);
  } catch (error) {
    throw unusable(folder, error);
  }
}

function assertVersion(folder: string, path: string): void {
  const found = existsSync(path) ? readFileSync(path, "utf8").trim() : null;
  if (found === major_version) return;
  throw found === null
    ? new EmbeddedFolderUnusable(folder, "its pgdata holds something that is not a database", other_folder)
    : new EmbeddedFolderUnusable(
        folder,
        `its database is of Postgres ${found}, and this version of Fanfold speaks Postgres ${major_version}`,
        `Open it with the version of Fanfold that made it, or start anew. ${other_folder}`,
      );
}

function unusable(folder: string, error: unknown): Error {
  const { code = "", message } = error as NodeJS.ErrnoException;
  if (error instanceof EmbeddedFolderUnusable) return error;
  if (code === "EEXIST" || code === "ENOTDIR") {
    return new EmbeddedFolderUnusable(folder, "there is a file in its place", other_folder);
  }
  if (["EACCES", "EPERM", "EROFS"].includes(code)) {
    return new EmbeddedFolderUnusable(
      folder,
      `it may not be written (${code})`,
      "Change its rights, or use another folder (--data-dir other).",
    );
  }
  if (code === "ENOSPC") return new EmbeddedFolderUnusable(folder, "the disk is full", "Free some space.");
  return new EmbeddedFolderUnusable(folder, `the database did not start (${message ?? error})`, other_folder);
}
