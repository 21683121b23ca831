// The heat map without a browser: where cells lie, what is pointed at and selected, what is painted, and what is downloaded.
import { expect, test } from "vitest";
import { csvField, csvText } from "../../dashboard/src/pages/heat/csv.js";
import { settle_after_ms, stillMoves } from "../../dashboard/src/pages/heat/freshness.js";
import {
  type Binning,
  cellAt,
  cellsBetween,
  cellsOfOrdinals,
  cellsWith,
  type Grid,
  layOut,
  moved,
  nearestCell,
  ordinalsOfCells,
  placeOf,
  toggled,
} from "../../dashboard/src/pages/heat/layout.js";
import {
  changedCells,
  extent,
  type Paint,
  paintAll,
  paintCell,
  pixel,
  rampTable,
  statusGlyphs,
} from "../../dashboard/src/pages/heat/paint.js";
import { firstOf, pagesOf, selectionCommands, tasksText } from "../../dashboard/src/pages/heat/ranges.js";
import { cellText, countsOf, summaryOf } from "../../dashboard/src/pages/heat/words.js";
import { type Cells, cell_codes, cell_statuses } from "../../src/core/shown/cells.js";
import { LONGEST_FRESH_MS } from "../../src/server/jobs/kept_cells.js";

const sizes = [1, 2, 7, 100, 999, 5_000, 20_000];

test("every cell lies on the canvas, at whole device pixels, and is found where it lies", () => {
  for (const cells of sizes) {
    for (const width of [328, 700, 1230]) {
      for (const ratio of [1, 1.5, 2, 3]) {
        const grid = layOut(cells, width, 440, ratio);
        const about = `${cells} cells, ${width} px, ${ratio}`;
        expect(grid.width, about).toBeLessThanOrEqual(width * ratio);
        expect(grid.columns * grid.rows, about).toBeGreaterThanOrEqual(cells);
        expect((grid.rows - 1) * grid.columns, about).toBeLessThan(cells);
        for (const cell of [0, cells >> 1, cells - 1]) {
          const { x, y } = placeOf(grid, cell);
          expect([Number.isInteger(x), Number.isInteger(y)]).toEqual([true, true]);
          expect(cellAt(grid, x, y), about).toBe(cell);
          expect(cellAt(grid, x + grid.fill - 1, y + grid.fill - 1), about).toBe(cell);
        }
        expect(cellAt(grid, grid.width + 1, 0)).toBeNull();
        expect(cellAt(grid, 0, grid.height + 1)).toBeNull();
        expect(nearestCell(grid, 1e6, 1e6)).toBe(cells - 1);
        expect(nearestCell(grid, -5, -5)).toBe(0);
      }
    }
  }
});

test("few tasks are large cells, many are small ones that still fit, and on a phone they go on downwards", () => {
  expect(layOut(1, 1200, 440, 1)).toMatchObject({ pitch: 24, columns: 1, rows: 1 });
  const wide = layOut(20_000, 1200, 440, 1);
  expect(wide.height).toBeLessThanOrEqual(440);
  expect(wide.pitch).toBeGreaterThanOrEqual(4);
  expect(layOut(20_000, 328, 440, 3)).toMatchObject({ pitch: 12, columns: 82 });
});

const grid: Grid = { cells: 23, columns: 5, rows: 5, pitch: 10, fill: 9, width: 50, height: 50 };

test("a drag selects a rectangle row by row, or a run, whatever corner it began at", () => {
  const box = [
    [6, 9],
    [11, 14],
  ];
  for (const [from, to] of [
    [6, 13],
    [13, 6],
    [8, 11],
    [11, 8],
  ] as const) {
    expect(cellsBetween(grid, from, to, "box")).toEqual(box);
  }
  expect(cellsBetween(grid, 13, 6, "run")).toEqual([[6, 14]]);
  // The last row is not full.
  expect(cellsBetween(grid, 18, 22, "box")).toEqual([
    [17, 19],
    [22, 23],
  ]);
});

