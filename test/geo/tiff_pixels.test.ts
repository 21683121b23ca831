// The parts of blocks of a TIFF that need no file: what is packed, predictors, orders of bytes and masks.
import { expect, test } from "vitest";
import {
  type BlockLayout,
  decodeBlock,
  decodeMask,
  unpackLzw,
  unpackPackBits,
} from "../../src/geo/tiff/tiff_pixels.js";

test("LZW: as TIFF's own example has it, never longer than the block, and no longer than what is there", () => {
  // Of TIFF 6.0, page 61, as 9 bits each.
  const codes = [256, 7, 258, 8, 8, 258, 6, 6, 257];
  const bits = codes.map((code) => code.toString(2).padStart(9, "0")).join("");
  const packed = Uint8Array.from(bits.padEnd(88, "0").match(/.{8}/g)!, (byte) => Number.parseInt(byte, 2));
  expect([...unpackLzw(packed, 10)]).toEqual([7, 7, 7, 8, 8, 7, 7, 6, 6]);
  expect([...unpackLzw(packed, 4)]).toEqual([7, 7, 7, 8]);
  expect([...unpackLzw(packed.subarray(0, 6), 9)]).toEqual([7, 7, 7, 8, 8]);
  expect(() => unpackLzw(Uint8Array.from([0x80, 0x7f, 0xff]), 10)).toThrow("stands for");
  expect(() => unpackLzw(Uint8Array.from([0, 1, 0]), 10)).toThrow("oldest kind");
});

test("PackBits: as Apple's own example has it, never longer than the block, and no longer than what is there", () => {
  const packed = Uint8Array.from([0xfe, 0xaa, 0x02, 0x80, 0x00, 0x2a, 0x80, 0xfd, 0xaa, 0x03, 1, 2, 3, 4]);
  const whole = [0xaa, 0xaa, 0xaa, 0x80, 0x00, 0x2a, 0xaa, 0xaa, 0xaa, 0xaa, 1, 2, 3, 4];
  expect([...unpackPackBits(packed, 20)]).toEqual(whole);
  expect([...unpackPackBits(packed, 8)]).toEqual(whole.slice(0, 8));
  expect([...unpackPackBits(packed, 12)]).toEqual(whole.slice(0, 12));
  // Runs that say more than there is behind them.
  expect([...unpackPackBits(packed.subarray(0, 12), 14)]).toEqual(whole.slice(0, 12));
  expect([...unpackPackBits(packed.subarray(0, 8), 14)]).toEqual(whole.slice(0, 6));
});

const plain = { width: 3, height: 1, samples: 1, little_endian: true, predictor: 1, data_type: "uint8" } as const;
const decode = (bytes: number[], layout: Partial<BlockLayout>) =>
  decodeBlock(Uint8Array.from(bytes), { ...plain, ...layout });

test("differences are added up, the order of bytes is turned, and a block is as long as it says", () => {
  const rows = decode([250, 3, 4, 1, 1, 1], { height: 2, predictor: 2 });
  expect([...rows]).toEqual([250, 253, 1, 1, 2, 3]);
  const pairs = decode([1, 100, 2, 1, 3, 1], { samples: 2, predictor: 2 });
  expect([...pairs]).toEqual([1, 100, 3, 101, 6, 102]);
  const turned = decode([1, 0, 0, 2, 0, 3], { little_endian: false, data_type: "uint16" });
  expect([...turned]).toEqual([256, 2, 3]);
  const both = decode([1, 0, 0, 2, 0, 3], { little_endian: false, data_type: "uint16", predictor: 2 });
  expect([...both]).toEqual([256, 258, 261]);
  expect(() => decode([1, 2], {})).toThrow(RangeError);
});

test.each(["float32", "float64"] as const)(
  "%s comes back from each predictor, whatever the order of bytes",
  (data_type) => {
    const values = [1.5, -2.25, 3e7];
    const size = data_type === "float32" ? 4 : 8;
    const bytes = new DataView(new ArrayBuffer(3 * size));
    const write = (at: number, value: bigint) =>
      size === 4 ? bytes.setUint32(at * 4, Number(BigInt.asUintN(32, value))) : bytes.setBigUint64(at * 8, value);
    const whole = values.map((value) => {
      const one = new DataView(new ArrayBuffer(size));
      if (size === 4) one.setFloat32(0, value);
      else one.setFloat64(0, value);
      return size === 4 ? BigInt(one.getUint32(0)) : one.getBigUint64(0);
    });
    whole.forEach((value, at) => {
      write(at, value - (whole[at - 1] ?? 0n));
    });
    const layout = { ...plain, data_type, little_endian: false };
    expect([...decodeBlock(new Uint8Array(bytes.buffer), { ...layout, predictor: 2 })]).toEqual(values);
    // The highest bytes of all first; then each byte as its difference to the one before.
    const sorted = Array.from({ length: 3 * size }, (_, at) =>
      Number((whole[at % 3]! >> BigInt(8 * (size - 1 - Math.floor(at / 3)))) & 255n),
    );
    const differences = Uint8Array.from(sorted, (byte, at) => byte - (sorted[at - 1] ?? 0));
    const before = [...differences];
    for (const little_endian of [true, false])
      expect([...decodeBlock(differences, { ...layout, little_endian, predictor: 3 })]).toEqual(values);
    expect([...differences]).toEqual(before);
  },
);

test("a mask of one bit a pixel begins each row at a whole byte, and is as long as it says", () => {
  const mask = decodeMask(Uint8Array.from([0b10000000, 0b01000000, 0b00000001, 0b10000000]), 10, 2);
  expect([...mask]).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0]);
  expect(() => decodeMask(new Uint8Array(3), 10, 2)).toThrow(RangeError);
});
