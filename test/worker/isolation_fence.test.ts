// What keeps isolated handlers from their worker: whose they are, what a module's files have to do with it, and how what is
// another user's is removed.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { fenceModules, findFence, userOfTenant } from "../../src/worker/isolation/fence.js";
import { makeFolderOf, removeFolder } from "../../src/worker/isolation/owned_files.js";

const is_fenced = (await findFence("auto")).kind === "user";

async function folder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "fanfold-fence-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  chmodSync(dir, 0o755);
  return dir;
}

test("each tenant has a user, above all others and the same everywhere", () => {
  expect(userOfTenant("acme")).toBe(userOfTenant("acme"));
  expect(userOfTenant("acme")).not.toBe(userOfTenant("globex"));
  const users = Array.from({ length: 1000 }, (_, at) => userOfTenant(`tenant-${at}`));
  expect(Math.min(...users)).toBeGreaterThanOrEqual(0x7000_0000);
  expect(Math.max(...users)).toBeLessThan(0x7ffe_0000);
  expect(new Set(users).size).toBe(1000);
});

test("who asks for none has none, and who asks for a user has one or an error", async () => {
  expect(await findFence("same")).toMatchObject({ kind: "none", words: [] });
  const asked = fenceModules("own", [import.meta.url], join(await folder(), "scratch"));
  if (!is_fenced) await expect(asked).rejects.toThrow("isolation_user is own, and isolated handlers cannot have");
  else await expect(asked).resolves.toMatchObject({ fence: { kind: "user" } });
});

test.runIf(is_fenced)("a module that not everybody may read has the fence of a worker that is not root", async () => {
  const dir = await folder();
  mkdirSync(join(dir, "hidden"), { mode: 0o700 });
  const [hidden, seen] = ["hidden/one.js", "two.js"].map((name) => join(dir, name)) as [string, string];
  for (const file of [hidden, seen]) writeFileSync(file, "", { mode: 0o644 });
  const modules = [hidden, seen].map((file) => pathToFileURL(file).href);
  const scratch = join(dir, "scratch");
  const { fence, others } = await fenceModules("auto", modules, scratch);
  expect(fence.kind).toBe("user");
  expect([...others.keys()]).toEqual([modules[0]]);
  expect(others.get(modules[0]!)).toMatchObject({ why: `not everybody may read ${hidden}` });
  expect(others.get(modules[0]!)?.kind).not.toBe("user");
  await expect(fenceModules("own", modules, scratch)).rejects.toThrow(`not everybody may read ${hidden}`);
  const nowhere = await fenceModules("auto", modules, join(dir, "hidden", "scratch"));
  expect(nowhere.others.size).toBe(2);
});

test.runIf(is_fenced)(
  "a scratch directory is made passable, and one that is for everybody stays as it is",
  async () => {
    const dir = await folder();
    for (const [before, after] of [
      [0o700, 0o711],
      [0o1777, 0o1777],
    ] as const) {
      chmodSync(dir, before);
      await fenceModules("auto", [], dir);
      expect(statSync(dir).mode & 0o7777).toBe(after);
    }
  },
);

test.runIf(is_fenced)(
  "a folder of another user's is removed with all that is in it, and nothing that its links lead to",
  async () => {
    const dir = await folder();
    const own = join(dir, "worker", "task");
    const user = userOfTenant("acme");
    makeFolderOf(user, own);
    expect(statSync(own)).toMatchObject({ uid: user, gid: user });
    expect(statSync(join(dir, "worker")).mode & 0o777).toBe(0o711);
    mkdirSync(join(dir, "kept"));
    writeFileSync(join(dir, "kept", "file"), "kept");
    // Deeper than a path can be long, with a folder nobody may enter and a name that is no text.
    const script = `
    const { chmodSync, mkdirSync, symlinkSync, writeFileSync } = require("node:fs");
    const [own, kept] = process.argv.slice(1);
    process.chdir(own);
    symlinkSync(kept, "folder"); symlinkSync(kept + "/file", "link"); symlinkSync("/none", "nothing");
    writeFileSync(Buffer.of(0xff, 0xfe), "");
    mkdirSync("closed"); mkdirSync("closed/in"); symlinkSync(kept, "closed/in/folder"); chmodSync("closed", 0);
    for (let at = 0; at < 60; at++) {
      mkdirSync("d".repeat(100)); writeFileSync("file.txt", ""); process.chdir("d".repeat(100));
    }`;
    execFileSync(process.execPath, ["-e", script, own, join(dir, "kept")], { uid: user, gid: user });
    await removeFolder(own);
    expect(existsSync(own)).toBe(false);
    expect(readFileSync(join(dir, "kept", "file"), "utf8")).toBe("kept");
    await removeFolder(own);
    await removeFolder(join(dir, "worker"));
    expect(existsSync(join(dir, "worker"))).toBe(false);
  },
);