test("cells become ordinals and back, with the last cell cut where the tasks end", () => {
  const bins: Binning = { first: 0, total: 48, tasks_per_cell: 5, cells: 10 };
  expect(
    ordinalsOfCells(bins, [
      [0, 2],
      [9, 10],
    ]),
  ).toEqual([
    [0, 10],
    [45, 48],
  ]);
  const marks = (...ranges: [number, number][]) => [...cellsOfOrdinals(bins, ranges)].join("");
  expect(marks([0, 10], [45, 48])).toBe("1100000001");
  // The map may select a part of a cell.
  expect(marks([7, 8])).toBe("0100000000");
  expect(marks([9, 11])).toBe("0110000000");
  expect(marks([40, 400])).toBe("0000000011");
});

test("all cells with a status are ranges, to the last one", () => {
  const is = (byte: number) => byte === 9;
  expect(cellsWith(Uint8Array.of(9, 9, 1, 9, 1, 9), is)).toEqual([
    [0, 2],
    [3, 4],
    [5, 6],
  ]);
  expect(cellsWith(Uint8Array.of(1, 1), is)).toEqual([]);
});

test("a cell is taken out of a selection that has it, and put into one that has not", () => {
  expect(toggled([[0, 10]], [4, 5])).toEqual([
    [0, 4],
    [5, 10],
  ]);
  expect(toggled([[0, 4]], [4, 5])).toEqual([
    [0, 4],
    [4, 5],
  ]);
  expect(toggled([[4, 5]], [4, 5]).filter(([lo, hi]) => hi > lo)).toEqual([]);
});

test("keys stay on the map, and up and down in their column", () => {
  expect(moved(grid, 0, "ArrowLeft")).toBe(0);
  expect(moved(grid, 4, "ArrowRight")).toBe(5);
  expect(moved(grid, 7, "ArrowUp")).toBe(2);
  expect(moved(grid, 2, "ArrowUp")).toBe(2);
  expect(moved(grid, 21, "ArrowDown")).toBe(22);
  expect([moved(grid, 9, "Home"), moved(grid, 9, "End"), moved(grid, 9, "PageUp")]).toEqual([0, 22, 4]);
  expect(moved(grid, 9, "x")).toBeNull();
});

const colours = Uint32Array.from({ length: 256 }, (_, value) => 1000 + value);
const paint: Paint = { colours, ink: new Uint32Array(256).fill(7), background: 5, glyphs: null };

test("one pass paints each cell in its colour and leaves the gaps, and a changed cell alone is the same picture", () => {
  const pixels = new Uint32Array(grid.width * grid.height);
  const values = Uint8Array.from({ length: 23 }, (_, cell) => cell % 10);
  paintAll(pixels, grid, values, paint);
  const at = (x: number, y: number) => pixels[y * grid.width + x];
  for (let cell = 0; cell < 23; cell++) {
    const { x, y } = placeOf(grid, cell);
    expect([at(x, y), at(x + 8, y + 8)]).toEqual([1000 + (cell % 10), 1000 + (cell % 10)]);
    expect([at(x + 9, y), at(x, y + 9)]).toEqual([5, 5]);
  }
  expect(at(49, 49)).toBe(5);
  const after = Uint8Array.from(values);
  after[7] = 99;
  after[22] = 3;
  expect(changedCells(values, after)).toEqual([7, 22]);
  const whole = new Uint32Array(pixels.length);
  paintAll(whole, grid, after, paint);
  for (const cell of changedCells(values, after)) paintCell(pixels, grid, cell, after[cell]!, paint);
  expect(pixels).toEqual(whole);
});

test("no two statuses have the same sign, from the smallest cell that carries one to the largest", () => {
  for (let size = 7; size <= 70; size += 3) {
    const glyphs = statusGlyphs(size);
    const drawn = cell_statuses.slice(1).map((status) => glyphs[cell_codes[status]]?.join("") ?? "plain");
    expect(new Set(drawn).size, `${size} px`).toBe(drawn.length);
    for (const glyph of glyphs) expect(glyph === null || glyph.includes(1)).toBe(true);
  }
});

