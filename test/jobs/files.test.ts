import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { truncateSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Handler } from "../../src/core/declare/declare.js";
import { type FileDigest, filesDigest } from "../../src/handlers/files/digest.js";
import { type Fold, filesFold } from "../../src/handlers/files/fold.js";
import { type FileList, filesList } from "../../src/handlers/files/list.js";
import { filesManifest, type Manifest } from "../../src/handlers/files/manifest.js";
import { fileDigest, taskIndex } from "../../src/jobs/file_digest.js";
import { fakeContext } from "./fake_context.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "fanfold-files-"));
});
afterEach(async () => {
  await chmod(folder, 0o755).catch(() => {});
  await rm(folder, { recursive: true, force: true });
});

async function write(relative: string, content: string | Buffer = relative): Promise<void> {
  await mkdir(path.dirname(path.join(folder, relative)), { recursive: true });
  await writeFile(path.join(folder, relative), content);
}

async function run<Result>(
  handler: Handler,
  parameters: unknown,
  previous: Record<string, unknown[]> = {},
): Promise<Result> {
  return (await handler.run(parameters, fakeContext(previous))) as Result;
}

const list = (where = folder) => run<FileList>(filesList, { folder: where });
const digest = (relative: string, where = folder) => run<FileDigest>(filesDigest, { folder: where, path: relative });

