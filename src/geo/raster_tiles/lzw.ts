// LZW as TIFF has it: codes of 9 to 12 bits, the highest bit first, one step early. Written here because the decoders of the registry put no
// bound on what a block becomes: this one fills what the block must have, and never more. Pure.

const clear = 256;
const end = 257;

/** Exactly `length` bytes; what a block lacks stays 0. Throws on a code that cannot be. */
export function lzwDecoded(packed: Uint8Array, length: number): Uint8Array {
  const out = new Uint8Array(length);
  // Each code is a piece of what is written already: where it begins there, and how long it is.
  const starts = new Uint32Array(4097);
  const lengths = new Uint32Array(4097);
  let next = 258;
  let width = 9;
  let bits = 0;
  let held = 0;
  let at = 0;
  let previous_start = 0;
  let previous_length = 0;
  let position = 0;
  while (at < length) {
    while (held < width && position < packed.length) {
      bits = ((bits << 8) | packed[position++]!) & 0xffffff;
      held += 8;
    }
    if (held < width) break;
    const code = (bits >>> (held - width)) & ((1 << width) - 1);
    held -= width;
    if (code === end) break;
    if (code === clear) {
      next = 258;
      width = 9;
      previous_length = 0;
      continue;
    }
    const start = at;
    if (code < 256) out[at++] = code;
    else if (code < next) {
      const stop = Math.min(at + lengths[code]!, length);
      for (let from = starts[code]!; at < stop; ) out[at++] = out[from++]!;
    } else if (code === next && previous_length > 0) {
      const stop = Math.min(at + previous_length, length);
      for (let from = previous_start; at < stop; ) out[at++] = out[from++]!;
      if (at < length) out[at++] = out[previous_start]!;
    } else throw new Error(`code ${code} stands for nothing yet`);
    if (previous_length > 0 && next < 4096) {
      starts[next] = previous_start;
      lengths[next] = previous_length + 1;
      next++;
    }
    previous_start = start;
    previous_length = at - start;
    if (next + 1 >= 1 << width && width < 12) width++;
  }
  return out;
}
