// A tenant moves twenty times from one cell to the other and back while it is called, worked for and watched: nothing is lost, nothing runs twice.
import { afterAll, beforeAll, expect, test } from "vitest";
import { underLoad } from "./cells_load.js";
import { type CellsRig, openCellsRig } from "./cells_rig.js";

const moves = Number(process.env.FANFOLD_TEST_SOAK || 20);
const say = (line: string) => process.stdout.write(`[cells] ${line}\n`);

let rig: CellsRig;
beforeAll(async () => {
  rig = await openCellsRig();
  await Promise.all([rig.a.worker({ slots: 8 }), rig.b.worker({ slots: 8 })]);
});
afterAll(() => rig?.close());

test(`a tenant moves ${moves} times under load`, { timeout: 1_800_000 }, async () => {
  const key = await rig.a.key("acme");
  const { jobs, closed_ms, longest_ms } = await underLoad(rig, { tenant: "acme", key, moves, callers: 4 });
  const sorted = closed_ms.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  say(
    `${moves} moves, ${jobs} jobs of 5 tasks, none lost, none run twice, each told of once; closed for ${at(0.5)} ms (median), ` +
      `${sorted.at(-1)} ms at most; the longest submit ${Math.round(longest_ms)} ms with its repetitions`,
  );
  expect(closed_ms).toHaveLength(moves);
});
