// What every store of files must do, whatever it is. Run against a folder, s3rver and azurite.
import { createHash, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type BlobStore, checksum, type ReadOptions } from "../../src/storage/blob_store.js";

export const hostile_keys: [what: string, key: string][] = [
  ["the folder above", "../x"],
  ["the folder above, half way", "a/../../x"],
  ["this folder", "a/./x"],
  ["an absolute path", "/etc/passwd"],
  ["a folder", "a/"],
  ["an empty part", "a//b"],
  ["nothing", ""],
  ["a drive", "C:/x"],
  ["a backslash", "a\\..\\x"],
  ["NUL", "a\0b"],
  ["a line break", "a\nb"],
  ["a C1 control", "a\u0085b"],
  ["a hidden name", "a/.partial"],
  ["half a surrogate pair", "a\ud800b"],
  ["300 bytes in one part", "x".repeat(300)],
  ["1100 bytes", Array.from({ length: 11 }, () => "x".repeat(99)).join("/")],
];

export function text(content: string): AsyncIterable<Uint8Array> {
  return pieces(Buffer.from(content));
}

export async function* pieces(...all: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* all;
}

export async function readAll(store: BlobStore, key: string, options?: ReadOptions): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of (await store.read(key, options)).pieces) all.push(piece);
  return Buffer.concat(all);
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** `open`: a prefix of its own. `odd_order`: an emulator that does not list in the order of the service it stands for. */
export function conforms(open: () => BlobStore, { odd_order = false }: { odd_order?: boolean } = {}): void {
  describe("reads what was written", () => {
    test("with its size, its checksum and a time", async () => {
      const store = open();
      const written = await store.write("a/hello.txt", text("hello"), { media_type: "text/plain" });
      expect(written).toMatchObject({ bytes: 5, sha256: sha256(Buffer.from("hello")) });
      const stat = await store.stat("a/hello.txt");
      expect(stat).toMatchObject({ bytes: 5, etag: written.etag });
      expect(Math.abs(Date.now() - Date.parse(stat!.modified_at))).toBeLessThan(120_000);
      expect((await readAll(store, "a/hello.txt")).toString()).toBe("hello");
      expect(await checksum(store, "a/hello.txt")).toMatchObject({ bytes: 5, sha256: written.sha256 });
    });

    test("an empty one too", async () => {
      const store = open();
      expect(await store.write("a/empty", pieces())).toMatchObject({ bytes: 0, sha256: sha256(Buffer.alloc(0)) });
      expect(await store.stat("a/empty")).toMatchObject({ bytes: 0 });
      expect((await readAll(store, "a/empty")).length).toBe(0);
    });

    test("under any name that people give files", async () => {
      const store = open();
      for (const key of ["b/Szene 1 (Kopie).tif", "b/Ümläut/雪.tif", "b/100%+&=@#?x.tif", "b/%2e%2e/x", "b/'\"$(x)"]) {
        await store.write(key, text(key));
        expect([key, (await readAll(store, key)).toString()]).toEqual([key, key]);
        expect((await store.list("b/")).entries.map((one) => one.key)).toContain(key);
        await store.remove(key);
      }
    });

    test("in the place of what was there", async () => {
      const store = open();
      const first = await store.write("a/same", text("one"));
      const second = await store.write("a/same", text("second"));
      expect(second.etag).not.toBe(first.etag);
      expect((await readAll(store, "a/same")).toString()).toBe("second");
    });

    test("20 MB as a stream of uneven pieces, in several parts", async () => {
      const store = open();
      const bytes = randomBytes(20 * 1024 * 1024 + 17);
      async function* uneven() {
        for (let at = 0, size = 1; at < bytes.length; at += size, size = Math.min(700_001, size * 3 + 1)) {
          yield bytes.subarray(at, at + size);
        }
      }
      const written = await store.write("big/one.bin", uneven());
      expect(written).toMatchObject({ bytes: bytes.length, sha256: sha256(bytes) });
      expect(await checksum(store, "big/one.bin")).toMatchObject({ bytes: bytes.length, sha256: sha256(bytes) });
      const middle = await readAll(store, "big/one.bin", { offset: 8 * 1024 * 1024 - 3, length: 7 });
      expect(middle.equals(bytes.subarray(8 * 1024 * 1024 - 3, 8 * 1024 * 1024 + 4))).toBe(true);
      await store.remove("big/one.bin");
    });
  });

  test("a range is what it says, and short at the end", async () => {
    const store = open();
    await store.write("r/digits", text("0123456789"));
    const range = async (offset: number, length?: number) =>
      (await readAll(store, "r/digits", { offset, length })).toString();
    expect(await range(0, 1)).toBe("0");
    expect(await range(3, 4)).toBe("3456");
    expect(await range(7)).toBe("789");
    expect(await range(8, 100)).toBe("89");
    expect(await range(9, 1)).toBe("9");
    expect(await range(10, 5)).toBe("");
    expect(await range(1000, 5)).toBe("");
    expect(await range(2, 0)).toBe("");
    const { stat, close } = await store.read("r/digits", { offset: 3, length: 2 });
    await close();
    await close();
    expect(stat.bytes).toBe(10);
  });

  test("what is not there is missing, and removing it is no error", async () => {
    const store = open();
    expect(await store.stat("none/at/all")).toBeNull();
    await expect(readAll(store, "none/at/all")).rejects.toMatchObject({ reason: "missing", category: "permanent" });
    await expect(readAll(store, "none/at/all", { offset: 5, length: 2 })).rejects.toMatchObject({ reason: "missing" });
    await expect(store.copy("none/at/all", "x")).rejects.toMatchObject({ reason: "missing" });
    await store.remove("none/at/all");
    await store.write("gone/soon", text("x"));
    await store.remove("gone/soon");
    await store.remove("gone/soon");
    expect(await store.stat("gone/soon")).toBeNull();
    // A part of a key is no object.
    await store.write("folder/file", text("x"));
    expect(await store.stat("folder")).toBeNull();
    await store.remove("folder");
    expect(await store.stat("folder/file")).not.toBeNull();
  });

  test("a copy has the same bytes, and is its own", async () => {
    const store = open();
    const bytes = randomBytes(100_000);
    await store.write("c/from (1).bin", pieces(bytes));
    await store.copy("c/from (1).bin", "c/deep/to ü.bin");
    await store.remove("c/from (1).bin");
    expect((await readAll(store, "c/deep/to ü.bin")).equals(bytes)).toBe(true);
  });

  describe("a writer that fails half way leaves nothing visible", () => {
    test.each([
      ["before the first piece", 0],
      ["in the first part", 100_000],
      ["after several parts", 18 * 1024 * 1024],
    ])("%s", async (_, bytes) => {
      const store = open();
      async function* broken() {
        for (let at = 0; at < bytes; at += 1024 * 1024) yield new Uint8Array(Math.min(1024 * 1024, bytes - at));
        throw new RangeError("the source is broken");
      }
      await expect(store.write("half/way", broken())).rejects.toThrow("the source is broken");
      expect(await store.stat("half/way")).toBeNull();
      expect((await store.list("half/")).entries).toEqual([]);
      // Nor takes the place of what was there.
      await store.write("half/way", text("whole"));
      await expect(store.write("half/way", broken())).rejects.toThrow("the source is broken");
      expect((await readAll(store, "half/way")).toString()).toBe("whole");
      await store.remove("half/way");
    });

    test("when it is told to stop", async () => {
      const store = open();
      const stop = new AbortController();
      async function* endless() {
        for (let at = 0; ; at++) {
          if (at === 3) stop.abort(new RangeError("told to stop"));
          yield new Uint8Array(100_000);
        }
      }
      await expect(store.write("half/told", endless(), { signal: stop.signal })).rejects.toThrow("told to stop");
      expect(await store.stat("half/told")).toBeNull();
    });
  });

  describe("lists", () => {
    test("by prefix, in the order of the keys' bytes, a page at a time", async () => {
      const store = open();
      // A folder cannot hold a file and a folder of one name.
      const keys = [
        ...(store.kind === "disk" || odd_order ? [] : ["l/a"]),
        ...(odd_order ? [] : ["l/a-1", "l/a.b"]),
        "l/a/1",
        "l/a/2",
        "l/ab/x",
        "l/Z",
        "l/é",
        "l/日",
      ];
      for (const key of keys) await store.write(key, text(key));
      const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      const listed = async (prefix: string, limit?: number) => {
        const found: string[] = [];
        for (let after: string | undefined; ; ) {
          const page = await store.list(prefix, { after, limit });
          if (limit !== undefined) expect(page.entries.length).toBeLessThanOrEqual(limit);
          found.push(...page.entries.map((one) => one.key));
          if (page.next === null) return found;
          after = page.next;
        }
      };
      expect(await listed("l/")).toEqual(sorted);
      expect(await listed("l/", 2)).toEqual(sorted);
      expect(await listed("l/", 1)).toEqual(sorted);
      expect(await listed("l/a")).toEqual(sorted.filter((key) => key.startsWith("l/a")));
      expect(await listed("l/a/")).toEqual(["l/a/1", "l/a/2"]);
      expect(await listed("l/nothing")).toEqual([]);
      const [entry] = (await store.list("l/Z")).entries;
      expect(entry).toMatchObject({ key: "l/Z", bytes: 3, etag: (await store.stat("l/Z"))!.etag });
    });
  });

  test.each(hostile_keys)("a key that is %s is refused by every verb, before anything is touched", async (_, key) => {
    const store = open();
    const refused = { name: "StorageError", reason: "bad_key" };
    await expect(store.stat(key)).rejects.toMatchObject(refused);
    await expect(readAll(store, key)).rejects.toMatchObject(refused);
    await expect(store.write(key, text("x"))).rejects.toMatchObject(refused);
    await expect(store.copy(key, "ok")).rejects.toMatchObject(refused);
    await expect(store.copy("ok", key)).rejects.toMatchObject(refused);
    await expect(store.remove(key)).rejects.toMatchObject(refused);
    await expect(store.signedUrl(key, { expires_s: 60 })).rejects.toMatchObject(refused);
    await expect(store.signedPut(key, { expires_s: 60 })).rejects.toMatchObject(refused);
    if (key !== "" && key !== "a/") await expect(store.list(key)).rejects.toMatchObject(refused);
  });
}

interface Many {
  keys?: number;
  limit?: number;
  /** A quicker way to make an empty object. */
  put?: (store: BlobStore, key: string) => unknown;
}

export function manyKeys(open: () => BlobStore, { keys: count = 2500, limit = 1000, put }: Many = {}): void {
  test(`${count} keys come in pages of at most ${limit}, each once and in order`, async () => {
    const store = open();
    const keys = Array.from({ length: count }, (_, n) => `many/${n % 25}/${n}`);
    for (let at = 0; at < keys.length; at += 25) {
      await Promise.all(keys.slice(at, at + 25).map((key) => (put ?? plainPut)(store, key)));
    }
    const found: string[] = [];
    for (let after: string | undefined; ; ) {
      // 1,000 is the most there is, and what is given without asking.
      const page = await store.list("many/", limit === 1000 ? { after } : { after, limit });
      expect(page.entries.length).toBeLessThanOrEqual(limit);
      found.push(...page.entries.map(({ key }) => key));
      if (page.next === null) break;
      after = page.next;
    }
    expect(found).toEqual(keys.toSorted());
  });
}

const plainPut = (store: BlobStore, key: string) => store.write(key, text(""));
