// Files of a tenant that moves, between two folders. No database: what each cell knows of tokens is written down here.
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { zone_names } from "../../src/core/places/zones.js";
import type { Cell } from "../../src/engine/cells/cells.js";
import { fileMove } from "../../src/engine/cells/file_moves.js";
import type { Database } from "../../src/engine/database/database.js";
import { Zones } from "../../src/storage/zones.js";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "fanfold-moves-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
});

function cellIn(folder: string, number: number, tokens: Record<string, object> = {}): Cell {
  const [bronze, silver, gold] = zone_names.map((zone) => join(root, folder, zone)) as [string, string, string];
  const db = { sql: async () => [{ reply: tokens }] } as unknown as Database;
  const files = { storage: join(root, folder, "storage"), bronze, silver, gold };
  return { name: folder, number, urls: [], database_url: "", files, db };
}

const silverOf = ({ files }: Cell) => new Zones(files).store("silver", "acme");

async function* pieces(words: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(words);
}

async function contentOf(cell: Cell, key: string): Promise<string> {
  return text((await silverOf(cell).read(key)).pieces as AsyncIterable<Buffer> & NodeJS.ReadableStream);
}

test("a file that was written again with as many bytes is copied again before it is removed", async () => {
  const [from, to] = [cellIn("a", 0), cellIn("b", 1)];
  await silverOf(from).write("map.bin", pieces("before"));
  await silverOf(from).write("stays.bin", pieces("stays"));
  // What a move left that was broken off, or cancelled.
  await silverOf(to).write("map.bin", pieces("older!"));
  const files = await fileMove(from, to, {});
  expect(await files.copyFiles("acme")).toBe(2);
  expect(await contentOf(to, "map.bin")).toBe("before");
  await silverOf(from).write("map.bin", pieces("after!"));
  expect(await files.copyFiles("acme")).toBe(1);
  expect(await files.copyFiles("acme")).toBe(0);
  await files.removeFiles("acme");
  expect([await contentOf(to, "map.bin"), await contentOf(to, "stays.bin")]).toEqual(["after!", "stays"]);
  expect((await silverOf(from).list("")).entries).toEqual([]);
});

test("one place by two names is refused: its files would be removed with no copy of them anywhere", async () => {
  const token = { token: "left-by-a", seen_as: "silver", written_by: "a", written_at: "2026-01-01T00:00:00Z" };
  const from = cellIn("a", 0, { silver: token });
  await silverOf(from).write("map.bin", pieces("the only one"));
  await new Zones(from.files).parts("silver", "default").write("same-files/left-by-a", pieces("token"));
  await symlink(join(root, "a"), join(root, "mounted-twice"));
  await expect(fileMove(from, cellIn("mounted-twice", 1), {})).rejects.toMatchObject({
    message: expect.stringContaining("these are one place: write it with the same words in both cells"),
    problems: [{ path: "files.silver" }],
  });
  // Two that are two are moved between, and one with the same words stays where it is.
  await fileMove(from, cellIn("b", 1), {});
  const shared = { ...cellIn("b", 1), files: from.files };
  await (await fileMove(from, shared, {})).removeFiles("acme");
  expect(await contentOf(from, "map.bin")).toBe("the only one");
});
