// Where data rests, as a handler sees it. A zone is a configured place (a folder, a bucket, a container) that belongs to the
// operator; a handler names a zone and a key, and only ever sees the files of its own tenant. src/storage implements it; in an
// isolated handler every call goes through the worker, so that no credential is ever in a process that opens foreign files. Pure.

export const zone_names = ["bronze", "silver", "gold"] as const;
export type ZoneName = (typeof zone_names)[number];

/** One object in a zone. Written `bronze:dem/scene-1.tif` where a person writes it. */
export interface ZoneRef {
  zone: ZoneName;
  key: string;
}

export interface BlobStat {
  bytes: number;
  /** Changes when the content does, as far as the store can tell. */
  etag: string;
  modified_at: string;
}

export interface BlobEntry extends BlobStat {
  key: string;
}

export interface BlobPage {
  entries: BlobEntry[];
  /** Give it as `after` for the next page; null on the last. */
  next: string | null;
}

/** A file that a task made. It is there for others from the moment the task has finished, or never. */
export interface ZoneAsset extends ZoneRef {
  name: string;
  /** What a catalogue should say: s3://… or https://… for remote zones, fanfold://<zone>/<key> on disk. */
  href: string;
  bytes: number;
  sha256: string;
  media_type: string;
}

export interface NewAsset {
  zone: ZoneName;
  /** Below which it lies, built from ids: `dem-2024/tile-x0-y1`. The attempt's own part is added. */
  prefix: string;
  /** The last part of the key: `cog.tif`. */
  name: string;
  media_type: string;
}

export interface TaskZones {
  /** null when there is no such object. */
  stat(ref: ZoneRef): Promise<BlobStat | null>;
  /** In order of key, at most `limit` (default and most 1000). */
  list(zone: ZoneName, prefix: string, options?: { after?: string; limit?: number }): Promise<BlobPage>;
  /** A few bytes, for a look at a header: at most 4 MB. Shorter than asked for at the end of the object. */
  read(ref: ZoneRef, offset: number, length: number): Promise<Uint8Array>;
  /** Copies the object into a new local file (in ctx.scratch()). Stops with an error beyond `max_bytes`. */
  download(
    ref: ZoneRef,
    file: string,
    options?: { max_bytes?: number },
  ): Promise<{ bytes: number; sha256: string; etag: string }>;
  /** Uploads a local file under a key of this attempt, and has it recorded with the task's finish: a zombie's is never seen. */
  publish(file: string, asset: NewAsset): Promise<ZoneAsset>;
  /** Records an object that is there already, and that was not made here, as an asset; it is never swept. */
  adopt(ref: ZoneRef, asset: { media_type: string; bytes: number; sha256: string }): Promise<ZoneAsset>;
  /**
   * With the finish of this task the record goes; the object itself is removed right after (or by the sweep), an adopted one only
   * with `remove_adopted`. Idempotent.
   */
  retract(ref: ZoneRef, options?: { remove_adopted?: boolean }): Promise<void>;
}

/** `bronze:some/key.tif` → its parts; null when it is not written so. */
export function parseZoneRef(text: string): ZoneRef | null {
  const colon = text.indexOf(":");
  const zone = text.slice(0, colon) as ZoneName;
  if (colon < 0 || !zone_names.includes(zone)) return null;
  return { zone, key: text.slice(colon + 1) };
}

export function formatZoneRef({ zone, key }: ZoneRef): string {
  return `${zone}:${key}`;
}
