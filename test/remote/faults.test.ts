// The fault scenarios of remote workers, against every worker there is a command for. Once as a test; 20 times in a row in the soak run.
import { afterAll, beforeAll, describe, test } from "vitest";
import { alone, of_children, together } from "./faults.js";
import { RemoteHouse, worker_commands } from "./house.js";

const rounds = Number(process.env.FANFOLD_TEST_SOAK || 1);

let house: RemoteHouse;
beforeAll(async () => {
  house = await RemoteHouse.open();
});
afterAll(() => house?.close());

const kinds = Object.keys(worker_commands);

// Those that run by themselves mostly wait for leases to end: all kinds at once, in one house.
describe("a remote worker loses nothing and doubles nothing, by itself", { concurrent: true }, () => {
  for (const kind of kinds) {
    const own = worker_commands[kind]!.has_children === true ? { ...alone, ...of_children } : alone;
    for (const [name, scenario] of Object.entries(own)) {
      test(`${name} (${kind})`, { timeout: 400_000 * rounds }, async () => {
        for (let round = 0; round < rounds; round++) await scenario(house, kind);
      });
    }
  }
});

describe("a remote worker loses nothing and doubles nothing, with all others", () => {
  for (const [name, scenario] of Object.entries(together)) {
    test(`${name} (${kinds.join(", ")})`, { timeout: 400_000 * rounds }, async () => {
      for (let round = 0; round < rounds; round++) await scenario(house, kinds);
    });
  }
});
