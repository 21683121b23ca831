// Objects in S3 and what speaks like it, through the AWS SDK, which finds credentials and region where it always does. Large objects
// go up in parts; S3 shows them only once they are complete.
import { PassThrough, type Readable } from "node:stream";
import type { S3Client } from "@aws-sdk/client-s3";
import type { ZonePlace } from "../core/places/zone_place.js";
import type { BlobPage, BlobStat } from "../core/places/zones.js";
import { missingBlob, unavailableBlob } from "./blob_errors.js";
import {
  type BlobStore,
  type ListOptions,
  Measured,
  pageLimit,
  partOf,
  partSize,
  type ReadOptions,
  type WriteOptions,
  type Written,
} from "./blob_store.js";
import { readablePrefix, readableProblem, readableSegments } from "./keys.js";
import { nothingOf, plainEtag, statOf, told, typeHeader, withSignal } from "./remote_blobs.js";
import { loadedOnce } from "./vendor_sdk.js";

export interface S3Settings {
  /** For services other than AWS. */
  endpoint?: string | undefined;
  region?: string | undefined;
  /** https://host/bucket instead of https://bucket.host; usual where an endpoint is given. */
  path_style?: boolean | undefined;
}

const packages = ["@aws-sdk/client-s3", "@aws-sdk/lib-storage", "@aws-sdk/s3-request-presigner"];
const loadClient = loadedOnce(packages, () => import("@aws-sdk/client-s3"));
const loadUpload = loadedOnce(packages, () => import("@aws-sdk/lib-storage"));
const loadSigner = loadedOnce(packages, () => import("@aws-sdk/s3-request-presigner"));

const part_bytes = 8 * 1024 * 1024;
const most_parts = 10_000;
/** What an upload may hold in memory: as many parts at a time. */
const parts_at_once = 2;

/** One client for each endpoint: it keeps connections. */
const clients = new Map<string, Promise<S3Client>>();

function clientOf(settings: S3Settings, checksums?: "WHEN_REQUIRED"): Promise<S3Client> {
  const { endpoint, region, path_style = endpoint !== undefined } = settings;
  const name = JSON.stringify([endpoint, region, path_style, checksums]);
  let client = clients.get(name);
  if (client === undefined) {
    client = loadClient().then(
      ({ S3Client }) =>
        new S3Client({
          ...(endpoint === undefined ? {} : { endpoint }),
          ...(region === undefined ? {} : { region }),
          forcePathStyle: path_style,
          ...(checksums === undefined ? {} : { requestChecksumCalculation: checksums }),
          maxAttempts: 4,
          // By itself it waits for ever; a part is eight megabytes.
          requestHandler: { connectionTimeout: 5_000, socketTimeout: 60_000 },
        }),
    );
    clients.set(name, client);
    client.catch(() => clients.delete(name));
  }
  return client;
}

/** The SDK would sign a checksum of the body, which it does not have: of nothing. */
async function signingClient(settings: S3Settings): Promise<S3Client> {
  return clientOf(settings, "WHEN_REQUIRED");
}

type S3Place = Extract<ZonePlace, { kind: "s3" }>;

