import { describe, expect, test } from "vitest";
import { BadRequest } from "../../src/core/errors/errors.js";
import { planTiles, safeBlockSize, type TilePlanOptions } from "../../src/geo/tile_plan.js";

const grid: TilePlanOptions = {
  width: 10_000,
  height: 7_000,
  transform: [10, 0.001, 0, 50, 0, -0.001],
  tile_px: 2048,
  overlap_px: 0,
  block_size: 512,
  bytes_per_pixel: 2,
  single_max_pixels: 1_000_000,
  single_max_bytes: 1_000_000_000,
  max_tiles: 10_000,
};

/** A few hundred plans with every combination of sizes that has an edge. */
function* plans(): Generator<TilePlanOptions> {
  for (const width of [1, 511, 512, 513, 1024, 1025, 2047, 2048, 2049, 4096 + 511, 4096 + 512, 9999]) {
    for (const height of [1, 700, 2048, 5121]) {
      for (const tile_px of [512, 1024, 2048]) {
        for (const overlap_px of [0, 1, 16, 256]) {
          yield { ...grid, width, height, tile_px, overlap_px, single_max_pixels: 1 };
        }
      }
    }
  }
}

describe("a plan of tiles", () => {
  test("names tiles by column and row, and places them on the pixels of the whole", () => {
    const { tiles, columns, rows } = planTiles(grid);
    expect([columns, rows, tiles.length]).toEqual([5, 4, 20]);
    const tile = tiles.find(({ name }) => name === "tile-x3-y1")!;
    expect(tile).toMatchObject({ x: 3, y: 1, column: 6144, row: 2048, width: 2048, height: 2048 });
    expect(tile.bounds).toEqual([10 + 6144 * 0.001, 50 - 4096 * 0.001, 10 + 8192 * 0.001, 50 - 2048 * 0.001]);
  });

  test("covers every pixel, with exactly the overlap between neighbours and nowhere else", () => {
    let looked = 0;
    for (const options of plans()) {
      const { tiles, columns, rows } = planTiles(options);
      for (const [start, length, whole, count, index] of [
        ["column", "width", options.width, columns, "x"],
        ["row", "height", options.height, rows, "y"],
      ] as const) {
        const line = tiles.filter((tile) => tile[index === "x" ? "y" : "x"] === 0);
        expect(line).toHaveLength(count);
        expect(line[0]![start]).toBe(0);
        expect(line.at(-1)![start] + line.at(-1)![length]).toBe(whole);
        const shared = line.slice(1).map((tile, i) => line[i]![start] + line[i]![length] - tile[start]);
        expect(new Set(shared).size).toBeLessThanOrEqual(1);
        expect(shared[0] ?? options.overlap_px).toBe(options.overlap_px);
      }
      expect(tiles).toHaveLength(columns * rows);
      looked++;
    }
    expect(looked).toBe(576);
  });

  test("has no sliver: each tile has at least a block or half a step of its own when there is more than one", () => {
    for (const options of plans()) {
      const { tiles, columns, rows } = planTiles(options);
      const least = options.overlap_px + Math.min(512, Math.floor((options.tile_px - options.overlap_px) / 2));
      const wrong = tiles.filter(
        ({ width, height }) =>
          (columns > 1 && width < least) ||
          (rows > 1 && height < least) ||
          width >= options.tile_px + options.block_size,
      );
      expect(wrong).toEqual([]);
    }
  });

  test("gives neighbours edges that are equal to the last bit", () => {
    const { tiles } = planTiles({ ...grid, transform: [0.1, 1 / 3, 0, 0.7, 0, -1 / 3] });
    const at = (x: number, y: number) => tiles.find((tile) => tile.x === x && tile.y === y)!.bounds;
    expect(at(0, 0)[2]).toBe(at(1, 0)[0]);
    expect(at(2, 1)[1]).toBe(at(2, 2)[3]);
  });

  test("leaves a small raster whole, by pixels and by bytes", () => {
    const small = { ...grid, width: 1000, height: 1000 };
    expect(planTiles(small)).toMatchObject({
      is_single: true,
      tiles: [{ name: "tile-x0-y0", width: 1000, height: 1000 }],
    });
    expect(planTiles({ ...small, width: 1001 }).is_single).toBe(false);
    expect(planTiles({ ...small, bytes_per_pixel: 2000 }).is_single).toBe(false);
  });

  test("leaves out tiles that are told to be empty, and says which", () => {
    const { tiles, empty } = planTiles({ ...grid, isEmpty: ({ x, y }) => x === 4 || y === 3 });
    expect(tiles).toHaveLength(12);
    expect(empty).toHaveLength(8);
    expect(empty).toContain("tile-x4-y0");
  });

  test("is refused when it would be too many tiles, with a size that would do", () => {
    const huge = { ...grid, width: 1_000_000, height: 1_000_000, tile_px: 512, max_tiles: 1000 };
    let message = "";
    try {
      planTiles(huge);
    } catch (error) {
      expect(error).toBeInstanceOf(BadRequest);
      message = (error as Error).message;
    }
    expect(message).toContain("would be cut into 3814209 tiles; 1000 are allowed");
    const advised = Number(/about (\d+)/.exec(message)![1]);
    expect(planTiles({ ...huge, tile_px: advised }).tiles.length).toBeLessThanOrEqual(1000);
  });

  test("tells all that is wrong with its parameters at once", () => {
    const wrong = () =>
      planTiles({
        ...grid,
        width: 0,
        tile_px: 1000,
        overlap_px: 900,
        transform: [0, 1, 0.5, 0, 0, -1],
        min_tile_px: 0,
      });
    expect(wrong).toThrow(/\$\.width.*\$\.transform.*\$\.tile_px.*give 1024.*\$\.overlap_px.*\$\.min_tile_px/s);
  });

  test("has blocks that are never exactly as wide as a large image or overview", () => {
    const square = [512, 1024, 2048, 4095, 4097, 1025].map((side) => safeBlockSize(side, side, 1024));
    expect(square).toEqual([1024, 512, 512, 512, 512, 1024]);
    expect(safeBlockSize(512, 512, 512)).toBe(512);
    expect(safeBlockSize(256, 256, 256)).toBe(256);
    expect(safeBlockSize(3000, 1000, 1024)).toBe(1024);
    expect(safeBlockSize(256, 600, 256)).toBe(512);
    const narrow = [512, 1024, 4096].map((width) => safeBlockSize(width, width * 1.2, 512));
    expect(narrow).toEqual([384, 384, 384]);
  });

  test("has blocks that leave room for an overview of every large image", () => {
    expect([512, 513, 1024, 1025].map((side) => safeBlockSize(side, 100, 1024))).toEqual([1024, 512, 512, 1024]);
    expect([512, 513, 1024, 1025].map((side) => safeBlockSize(100, side, 1024))).toEqual([1024, 512, 512, 1024]);
  });

  test("has blocks that suit every size", () => {
    for (let width = 1; width < 5000; width++) {
      for (const height of [1, 500, 513, width, Math.ceil(width * 1.3), 2 * width, 9000]) {
        for (const wanted of [256, 512, 1024] as const) {
          const block = safeBlockSize(width, height, wanted);
          if (width <= 512 && height <= 512) expect(block).toBe(wanted);
          else if (width <= block && height <= block) expect.fail(`${width} × ${height} fits into ${block}`);
          for (let [x, y] = [width, height]; x > 512 || y > 512; [x, y] = [Math.ceil(x / 2), Math.ceil(y / 2)]) {
            if (x === block) expect.fail(`${width} × ${height} comes to be ${x} × ${y} in blocks of ${block}`);
          }
        }
      }
    }
  });
});
