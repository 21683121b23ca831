// A range reader over bytes in memory that counts, for tests of what reads files in pieces.
export interface CountingReader {
  (offset: number, length: number): Promise<Uint8Array>;
  reads: number;
  bytes: number;
  /** The end of the read that went farthest. */
  furthest: number;
}

export function readerOf(bytes: Uint8Array): CountingReader {
  const read = async (offset: number, length: number) => {
    // As a store would.
    if (offset < 0 || length < 1) throw new RangeError(`cannot read ${length} bytes at ${offset}`);
    read.reads++;
    read.furthest = Math.max(read.furthest, offset + length);
    const part = bytes.slice(offset, offset + length);
    read.bytes += part.length;
    return part;
  };
  read.reads = 0;
  read.bytes = 0;
  read.furthest = 0;
  return read;
}