test("a ramp runs from the first colour to the last between what there is, and none is a colour of its own", () => {
  const table = rampTable(
    [
      [0, 0, 0],
      [100, 0, 0],
      [200, 100, 50],
    ],
    10,
    20,
    77,
  );
  expect([table[0], table[10], table[15], table[20]]).toEqual([
    77,
    pixel(0, 0, 0),
    pixel(100, 0, 0),
    pixel(200, 100, 50),
  ]);
  expect([table[1], table[255]]).toEqual([table[10], table[20]]);
  expect(extent(Uint8Array.of(0, 40, 7, 0))).toEqual([7, 40]);
  expect(extent(new Uint8Array(3))).toEqual([1, 1]);
});

test("a spreadsheet shows what a task says, and calculates nothing", () => {
  for (const hostile of ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =cmd|' /C calc'!A0", "\r=1"]) {
    expect(csvField(hostile).replace(/^"/, "").startsWith("'"), JSON.stringify(hostile)).toBe(true);
  }
  expect(csvField('a "b", c')).toBe('"a ""b"", c"');
  expect([csvField(null), csvField(-5), csvField("plain")]).toEqual(["", "-5", "plain"]);
  expect(csvText(["a", "b"], [[1, "x\ny"]])).toBe('\ufeffa,b\r\n1,"x\ny"\r\n');
});

test("a selection reads on the command line as it is taken there", () => {
  expect(
    tasksText([
      [0, 100],
      [200, 201],
    ]),
  ).toBe("0-99,200");
  const of = { job_id: "0123456789abcdef", stage: "it's", ranges: [[0, 2]] as [number, number][] };
  const { cli, curl } = selectionCommands("https://host", "skip", of, "no $use");
  expect(cli).toBe("fanfold skip 0123456789ab --stage 'it'\\''s' --tasks 0-1 --reason 'no $use'");
  expect(curl).toContain(`-d '{"ranges":[[0,2]],"reason":"no $use"}'`);
  const many = Array.from({ length: 900 }, (_, n): [number, number] => [2 * n, 2 * n + 1]);
  expect(selectionCommands("https://host", "retry", { ...of, ranges: many }, undefined).cli).toBeNull();
  expect(
    pagesOf(
      [
        [0, 5],
        [100, 110],
        [900, 901],
      ],
      200,
    ),
  ).toEqual([
    [0, 110],
    [900, 901],
  ]);
  expect(
    firstOf(
      [
        [0, 5],
        [10, 20],
      ],
      8,
    ),
  ).toEqual([
    [0, 5],
    [10, 13],
  ]);
});

test("what the map shows is said in words, worst first", () => {
  const zero = {
    completed: 0,
    skipped: 0,
    failed: 0,
    cancelled: 0,
    waiting: 0,
    queued: 0,
    later: 0,
    retrying: 0,
    processing: 0,
  };
  const cells = {
    stage: "tile",
    stage_id: 3,
    total: 1200,
    first: 0,
    tasks_per_cell: 2,
    cells: 600,
    steps_per_doubling: 8,
    counts: { ...zero, completed: 1190, failed: 7, retrying: 3 },
    status_codes: new Uint8Array(600).fill(cell_codes.failed),
    duration_classes: new Uint8Array(600).fill(1 + 8 * 10),
    attempts: new Uint8Array(600).fill(3),
    worker_numbers: new Uint8Array(600),
  } as unknown as Cells;
  expect(countsOf(cells).map(({ status }) => status)).toEqual(["failed", "retrying", "completed"]);
  expect(summaryOf(cells)).toBe(
    "Stage tile: 1,200 tasks, 2 to a cell, which shows the worst of them. 7 failed, 3 retrying, 1,190 completed.",
  );
  expect(cellText(cells, 599, true)).toBe("Tasks 1198 to 1199, worst: failed, attempt 3, 1 s, selected");
});

test("cells are asked for until they say themselves that the stage has ended, and after all that the server may have kept", () => {
  // The last event came, and the cells were those of a moment before.
  expect(stillMoves("completed", "processing")).toBe(true);
  // Opened again, and the cells do not know yet.
  expect(stillMoves("processing", "completed")).toBe(true);
  expect(stillMoves("completed", undefined)).toBe(true);
  expect(stillMoves("completed", "completed")).toBe(false);
  expect(Math.max(...settle_after_ms)).toBeGreaterThan(LONGEST_FRESH_MS);
});
