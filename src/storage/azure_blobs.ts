// Objects in Azure Blob Storage, through Microsoft's library. Large objects go up in blocks, which are shown only once committed.
import { Readable } from "node:stream";
import type { BlobServiceClient, ContainerClient } from "@azure/storage-blob";
import type { ZonePlace } from "../core/places/zone_place.js";
import type { BlobPage, BlobStat } from "../core/places/zones.js";
import { missingBlob, unavailableBlob } from "./blob_errors.js";
import {
  type BlobStore,
  type ListOptions,
  Measured,
  pageLimit,
  partSize,
  type ReadOptions,
  type WriteOptions,
  type Written,
} from "./blob_store.js";
import { readablePrefix, readableProblem, readableSegments } from "./keys.js";
import { nothingOf, plainEtag, statOf, told, typeHeader, withSignal } from "./remote_blobs.js";
import { loadedOnce } from "./vendor_sdk.js";

/** What the vendor's own tools read from the environment. Asked for when a client is made, and kept nowhere else. */
export interface AzureCredentials {
  connection_string?: string | undefined;
  account_key?: string | undefined;
  sas_token?: string | undefined;
}

export interface AzureSettings {
  /** Instead of https://<account>.blob.core.windows.net: an emulator or a sovereign cloud. */
  endpoint?: string | undefined;
  credentials?: (() => AzureCredentials) | undefined;
}

const loadBlob = loadedOnce(["@azure/storage-blob"], () => import("@azure/storage-blob"));
/** Its name is no literal, so that it is neither needed to compile nor to run without it. */
const identity = "@azure/identity";
const loadIdentity = loadedOnce(
  [identity],
  () => import(identity) as Promise<{ DefaultAzureCredential: new () => never }>,
);

const block_bytes = 8 * 1024 * 1024;
const most_blocks = 50_000;
const blocks_at_once = 2;

const services = new Map<string, Promise<BlobServiceClient>>();

function serviceOf(account: string, { endpoint, credentials }: AzureSettings): Promise<BlobServiceClient> {
  const url = endpoint ?? `https://${account}.blob.core.windows.net`;
  let service = services.get(url);
  if (service === undefined) {
    service = openService(account, url, credentials?.() ?? {});
    services.set(url, service);
    service.catch(() => services.delete(url));
  }
  return service;
}

async function openService(account: string, url: string, given: AzureCredentials): Promise<BlobServiceClient> {
  const { BlobServiceClient, StorageSharedKeyCredential } = await loadBlob();
  const options = { retryOptions: { maxTries: 4 } };
  if (given.connection_string !== undefined)
    return BlobServiceClient.fromConnectionString(given.connection_string, options);
  if (given.account_key !== undefined) {
    return new BlobServiceClient(url, new StorageSharedKeyCredential(account, given.account_key), options);
  }
  if (given.sas_token !== undefined)
    return new BlobServiceClient(`${url}?${given.sas_token.replace(/^\?/, "")}`, undefined, options);
  // A managed identity, a service principal, or the login of this machine.
  const { DefaultAzureCredential } = await loadIdentity();
  return new BlobServiceClient(url, new DefaultAzureCredential(), options);
}

type AzurePlace = Extract<ZonePlace, { kind: "azure" }>;

