import { expect, test } from "vitest";
import { calm } from "./isolation_handlers.js";
import { openIsolated } from "./isolation_shop.js";

test("an isolated handler runs in another process and its result is stored", async () => {
  const shop = await openIsolated([calm]);
  await shop.start();
  const { task_id } = await shop.engine.enqueue("calm", {});
  const task = await shop.ended(task_id);
  expect(task).toMatchObject({ status: "completed", result: { index: "1" } });
  expect((task.result as { pid: number }).pid).not.toBe(process.pid);
});
