// A range reader over bytes in memory that counts, for tests of what reads files in pieces.
export interface CountingReader {
  (offset: number, length: number): Promise<Uint8Array>;
  reads: number;
  bytes: number;
}

export function readerOf(bytes: Uint8Array): CountingReader {
  const read = async (offset: number, length: number) => {
    read.reads++;
    const part = bytes.slice(offset, offset + length);
    read.bytes += part.length;
    return part;
  };
  read.reads = 0;
  read.bytes = 0;
  return read;
}