export function openAzureBlobs({ account, container, prefix }: AzurePlace, settings: AzureSettings = {}): BlobStore {
  const service = () => serviceOf(account, settings);
  const containerClient = async (): Promise<ContainerClient> => (await service()).getContainerClient(container);
  const at = async (key: string) => {
    readableSegments(key);
    return (await containerClient()).getBlockBlobClient(prefix + key);
  };

  async function stat(key: string): Promise<BlobStat | null> {
    const blob = await at(key);
    try {
      const found = await blob.getProperties();
      return statOf(found.contentLength, found.etag, found.lastModified);
    } catch (error) {
      if (isMissing(error)) return null;
      throw unavailableBlob("look at", key, error);
    }
  }

  async function read(key: string, { offset = 0, length, signal }: ReadOptions = {}) {
    const blob = await at(key);
    if (length === 0) return nothingOf(key, stat);
    try {
      const got = await blob.download(offset, length, withSignal(signal));
      const total = Number(/\/(\d+)$/.exec(got.contentRange ?? "")?.[1] ?? got.contentLength);
      const body = got.readableStreamBody as Readable;
      const close = async () => void body.destroy();
      return { stat: statOf(total, got.etag, got.lastModified), pieces: told(body, key), close };
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
    const blob = await at(key);
    const source = new Measured(pieces, signal);
    const stop = new AbortController();
    const body = Readable.from(source, { objectMode: false });
    try {
      // The library would go on waiting for a source that has failed.
      const failed = new Promise<never>((_, reject) => body.once("error", reject));
      failed.catch(() => stop.abort());
      const sent = blob.uploadStream(body, partSize(bytes, block_bytes, most_blocks), blocks_at_once, {
        abortSignal: stop.signal,
        ...(media_type === undefined ? {} : { blobHTTPHeaders: { blobContentType: media_type } }),
      });
      const { etag } = await Promise.race([sent, failed]);
      return { bytes: source.bytes, sha256: source.sha256, etag: plainEtag(etag) ?? "" };
    } catch (error) {
      stop.abort();
      body.destroy();
      throw source.failed ? error : unavailableBlob("write", key, error);
    }
  }

  /** The service has markers, no keys to start after: `next` is its marker, and a key that somebody gives is looked for. */
  async function list(given: string, { after, limit }: ListOptions = {}): Promise<BlobPage> {
    const wanted = readablePrefix(given);
    const most = pageLimit(limit);
    const from = after?.startsWith(marker_sign) ? after.slice(marker_sign.length) : undefined;
    const past = after === undefined || from !== undefined ? "" : after;
    const client = await containerClient();
    try {
      for (let continuationToken = from; ; ) {
        const pages = client
          .listBlobsFlat({ prefix: prefix + wanted })
          .byPage({ maxPageSize: most, continuationToken });
        const { value: page } = await pages.next();
        const found: { name: string; properties: { contentLength?: number; etag: string; lastModified: Date } }[] =
          page?.segment.blobItems ?? [];
        const entries = found
          .map(({ name, properties }) => ({
            key: name.slice(prefix.length),
            ...statOf(properties.contentLength, properties.etag, properties.lastModified),
          }))
          .filter(({ key }) => readableProblem(key) === null && (past === "" || key > past));
        continuationToken = page?.continuationToken || undefined;
        if (entries.length > 0 || continuationToken === undefined) {
          return { entries, next: continuationToken === undefined ? null : marker_sign + continuationToken };
        }
      }
    } catch (error) {
      throw unavailableBlob("list", wanted, error);
    }
  }

  return {
    kind: "azure",
    place: `az://${account}/${container}/${prefix}`,
    stat,
    read,
    write,
    list,
    async copy(from, to) {
      const [source, target] = [await at(from), await at(to)];
      try {
        // The service reads the source itself, which takes a URL that it may read.
        const url = (await signed(source, await service(), container, 3_600, "r")) ?? source.url;
        const poller = await target.beginCopyFromURL(url, { intervalInMs: 100 });
        const { copyStatus } = await poller.pollUntilDone();
        if (copyStatus !== undefined && copyStatus !== "success") throw new Error(`the copy ended as ${copyStatus}`);
      } catch (error) {
        if (isMissing(error) && (await stat(from)) === null) throw missingBlob(from);
        throw unavailableBlob("copy", from, error);
      }
    },
    async remove(key) {
      const blob = await at(key);
      try {
        await blob.deleteIfExists({ deleteSnapshots: "include" });
      } catch (error) {
        if (!isMissing(error)) throw unavailableBlob("remove", key, error);
      }
    },
    async signedUrl(key, { expires_s, media_type }) {
      return signed(await at(key), await service(), container, expires_s, "r", media_type);
    },
    async signedPut(key, { expires_s, media_type }) {
      const url = await signed(await at(key), await service(), container, expires_s, "cw");
      return url === null ? null : { url, headers: { ...typeHeader(media_type), "x-ms-blob-type": "BlockBlob" } };
    },
    href: (key) => {
      const base = settings.endpoint ?? `https://${account}.blob.core.windows.net`;
      return `${base.replace(/\/$/, "")}/${container}/${prefix}${key.split("/").map(encodeURIComponent).join("/")}`;
    },
  };
}

const marker_sign = "marker:";

type BlobAt = ReturnType<ContainerClient["getBlockBlobClient"]>;

/** null with nothing but a token of somebody else's: it must not be handed on. */
async function signed(
  blob: BlobAt,
  service: BlobServiceClient,
  containerName: string,
  expires_s: number,
  rights: "r" | "cw",
  media_type?: string,
): Promise<string | null> {
  const { StorageSharedKeyCredential, AnonymousCredential, BlobSASPermissions, generateBlobSASQueryParameters } =
    await loadBlob();
  const expiresOn = new Date(Date.now() + expires_s * 1000);
  const permissions = BlobSASPermissions.parse(rights);
  const contentType = { contentType: media_type };
  if (service.credential instanceof AnonymousCredential) return null;
  if (service.credential instanceof StorageSharedKeyCredential) {
    return blob.generateSasUrl({ permissions, expiresOn, ...contentType });
  }
  const key = await service.getUserDelegationKey(new Date(Date.now() - 60_000), expiresOn);
  const query = generateBlobSASQueryParameters(
    { containerName, blobName: blob.name, permissions, expiresOn, ...contentType },
    key,
    service.accountName,
  );
  return `${blob.url}?${query.toString()}`;
}

function statusOf(error: unknown): number | undefined {
  return (error as { statusCode?: number } | null)?.statusCode;
}

function isMissing(error: unknown): boolean {
  const { code, statusCode } = (error ?? {}) as { code?: string; statusCode?: number };
  return statusCode === 404 && code !== "ContainerNotFound";
}
