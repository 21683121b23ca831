// What `db/` holds: numbered migrations and one function per file, each with the hash of its text. Reads files only.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Migration {
  version: number;
  name: string;
  hash: string;
  text: string;
  /** As shown to people: relative to the folder. */
  path: string;
}

export type SqlFunction = Omit<Migration, "version">;

export interface SchemaFolder {
  /** The release that brings these files: functions have no numbers of their own to tell old from new. */
  release: string;
  migrations: Migration[];
  functions: SqlFunction[];
}

/** `db/` stands beside `src/` in the repository and beside `dist/` in the package. */
export const schema_folder = fileURLToPath(new URL("../../../db", import.meta.url));

let own: Promise<SchemaFolder> | null = null;

/** The package's own is read once: its code was written for the files that were there when the process began. */
export function readSchemaFolder(folder: string): Promise<SchemaFolder> {
  if (folder !== schema_folder) return readParts(folder);
  own ??= readParts(folder);
  return own;
}

async function readParts(folder: string): Promise<SchemaFolder> {
  return {
    release: await readRelease(),
    migrations: await readVersioned(folder, "migrations"),
    functions: await readSql(folder, "functions"),
  };
}

/** Files that are applied once, in the order of their numbers. */
export async function readVersioned(folder: string, part: string): Promise<Migration[]> {
  const migrations = (await readSql(folder, part)).map((file) => {
    const number = /^(\d{4})_[a-z0-9_]+$/.exec(file.name)?.[1];
    if (number === undefined) throw new Error(`${file.path}: a migration's name is NNNN_name.sql`);
    return { ...file, version: Number(number) };
  });
  for (const [place, { version, path }] of migrations.entries()) {
    if (version !== place + 1)
      throw new Error(`${path}: expected migration ${place + 1}; numbers have neither gaps nor twins`);
  }
  return migrations;
}

export async function readRelease(): Promise<string> {
  const text = await readFile(new URL("../../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Is release `a` later than `b`? By numbers, not by letters: 0.10.0 is later than 0.9.0. */
export function isLater(a: string, b: string): boolean {
  const numbers = (release: string) => release.split(/[.+-]/).slice(0, 3).map(Number);
  const [left, right] = [numbers(a), numbers(b)];
  const place = left.findIndex((number, position) => number !== right[position]);
  return place !== -1 && left[place]! > right[place]!;
}

/** Functions of schema `platform` lie in a folder of that name, and carry it before their own: platform.submit. All others are app's. */
function nameOf(file: string): string {
  const name = basename(file, ".sql");
  return file.startsWith("platform/") ? `platform.${name}` : name;
}

/** The schema of a function, and its name there. */
export function placeOf(name: string): { schema: string; name: string } {
  const dot = name.indexOf(".");
  return dot === -1 ? { schema: "app", name } : { schema: name.slice(0, dot), name: name.slice(dot + 1) };
}

/**
 * One file per name, in whatever folder below `part` it lies. In the order of names, which does not change when a file moves. Every start
 * reads hundreds of small files, for which promises take several times as long.
 */
export async function readSql(folder: string, part: string): Promise<SqlFunction[]> {
  const files = readdirSync(join(folder, part), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".sql"))
    .map((file) => ({ name: nameOf(file.replaceAll("\\", "/")), path: `${part}/${file.replaceAll("\\", "/")}` }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return files.map(({ name, path }, position) => {
    if (files[position + 1]?.name === name) throw new Error(`${path}: another folder has a file of this name`);
    // Line ends depend on how the repository was checked out; the hash must not.
    const text = readFileSync(join(folder, path), "utf8").replaceAll("\r\n", "\n");
    const hash = createHash("sha256").update(text).digest("hex");
    return { name, hash, text, path };
  });
}
