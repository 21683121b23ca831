// LZW as TIFF has it: codes of nine to twelve bits, the first bit first, wider one code early. Pure.

const clear = 256;
const end = 257;
const most_codes = 4096;

/** At most `bytes`, which the caller knows from the header. Throws for codes that nothing stands for yet. */
export function unpackLzw(packed: Uint8Array, bytes: number): Uint8Array {
  if (packed[0] === 0 && ((packed[1] ?? 0) & 1) === 1) throw new RangeError("LZW of the oldest kind");
  const out = new Uint8Array(bytes);
  // A code is what lies at a place of the output, and how long it is: nothing is kept twice.
  const places = new Uint32Array(most_codes);
  const lengths = new Uint32Array(most_codes);
  let next = 258;
  let width = 9;
  let bits = 0;
  let held = 0;
  let written = 0;
  let before_at = 0;
  let before_length = 0;
  for (let at = 0; written < bytes; ) {
    while (held < width) {
      if (at >= packed.length) return out.subarray(0, written);
      bits = ((bits << 8) | packed[at++]!) & 0xffffff;
      held += 8;
    }
    held -= width;
    const code = (bits >>> held) & ((1 << width) - 1);
    if (code === end) break;
    if (code === clear) {
      [next, width, before_length] = [258, 9, 0];
      continue;
    }
    const start = written;
    if (code < 256) out[written++] = code;
    else {
      const is_new = code === next && before_length > 0;
      if (code > next || (code === next && !is_new)) throw new RangeError("an LZW code that nothing stands for");
      const from = is_new ? before_at : places[code]!;
      const length = Math.min(is_new ? before_length : lengths[code]!, bytes - written);
      out.copyWithin(written, from, from + length);
      written += length;
      // What is new ends with the byte it begins with.
      if (is_new && written < bytes) out[written++] = out[before_at]!;
    }
    if (before_length > 0 && next < most_codes) {
      // What came before and one byte of this: both lie there in a row.
      places[next] = before_at;
      lengths[next] = before_length + 1;
      next++;
      if (next >= (1 << width) - 1 && width < 12) width++;
    }
    [before_at, before_length] = [start, written - start];
  }
  return out.subarray(0, written);
}
