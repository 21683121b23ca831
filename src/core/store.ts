// What the engine asks of a place for large things. Types only: src/storage implements them, so that a handler's
// context can speak of storage without core doing any I/O.

/** Names one stored file and proves it: a reader compares size and checksum. */
export interface Ref {
  store: string;
  key: string;
  bytes: number;
  sha256: string;
}

export interface Store {
  /** How a child process opens the same store for an isolated handler; a store without it serves this process only. */
  readonly reopen?: { kind: "folder"; dir: string };
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
