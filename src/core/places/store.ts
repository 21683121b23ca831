// What the engine asks of a place for large things, and whose a file is. src/storage implements it, so that a handler's
// context can speak of storage without core doing any I/O. Pure.

/** Names one stored file and proves it: a reader compares size and checksum. */
export interface Ref {
  store: string;
  key: string;
  bytes: number;
  sha256: string;
}

export interface Store {
  /** The files themselves, for sweeps and probes: a BlobStore of src/storage, whose keys are those of the references. */
  readonly blobs?: { readonly kind: string; readonly place: string };
  put(key: string, content: Uint8Array | string): Promise<Ref>;
  /** Written as it comes, so that its size does not matter. If `pieces` throws, nothing is stored and the error is passed on. */
  putStream(key: string, pieces: AsyncIterable<Uint8Array | string>): Promise<Ref>;
  /** Throws StorageError when the file is missing or is not what the reference says. */
  get(ref: Ref): Promise<Buffer>;
  /** Piece by piece. The size is compared before the first piece, the checksum after the last: then it throws. */
  getStream(ref: Ref): AsyncIterable<Uint8Array>;
  /** Removing what is not there is no error. */
  remove(key: string): Promise<void>;
}

/** Below it lie the files of a tenant, and nobody else's. app.refuse_foreign_spills knows it too. */
export function tenantPrefix(tenant_id: string): string {
  return `tenant-${tenant_id}/`;
}

/** Whether a reference, which anybody may have made up, names a file of this tenant's. */
export function isOfTenant(ref: Pick<Ref, "key">, tenant_id: string): boolean {
  const key: unknown = ref?.key;
  return typeof key === "string" && key.startsWith(tenantPrefix(tenant_id)) && !dot_segment.test(key);
}

const dot_segment = /(^|\/)\.\.?(\/|$)/;
/** results/<stage>/<ordinal>/<attempt>-<claim>-<worker>-<random>.json */
const old_result = /^results\/\d+\/\d+\/\d+-\d+-[0-9a-f-]{36}-[0-9a-f-]{36}\.json$/;

/**
 * Also true for results that 0.2.0 spilled, whose keys name no tenant: those of its jobs stay readable. Nobody else can make
 * use of it: such a key holds two random ids that only the rows of its own tenant tell, and no row can come to hold one of
 * another stage, because the finish refuses it.
 */
export function isReadableBy(ref: Pick<Ref, "key">, tenant_id: string): boolean {
  return isOfTenant(ref, tenant_id) || (typeof ref?.key === "string" && old_result.test(ref.key));
}
