// The memory of the server for what the database answered: how long it lasts, who shares a question, and what is let go when it is full.
import { expect, test } from "vitest";
import { Remembered } from "../../src/server/access/remembered.js";

function scene(usable_for_s: number | null = null) {
  const asked: string[] = [];
  const answers: ((found: boolean) => void)[] = [];
  const clock = { now: 1 };
  const ask = async (id: string) => {
    asked.push(id);
    const found = id.startsWith("slow") ? await new Promise<boolean>((resolve) => answers.push(resolve)) : true;
    return found ? { value: { id }, usable_for_s } : null;
  };
  return { asked, answers, clock, remembered: new Remembered(ask, () => clock.now) };
}

test("an answer is used for four seconds from when it was asked for, and not longer than it is true", async () => {
  for (const [usable_for_s, lasts_ms] of [
    [null, 4000],
    [60, 4000],
    [1.5, 1500],
  ] as const) {
    const { asked, clock, remembered } = scene(usable_for_s);
    await remembered.find("a");
    clock.now += lasts_ms - 1;
    await remembered.find("a");
    expect(asked).toEqual(["a"]);
    clock.now += 2;
    expect(await remembered.find("a")).toEqual({ id: "a" });
    expect(asked).toEqual(["a", "a"]);
  }
});

test("what is true no more is never used again, even within the same millisecond", async () => {
  const { asked, remembered } = scene(0);
  await remembered.find("a");
  await remembered.find("a");
  expect(asked).toEqual(["a", "a"]);
});

test("the time that the database took counts", async () => {
  const { asked, answers, clock, remembered } = scene();
  const found = remembered.find("slow");
  clock.now += 3000;
  answers[0]!(true);
  await found;
  clock.now += 1001;
  const again = remembered.find("slow");
  answers[1]?.(true);
  await again;
  expect(asked).toHaveLength(2);
});

test("callers that ask at the same time share one question, and what does not exist is not kept", async () => {
  const { asked, answers, remembered } = scene();
  const both = Promise.all([remembered.find("slow"), remembered.find("slow")]);
  answers[0]!(false);
  expect(await both).toEqual([null, null]);
  const again = remembered.find("slow");
  answers[1]!(true);
  expect(await again).toEqual({ id: "slow" });
  expect(asked).toHaveLength(2);
});

test.each([true, false])(
  "a lookup that was forgotten still answers its caller, and no other (found: %s)",
  async (is) => {
    const { asked, answers, remembered } = scene();
    const before = remembered.find("slow");
    remembered.forget("slow");
    const after = remembered.find("slow");
    expect(asked).toHaveLength(2);
    answers[0]!(is);
    expect(await before).toEqual(is ? { id: "slow" } : null);
    answers[1]!(true);
    expect(await after).toEqual({ id: "slow" });
    await remembered.find("slow");
    expect(asked).toHaveLength(2);
  },
);

test("a full memory lets go of what was used least lately, not of everything", async () => {
  const { asked, remembered } = scene();
  for (let n = 0; n < 10_000; n++) await remembered.find(`key-${n}`);
  await remembered.find("key-0");
  await remembered.find("one more");
  asked.length = 0;
  await remembered.find("key-0");
  await remembered.find("key-2");
  expect(asked).toEqual([]);
  await remembered.find("key-1");
  expect(asked).toEqual(["key-1"]);
});