export function openS3Blobs({ bucket: Bucket, prefix }: S3Place, settings: S3Settings = {}): BlobStore {
  const client = () => clientOf(settings);
  const at = (key: string) => {
    readableSegments(key);
    return { Bucket, Key: prefix + key };
  };

  async function stat(key: string): Promise<BlobStat | null> {
    const target = at(key);
    const { HeadObjectCommand } = await loadClient();
    try {
      const head = await (await client()).send(new HeadObjectCommand(target));
      return statOf(head.ContentLength, head.ETag, head.LastModified);
    } catch (error) {
      if (isMissing(error)) return null;
      throw unavailableBlob("look at", key, error);
    }
  }

  async function read(key: string, { offset = 0, length, signal }: ReadOptions = {}) {
    const target = at(key);
    const { GetObjectCommand } = await loadClient();
    if (length === 0) return nothingOf(key, stat);
    const range =
      offset === 0 && length === undefined
        ? {}
        : { Range: `bytes=${offset}-${length === undefined ? "" : offset + length - 1}` };
    try {
      const got = await (await client()).send(new GetObjectCommand({ ...target, ...range }), withSignal(signal));
      const total = Number(/\/(\d+)$/.exec(got.ContentRange ?? "")?.[1] ?? got.ContentLength);
      const body = got.Body as Readable;
      // Some services give more than the range that was asked for.
      const from = Number(/^bytes (\d+)-/.exec(got.ContentRange ?? "")?.[1] ?? 0);
      const close = async () => void body.destroy();
      return {
        stat: statOf(total, got.ETag, got.LastModified),
        pieces: told(partOf(body, offset - from, length), key),
        close,
      };
    } catch (error) {
      if (isMissing(error)) throw missingBlob(key);
      // Beyond the end.
      if (statusOf(error) === 416) return nothingOf(key, stat);
      throw unavailableBlob("read", key, error);
    }
  }

  async function write(
    key: string,
    pieces: AsyncIterable<Uint8Array>,
    { media_type, bytes, signal }: WriteOptions = {},
  ): Promise<Written> {
    const target = at(key);
    const [{ Upload }, s3] = await Promise.all([loadUpload(), client()]);
    const source = new Measured(pieces, signal);
    const through = new PassThrough({ highWaterMark: part_bytes });
    const upload = new Upload({
      client: s3,
      params: { ...target, Body: through, ContentType: media_type },
      partSize: partSize(bytes, part_bytes, most_parts),
      queueSize: parts_at_once,
      leavePartsOnError: false,
    });
    const feeding = feed(source, through);
    try {
      const sent = upload.done();
      // Ending the stream half way would make a short object out of a source that failed.
      await Promise.all([sent, feeding.catch((error) => upload.abort().then(() => Promise.reject(error)))]);
      const { ETag } = await sent;
      return { bytes: source.bytes, sha256: source.sha256, etag: plainEtag(ETag) ?? "" };
    } catch (error) {
      through.destroy();
      await feeding.catch(() => {});
      throw source.failed ? await reasonOf(feeding, error) : unavailableBlob("write", key, error);
    }
  }

  async function list(given: string, { after, limit }: ListOptions = {}): Promise<BlobPage> {
    const wanted = readablePrefix(given);
    const { ListObjectsV2Command } = await loadClient();
    try {
      const page = await (await client()).send(
        new ListObjectsV2Command({
          Bucket,
          Prefix: prefix + wanted,
          MaxKeys: pageLimit(limit),
          ...(after === undefined ? {} : { StartAfter: prefix + after }),
        }),
      );
      const found = (page.Contents ?? []).map(({ Key = "", Size, ETag, LastModified }) => ({
        key: Key.slice(prefix.length),
        ...statOf(Size, ETag, LastModified),
      }));
      // Markers of folders and hidden names are no files of ours to name.
      const entries = found.filter(({ key }) => readableProblem(key) === null);
      return { entries, next: page.IsTruncated === true ? (found.at(-1)?.key ?? null) : null };
    } catch (error) {
      throw unavailableBlob("list", wanted, error);
    }
  }

  return {
    kind: "s3",
    place: `s3://${Bucket}/${prefix}`,
    stat,
    read,
    write,
    list,
    async copy(from, to) {
      const [source, target] = [at(from), at(to)];
      const { CopyObjectCommand } = await loadClient();
      const found = await stat(from);
      if (found === null) throw missingBlob(from);
      // The service copies up to 5 GB in one go; larger ones pass through here, in parts.
      if (found.bytes > 5 * 1024 ** 3) return void (await write(to, (await read(from)).pieces));
      const CopySource = `${Bucket}/${source.Key.split("/").map(encodeURIComponent).join("/")}`;
      try {
        await (await client()).send(new CopyObjectCommand({ ...target, CopySource }));
      } catch (error) {
        if (isMissing(error)) throw missingBlob(from);
        throw unavailableBlob("copy", from, error);
      }
    },
    async remove(key) {
      const target = at(key);
      const { DeleteObjectCommand } = await loadClient();
      try {
        await (await client()).send(new DeleteObjectCommand(target));
      } catch (error) {
        if (!isMissing(error)) throw unavailableBlob("remove", key, error);
      }
    },
    async signedUrl(key, { expires_s, media_type }) {
      const target = at(key);
      const [{ GetObjectCommand }, { getSignedUrl }] = await Promise.all([loadClient(), loadSigner()]);
      const command = new GetObjectCommand({ ...target, ResponseContentType: media_type });
      return getSignedUrl(await client(), command, { expiresIn: Math.min(expires_s, 604_800) });
    },
    async signedPut(key, { expires_s, media_type }) {
      const target = at(key);
      const [{ PutObjectCommand }, { getSignedUrl }] = await Promise.all([loadClient(), loadSigner()]);
      const command = new PutObjectCommand({ ...target, ContentType: media_type });
      const url = await getSignedUrl(await signingClient(settings), command, {
        expiresIn: Math.min(expires_s, 604_800),
        signableHeaders: new Set(["host", "content-type"]),
      });
      return { url, headers: typeHeader(media_type) };
    },
    href: (key) => `s3://${Bucket}/${prefix}${key.split("/").map(encodeURIComponent).join("/")}`,
  };
}

async function feed(source: AsyncIterable<Uint8Array>, into: PassThrough): Promise<void> {
  for await (const piece of source) {
    if (into.destroyed) return;
    if (!into.write(piece)) await drained(into);
  }
  into.end();
}

function drained(stream: PassThrough): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      stream.off("drain", go).off("close", go);
      resolve();
    };
    stream.once("drain", go).once("close", go);
  });
}

/** Why the source failed, rather than that the upload was given up for it. */
async function reasonOf(feeding: Promise<void>, otherwise: unknown): Promise<unknown> {
  return feeding.then(
    () => otherwise,
    (error: unknown) => error,
  );
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata?.httpStatusCode;
}

function isMissing(error: unknown): boolean {
  const { name } = (error ?? {}) as { name?: string };
  // A bucket that is not there is a mistake of the configuration, not an object that is not there.
  return name === "NoSuchKey" || name === "NotFound" || (statusOf(error) === 404 && name !== "NoSuchBucket");
}
