import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { migratedFolder } from "../cli/embedded_folder.js";
import { fanfold } from "../cli/fake_terminal.js";

// A busy machine may take ten times as long to start a database, and one test cut short would hold the folder for the rest.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let folder: string;
let files: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "fanfold-digest-"));
  files = path.join(folder, "files");
  await mkdir(path.join(files, "sub", "empty"), { recursive: true });
  for (let i = 0; i < 230; i += 1)
    await writeFile(path.join(files, i % 2 ? "sub" : "", `file-${i}.txt`), `content ${i} `.repeat(i));
  for (const name of ["Ünï çødé 😀", "new\nline", "quote\"'", "x".repeat(240), "-rf", "a{b}c"])
    await writeFile(path.join(files, name), name);
  await migratedFolder(path.join(folder, "data"));
  await symlink("/etc/passwd", path.join(files, "link"));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

// Written from the words in merkle.ts and nothing else: no line of ours is called.
function manifestByHand(root: string): { file_count: number; total_bytes: number; merkle_root: string } {
  const sha = (...parts: (Buffer | string)[]) =>
    parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
  const walk = (dir: string): string[] =>
    readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory()
        ? walk(path.join(dir, entry.name))
        : entry.isFile()
          ? [path.relative(root, path.join(dir, entry.name))]
          : [],
    );
  const tree = (nodes: Buffer[]): Buffer => {
    if (nodes.length <= 1) return nodes[0] ?? sha("");
    const half = 2 ** Math.floor(Math.log2(nodes.length - 1));
    return sha(Buffer.from([1]), tree(nodes.slice(0, half)), tree(nodes.slice(half)));
  };
  const paths = walk(root).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const leaves = paths.map((one) =>
    sha(Buffer.from([0]), one, Buffer.from([0]), sha(readFileSync(path.join(root, one)))),
  );
  const hundreds = Array.from({ length: Math.ceil(leaves.length / 100) }, (_, i) =>
    tree(leaves.slice(i * 100, i * 100 + 100)),
  );
  return {
    file_count: paths.length,
    total_bytes: paths.reduce((sum, one) => sum + statSync(path.join(root, one)).size, 0),
    merkle_root: tree(hundreds).toString("hex"),
  };
}

describe("file_digest", () => {
  test("makes the manifest that a walk by hand makes, twice the same, and the demo prints it", async () => {
    const data = path.join(folder, "data");
    const expected = manifestByHand(files);
    expect(expected.file_count).toBe(236);
    for (const run of [1, 2]) {
      const ended = await fanfold(["demo", "files", files, "--data-dir", data, "--json"]);
      expect(ended.code).toBe(0);
      const { status, manifest } = ended.json();
      expect({ run, status, ...manifest }).toMatchObject({
        run,
        status: "completed",
        ...expected,
        missing_count: 0,
        failed_count: 0,
        link_count: 1,
      });
    }
    const shown = await fanfold(["demo", "files", files, "--data-dir", data]);
    expect(shown.out).toContain(`merkle root  ${expected.merkle_root}`);
    expect(shown.out).toContain("files        236");
    expect(
      (await fanfold(["jobs", "--data-dir", data, "--json"])).json().jobs.map((job: { run: number }) => job.run),
    ).toEqual([3, 2, 1]);
  });

  test("of nothing at all is the empty tree, of a missing folder and of a file a clear failure", async () => {
    const data = path.join(folder, "data");
    await mkdir(path.join(folder, "empty"));
    const empty = await fanfold(["demo", "files", path.join(folder, "empty"), "--data-dir", data, "--json"]);
    expect(empty.json()).toMatchObject({
      status: "completed",
      manifest: { file_count: 0, merkle_root: createHash("sha256").digest("hex") },
    });
    for (const [where, word] of [
      ["gone", "there is no folder"],
      ["files/-rf", "is a file, not a folder"],
    ] as const) {
      const ended = await fanfold([
        "submit",
        "file_digest",
        `folder=${path.join(folder, where)}`,
        "--wait",
        "--data-dir",
        data,
      ]);
      expect(ended.code).toBe(1);
      expect(ended.out).toContain(word);
    }
  });
});
