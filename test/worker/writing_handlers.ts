// Isolated handlers that keep writes for their finish.
import { defineHandler } from "../../src/core/declare/declare.js";

const here = { isolation: "process", module: import.meta.url, database: true } as const;

export const isolated_writer = defineHandler("isolated_writer", here, async (_, ctx) => {
  await ctx.db(
    async (session) => {
      await session.sql`insert into public.written values (${ctx.ordinal}, 1, ${"said first"})`;
      await session.sql`update public.written set attempt = attempt + 1 where n = ${ctx.ordinal}`;
    },
    { with_finish: true },
  );
  await ctx
    .db(
      async (session) => {
        await session.sql`delete from public.written`;
        throw new Error("on second thoughts");
      },
      { with_finish: true },
    )
    .catch(() => {});
  await ctx.db(
    (session) => session.sql`
      update public.written set attempt = attempt + 1, note = note || ${", said last"} where n = ${ctx.ordinal}`,
    { with_finish: true },
  );
});
