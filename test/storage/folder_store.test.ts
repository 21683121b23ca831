// Large things in a folder: whole or not at all, and never read back as something else.
import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { classify, StorageError } from "../../src/core/errors/errors.js";
import { openFolderStore, type Ref, type Store } from "../../src/storage/index.js";

let dir: string;
let store: Store;

beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), "fanfold-store-"));
  store = openFolderStore(dir);
});

afterEach(() => rm(dir, { recursive: true, force: true }));

const key = "results/17/3-1.json";
const fileOf = (name: string) => path.join(dir, ...name.split("/"));

async function errorOf(work: Promise<unknown>): Promise<StorageError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StorageError);
  return error as StorageError;
}

describe("what is put", () => {
  test("comes back, and its reference says what it is", async () => {
    const ref = await store.put(key, "Zürich 😀");
    expect(ref).toEqual({
      store: "file",
      key,
      bytes: 12,
      sha256: createHash("sha256").update("Zürich 😀").digest("hex"),
    });
    expect((await store.get(ref)).toString("utf8")).toBe("Zürich 😀");
  });

  test("may be bytes of any kind, also none, also many", async () => {
    for (const bytes of [new Uint8Array(0), new Uint8Array([0, 255, 10, 13]), Buffer.alloc(3_000_000, 7)]) {
      const ref = await store.put(key, bytes);
      expect((await store.get(ref)).equals(bytes)).toBe(true);
    }
  });

  test("is found by a store opened later on the same folder", async () => {
    const ref = await store.put(key, "x");
    expect((await openFolderStore(dir).get(JSON.parse(JSON.stringify(ref)) as Ref)).toString()).toBe("x");
  });

  test("makes the folders it needs, the store's own among them", async () => {
    const deep = openFolderStore(path.join(dir, "not", "yet", "there"));
    expect((await deep.get(await deep.put("a/b/c/d", "x"))).toString()).toBe("x");
  });

  test("replaces what was under the key, and the old reference is then refused", async () => {
    const old = await store.put(key, "old");
    const fresh = await store.put(key, "new");
    expect((await store.get(fresh)).toString()).toBe("new");
    expect((await errorOf(store.get(old))).reason).toBe("altered");
  });

  test("twice at once under one key, a hundred times over, is always one whole file", async () => {
    const texts = Array.from({ length: 100 }, (_, n) => `${n}`.repeat(1000 + n));
    const refs = await Promise.all(texts.map((text) => store.put(key, text)));
    const kept = await readFile(fileOf(key), "utf8");
    expect(texts).toContain(kept);
    const readable = await Promise.allSettled(refs.map((ref) => store.get(ref)));
    expect(readable.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await readdir(fileOf(".partial"))).toEqual([]);
  });

  test("is never seen half: a reader during the writing finds the old file or the new one", async () => {
    const large = [Buffer.alloc(2_000_000, 1), Buffer.alloc(2_000_000, 2)];
    await store.put(key, large[0]!);
    let writing = true;
    const writer = (async () => {
      for (let turn = 0; turn < 20; turn++) await store.put(key, large[turn % 2]!);
      writing = false;
    })();
    let looks = 0;
    while (writing) {
      const seen = await readFile(fileOf(key));
      expect(large.some((whole) => whole.equals(seen))).toBe(true);
      looks += 1;
    }
    await writer;
    expect(looks).toBeGreaterThan(0);
  });

  test("that fails leaves nothing behind and says why", async () => {
    await mkdir(fileOf("results/17/3-1.json/in-the-way"), { recursive: true });
    const error = await errorOf(store.put(key, "x"));
    expect(error).toMatchObject({ reason: "unavailable", category: "transient" });
    expect(error.message).toContain(`Cannot write the stored file "${key}"`);
    expect(await readdir(fileOf(".partial"))).toEqual([]);
  });

  test("below a file that is in the way of a folder is refused", async () => {
    await store.put("a", "x");
    expect((await errorOf(store.put("a/b", "x"))).reason).toBe("unavailable");
  });

  test("may come in pieces, and is then the same file as one that came whole", async () => {
    async function* pieces() {
      for (const piece of ["Zü", "rich", new Uint8Array(0), Buffer.from(" 😀"), Buffer.alloc(2_500_000, 7)])
        yield piece;
    }
    const all = Buffer.concat([Buffer.from("Zürich 😀"), Buffer.alloc(2_500_000, 7)]);
    const ref = await store.putStream(key, pieces());
    expect(ref).toEqual(
      await openFolderStore(dir)
        .put("other/key", all)
        .then((other) => ({ ...other, key })),
    );
    const read: Uint8Array[] = [];
    for await (const piece of store.getStream(ref)) read.push(piece);
    expect(read.length).toBeGreaterThan(1);
    expect(Buffer.concat(read).equals(all)).toBe(true);
  });

  test("in pieces that end in an error is not put at all, and the error is the pieces' own", async () => {
    const before = await store.put(key, "before");
    const own = new TypeError("the source broke");
    async function* pieces() {
      yield "half";
      throw own;
    }
    await expect(store.putStream(key, pieces())).rejects.toBe(own);
    expect((await store.get(before)).toString()).toBe("before");
    expect(await readdir(fileOf(".partial"))).toEqual([]);
  });

  test("is refused at the end of reading it in pieces when its bytes have changed, and at once when its size has", async () => {
    const ref = await store.put(key, "12345678");
    await writeFile(fileOf(key), "1234567X");
    const reading = async () => {
      for await (const _ of store.getStream(ref));
    };
    expect((await errorOf(reading())).reason).toBe("altered");
    await truncate(fileOf(key), 3);
    expect((await errorOf(reading())).reason).toBe("altered");
  });
});

