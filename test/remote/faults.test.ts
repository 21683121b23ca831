// The fault scenarios of remote workers, against every worker there is a command for. Once as a test; 20 times in a row in the soak run.
import { afterAll, beforeAll, describe, test } from "vitest";
import { alone, together } from "./faults.js";
import { RemoteHouse, worker_commands } from "./house.js";

const rounds = Number(process.env.FANFOLD_TEST_SOAK || 1);

let house: RemoteHouse;
beforeAll(async () => {
  house = await RemoteHouse.open();
});
afterAll(() => house?.close());

for (const kind of Object.keys(worker_commands)) {
  describe(`a remote worker (${kind})`, () => {
    describe("loses nothing and doubles nothing, by itself", { concurrent: true }, () => {
      for (const [name, scenario] of Object.entries(alone)) {
        test(name, { timeout: 120_000 * rounds }, async () => {
          for (let round = 0; round < rounds; round++) await scenario(house, kind);
        });
      }
    });
    describe("loses nothing and doubles nothing, with all others", () => {
      for (const [name, scenario] of Object.entries(together)) {
        test(name, { timeout: 120_000 * rounds }, async () => {
          for (let round = 0; round < rounds; round++) await scenario(house, kind);
        });
      }
    });
  });
}
