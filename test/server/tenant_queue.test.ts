// Whoever waits for a turn is let in, refused, or gone: never forgotten.
import { expect, test } from "vitest";
import { OverLimit } from "../../src/core/errors/errors.js";
import { TenantQueue } from "../../src/server/http/tenant_queue.js";

const never = new AbortController().signal;

function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

test("whoever has waited too long is told to come back, and those who come later have their turn", async () => {
  const turns = new TenantQueue(1, 20);
  const { opened, open } = gate();
  const ahead = turns.within("acme", never, () => opened);
  await expect(turns.within("acme", never, async () => "second")).rejects.toThrow(OverLimit);
  const third = turns.within("acme", never, async () => "third");
  open();
  await ahead;
  expect(await third).toBe("third");
  expect(await turns.within("acme", never, async () => "fourth")).toBe("fourth");
});

test("whoever is gone before his turn does not take it", async () => {
  const turns = new TenantQueue(1);
  const { opened, open } = gate();
  const caller = new AbortController();
  const ahead = turns.within("acme", never, () => opened);
  const gone = turns.within("acme", caller.signal, async () => "gone");
  caller.abort();
  await expect(gone).rejects.toThrow("the caller is gone");
  open();
  await ahead;
  expect(await turns.within("acme", never, async () => "next")).toBe("next");
});