/** Root may read everything, so what is not permitted is tested as nobody. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  await chmod(folder, 0o755);
  process.seteuid?.(65534);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

describe("files.list", () => {
  test("lists regular files by the bytes of their relative paths", async () => {
    for (const file of ["b.txt", "a/z.txt", "a b", "a/deep/er/x", "Ä", "Z", "😀", "\uffee", ".hidden"])
      await write(file);
    expect((await list()).files).toEqual([
      ".hidden",
      "Z",
      "a b",
      "a/deep/er/x",
      "a/z.txt",
      "b.txt",
      "Ä",
      "\uffee",
      "😀",
    ]);
  });

  test("counts symbolic links and does not follow them, not even in a circle", async () => {
    await write("real");
    await mkdir(path.join(folder, "sub"));
    await symlink(folder, path.join(folder, "sub", "circle"));
    await symlink("/etc/passwd", path.join(folder, "out"));
    await symlink("nowhere", path.join(folder, "broken"));
    expect(await list()).toMatchObject({ files: ["real"], link_count: 3, unreadable_count: 0 });
  });

  test("counts pipes and sockets without opening them", async () => {
    execFileSync("mkfifo", [path.join(folder, "pipe")]);
    expect(await list()).toMatchObject({ files: [], special_count: 1 });
  });

  test("reports an unreadable folder and goes on with the others", async () => {
    await write("locked/secret");
    await write("open/file");
    await chmod(path.join(folder, "locked"), 0o000);
    const listed = await asNobody(() => list());
    // Whoever is not root could not remove it either.
    await chmod(path.join(folder, "locked"), 0o700);
    expect(listed).toMatchObject({
      files: ["open/file"],
      unreadable_count: 1,
      unreadable: [{ path: "locked", problem: "the folder cannot be read (EACCES)" }],
    });
  });

  test("reports a name that is not UTF-8 instead of naming another file", async () => {
    await writeFile(Buffer.concat([Buffer.from(`${folder}/bad-`), Buffer.from([0xff])]), "x");
    await write("good");
    expect(await list()).toMatchObject({ files: ["good"], unreadable: [{ problem: "its name is not valid UTF-8" }] });
  });

  test("lists an empty folder as empty", async () => {
    expect(await list()).toEqual({
      files: [],
      file_count: 0,
      link_count: 0,
      special_count: 0,
      unreadable_count: 0,
      unreadable: [],
    });
  });

  test("says clearly and finally that there is no folder, or that it is a file", async () => {
    await write("file");
    await expect(list(path.join(folder, "gone"))).rejects.toMatchObject({
      category: "permanent",
      code: "folder_missing",
    });
    await expect(list(path.join(folder, "file"))).rejects.toMatchObject({
      category: "permanent",
      code: "not_a_folder",
    });
    await expect(list(path.join(folder, "file", "below"))).rejects.toMatchObject({
      category: "permanent",
      code: "not_a_folder",
    });
    await chmod(folder, 0o755);
    await mkdir(path.join(folder, "locked"), { mode: 0o000 });
    await expect(asNobody(() => list(path.join(folder, "locked")))).rejects.toMatchObject({
      category: "permanent",
      code: "not_permitted",
    });
  });
});

describe("files.digest", () => {
  test("gives size and SHA-256 of small, empty and large files", async () => {
    const large = Buffer.alloc(3_000_001, "fanfold");
    for (const [name, content] of [
      ["small", Buffer.from("abc")],
      ["empty", Buffer.alloc(0)],
      ["large", large],
    ] as const) {
      await write(name, content);
      const sha256 = createHash("sha256").update(content).digest("hex");
      expect(await digest(name)).toEqual({ path: name, size: content.length, sha256 });
    }
  });

  test("reports a file that vanished or became something else, and does not fail", async () => {
    await symlink("/etc/passwd", path.join(folder, "link"));
    execFileSync("mkfifo", [path.join(folder, "pipe")]);
    await mkdir(path.join(folder, "dir"));
    await write("file");
    expect(await digest("gone")).toEqual({ path: "gone", missing: "vanished after it was listed" });
    expect(await digest("file/below")).toEqual({ path: "file/below", missing: "vanished after it was listed" });
    expect(await digest("link")).toEqual({ path: "link", missing: "became a symbolic link after it was listed" });
    expect(await digest("pipe")).toEqual({ path: "pipe", missing: "is no longer a regular file" });
    expect(await digest("dir")).toEqual({ path: "dir", missing: "is no longer a regular file" });
  });

  test("fails for good when the whole folder vanished", async () => {
    await rm(folder, { recursive: true });
    await expect(digest("file")).rejects.toMatchObject({ category: "permanent", code: "folder_missing" });
  });

  test("fails for good when the file may not be read", async () => {
    await write("secret");
    await chmod(path.join(folder, "secret"), 0o000);
    await expect(asNobody(() => digest("secret"))).rejects.toMatchObject({
      category: "permanent",
      code: "not_permitted",
    });
  });

  test("asks for another try when the file changes while it is read", async () => {
    await write("growing", Buffer.alloc(3_000_000));
    let pieces = 0;
    // The handler looks at its signal before every piece: between the first and the second, the file changes.
    const throwIfAborted = () => {
      pieces += 1;
      if (pieces === 2) truncateSync(path.join(folder, "growing"), 10);
    };
    const context = fakeContext({}, { signal: { throwIfAborted } as AbortSignal });
    await expect(filesDigest.run({ folder, path: "growing" }, context)).rejects.toMatchObject({
      category: "transient",
    });
    expect(await digest("growing")).toMatchObject({ size: 10 });
  });

  test("stops when it is told to", async () => {
    await write("file");
    const context = fakeContext({}, { signal: AbortSignal.abort() });
    await expect(filesDigest.run({ folder, path: "file" }, context)).rejects.toThrow("aborted");
  });

  test("does not leave its folder", () => {
    const schema = filesDigest.options.parameters;
    for (const bad of ["../etc/passwd", "/etc/passwd", "a/../../b", "a\\..\\b", ""]) {
      expect(schema?.safeParse({ folder, path: bad }).success, bad).toBe(false);
    }
    expect(schema?.safeParse({ folder, path: "a..b/..c" }).success).toBe(true);
  });
});

describe("fold and manifest", () => {
  test("do not depend on the order in which digests arrive", async () => {
    const digests: FileDigest[] = [];
    for (const name of ["c", "a", "b"]) {
      await write(name);
      digests.push(await digest(name));
    }
    const one = await run<Fold>(filesFold, {}, { digest: digests });
    const other = await run<Fold>(filesFold, {}, { digest: [...digests].reverse() });
    expect(one).toEqual(other);
    expect(one).toMatchObject({ file_count: 3, total_bytes: 3, missing: [] });
  });

  test("count what is missing and what failed, and keep the root over the rest", async () => {
    await write("a");
    const present = await digest("a");
    const fold = await run<Fold>(
      filesFold,
      {},
      { digest: [present, { path: "b", missing: "vanished after it was listed" }] },
    );
    const empty = await run<Fold>(filesFold, {}, { digest: [{ path: "c", missing: "vanished after it was listed" }] });
    expect(empty.root).toBeNull();
    const listed = { ...(await list()), file_count: 5 };
    const manifest = await run<Manifest>(filesManifest, { folder }, { list: [listed], fold: [fold, empty] });
    expect(manifest).toMatchObject({
      file_count: 1,
      missing_count: 2,
      failed_count: 2,
      total_bytes: 1,
      merkle_root: fold.root,
    });
  });

  test("make a manifest of an empty folder", async () => {
    const manifest = await run<Manifest>(filesManifest, { folder }, { list: [await list()], fold: [] });
    expect(manifest).toMatchObject({ file_count: 0, total_bytes: 0, merkle_root: createHash("sha256").digest("hex") });
  });

  test("fail for good when the folder vanished before the manifest", async () => {
    await rm(folder, { recursive: true });
    await expect(run(filesManifest, { folder }, { list: [], fold: [] })).rejects.toMatchObject({
      code: "folder_missing",
    });
  });
});

describe("file_digest as declared", () => {
  test("has no problems, and resolves a relative folder where it is submitted", () => {
    expect(fileDigest.problems).toEqual([]);
    expect(fileDigest.schema?.parse({ folder: "." })).toEqual({ folder: process.cwd() });
    expect(fileDigest.schema?.safeParse({ folder: "" }).success).toBe(false);
  });

  test("names a task by its path, or by a hash that no path can equal", async () => {
    expect(taskIndex("a/b.txt")).toBe("a/b.txt");
    expect(taskIndex("line\nbreak")).toMatch(/^\/sha256-[0-9a-f]{64}$/);
    expect(taskIndex("x".repeat(300))).toMatch(/^\/sha256-/);
    expect(taskIndex("x".repeat(300))).not.toBe(taskIndex("x".repeat(301)));
  });
});