describe("a stored file", () => {
  let ref: Ref;
  beforeEach(async () => {
    ref = await store.put(key, "0123456789");
  });

  test("that is missing is a clear error, and a permanent one", async () => {
    await rm(fileOf(key));
    const error = await errorOf(store.get(ref));
    expect(error).toMatchObject({ reason: "missing", code: "storage" });
    expect(error.message).toBe(`The stored file "${key}" (10 bytes, sha256 ${ref.sha256}) is not there.`);
    expect(error.seen).toEqual({ file: fileOf(key) });
    expect(error.hint).toContain("run the task again");
    expect(classify(error)).toMatchObject({ category: "permanent", code: "storage" });
  });

  test("that is missing with its whole folder is the same error", async () => {
    await rm(dir, { recursive: true });
    expect((await errorOf(store.get(ref))).reason).toBe("missing");
  });

  test("that was altered without changing its size or time is refused by its checksum", async () => {
    await writeFile(fileOf(key), "012345678X");
    await utimes(fileOf(key), 0, 0);
    const error = await errorOf(store.get(ref));
    expect(error.reason).toBe("altered");
    // What lies there now is for the log: whoever may name a file must not learn of another's what it is.
    expect(error.message).toBe(
      `The stored file "${key}" is not what was written: expected 10 bytes, sha256 ${ref.sha256}.`,
    );
    expect(error.seen).toEqual({ file: fileOf(key), found: expect.stringMatching(/^sha256 [0-9a-f]{64}$/) });
  });

  test.each([
    ["truncated", 4],
    ["emptied", 0],
    ["lengthened", 11],
  ])("that was %s is refused, and its size is told to the log only", async (_, size) => {
    await truncate(fileOf(key), size);
    const error = await errorOf(store.get(ref));
    expect(error.reason).toBe("altered");
    expect(error.message).toMatch(new RegExp(`expected 10 bytes, sha256 ${ref.sha256}\\.$`));
    expect(error.seen).toEqual({ file: fileOf(key), found: `${size} bytes` });
  });

  test("whose place a folder took is refused", async () => {
    await rm(fileOf(key));
    await mkdir(fileOf(key));
    expect((await errorOf(store.get(ref))).reason).toBe("altered");
  });

  test("below what has become a file is missing", async () => {
    await rm(fileOf("results"), { recursive: true });
    await writeFile(fileOf("results"), "x");
    expect((await errorOf(store.get(ref))).reason).toBe("missing");
  });

  test.skipIf(process.getuid?.() === 0)("that may not be read is unavailable, which passes", async () => {
    await chmod(fileOf(key), 0);
    expect(await errorOf(store.get(ref))).toMatchObject({ reason: "unavailable", category: "transient" });
  });

  test("can be removed, also when it is gone already", async () => {
    await store.remove(key);
    await store.remove(key);
    expect((await errorOf(store.get(ref))).reason).toBe("missing");
  });

  test("is not read through a reference to another store", async () => {
    expect((await errorOf(store.get({ ...ref, store: "s3" }))).message).toContain('belongs to store "s3"');
  });
});

describe("a key", () => {
  const bad = [
    "",
    ".",
    "..",
    "../x",
    "a/../../x",
    "a/..",
    "a/./b",
    "/etc/passwd",
    "//x",
    "a//b",
    "a/",
    "C:\\x",
    "C:/x",
    "a\\..\\b",
    "..\\x",
    "a\0b",
    "a\nb",
    "a b",
    "..%2fx",
    "%2e%2e/x",
    "~/x",
    ".partial/x",
    ".hidden",
    "a/.git",
    "CON",
    "a/nul.json",
    "com1",
    "a.",
    "ä",
    "a".repeat(201),
    "a/".repeat(600),
    "https://x",
    "file:x",
    "$HOME",
    "-rf",
  ];

  test.each(bad)("like %j is refused for writing, reading and removing", async (name) => {
    const ref = { store: "file", key: name, bytes: 1, sha256: "0".repeat(64) };
    for (const work of [store.put(name, "x"), store.get(ref), store.remove(name)]) {
      expect(await errorOf(work)).toMatchObject({ reason: "bad_key", category: "permanent" });
    }
    expect(await readdir(dir)).toEqual([]);
  });

  test.each([null, undefined, 5, {}, ["a"]])("that is %j is refused", async (name) => {
    expect((await errorOf(store.put(name as unknown as string, "x"))).reason).toBe("bad_key");
  });

  test.each(["a", "0", "results/17/3-1.json", "a/b/c", "a..b", "x=1/y@2+3", "a".repeat(200), "console", "nullable"])(
    "like %j is taken",
    async (name) => {
      expect((await store.get(await store.put(name, "x"))).toString()).toBe("x");
    },
  );
});

test("a store whose folder is a file says so", async () => {
  const file = path.join(dir, "file");
  await writeFile(file, "x");
  expect((await errorOf(openFolderStore(file).put("a", "x"))).reason).toBe("unavailable");
});

test("a store may be reached through a link to its folder", async () => {
  const link = path.join(dir, "link");
  await mkdir(path.join(dir, "real"));
  await symlink(path.join(dir, "real"), link);
  const linked = openFolderStore(link);
  expect((await linked.get(await linked.put("a", "x"))).toString()).toBe("x");
});
