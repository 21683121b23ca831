// A store that falls silent is given up, whatever was asked of it.
import { expect, test } from "vitest";
import { StorageError } from "../../src/core/errors/errors.js";
import type { BlobStore } from "../../src/storage/blob_store.js";
import { withDeadlines } from "../../src/storage/deadlines.js";

const stat = { bytes: 2, etag: "1", modified_at: "2020-01-01T00:00:00.000Z" };
const never = () => new Promise<never>(() => {});
const silent = {
  kind: "s3",
  place: "",
  stat: never,
  list: never,
  read: never,
  write: never,
  copy: never,
  remove: never,
  signedUrl: never,
  signedPut: never,
  href: (key: string) => key,
} satisfies BlobStore;

const isGivenUp = (work: Promise<unknown>) =>
  expect(work).rejects.toThrow(expect.objectContaining({ name: StorageError.name, reason: "unavailable" }));

async function* given(...pieces: string[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield Buffer.from(piece);
}

test("every question to a silent store ends", async () => {
  const store = withDeadlines(silent, 10);
  await Promise.all(
    [
      store.stat("a"),
      store.list(""),
      store.read("a"),
      store.write("a", given("x")),
      store.copy("a", "b"),
      store.remove("a"),
      store.signedUrl("a", { expires_s: 1 }),
      store.signedPut("a", { expires_s: 1 }),
    ].map(isGivenUp),
  );
});

test("a store that stops in the middle of an object is given up, and its connection with it", async () => {
  let closed = 0;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("a");
    await never();
  }
  const reading = async () => ({ stat, pieces: pieces(), close: async () => void closed++ });
  const { pieces: read } = await withDeadlines({ ...silent, read: reading }, 10).read("a");
  const got: string[] = [];
  await isGivenUp(
    (async () => {
      for await (const piece of read) got.push(Buffer.from(piece).toString());
    })(),
  );
  expect(got).toEqual(["a"]);
  expect(closed).toBeGreaterThan(0);
});

test("a store that takes no more of what it is given is told to stop; one that waits for its source is not", async () => {
  let told: AbortSignal | undefined;
  const stuck = withDeadlines(
    {
      ...silent,
      write: async (_key, pieces, options) => {
        told = options?.signal;
        for await (const _ of pieces) await never();
        return { bytes: 0, sha256: "", etag: "" };
      },
    },
    10,
  );
  await isGivenUp(stuck.write("a", given("x", "y")));
  expect(told?.aborted).toBe(true);

  async function* slow(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("x");
    await new Promise((resolve) => setTimeout(resolve, 200));
    yield Buffer.from("y");
  }
  const patient = withDeadlines(
    {
      ...silent,
      write: async (_key, pieces) => {
        let bytes = 0;
        for await (const piece of pieces) bytes += piece.byteLength;
        return { bytes, sha256: "", etag: "" };
      },
    },
    20,
  );
  expect(await patient.write("a", slow())).toMatchObject({ bytes: 2 });
});
