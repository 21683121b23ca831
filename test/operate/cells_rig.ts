// Two cells and a router before them: each cell a service of its own with a database of its own, as `fanfold serve --cells` has them.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { type Cell, closeCells, openCells, prepareCells, readCells } from "../../src/engine/cells/cells.js";
import { fileMove } from "../../src/engine/cells/file_moves.js";
import { type Moved, type MoveOptions, moveTenant } from "../../src/engine/cells/move.js";
import { type Router, startRouter } from "../../src/server/cells/router.js";
import type { Server } from "../../src/server/server.js";
import { type Answered, callService, openService, type TestService } from "../server/service.js";

export interface CellsRig {
  a: TestService;
  b: TestService;
  cells: Cell[];
  /** cells.json */
  file: string;
  router: Server & { router: Router };
  /** Every run of a task, as `<name>/<ordinal>`. */
  ran: string[];
  moveTo(name: string, tenant: string, options?: MoveOptions): Promise<Moved>;
  call(method: string, path: string, key: string | null, body?: unknown): Promise<Answered>;
  close(): Promise<void>;
}

export async function openCellsRig(): Promise<CellsRig> {
  const ran: string[] = [];
  const step = defineHandler("cell.step", {}, async (_, ctx) => {
    const { name } = ctx.job!.parameters as { name: string };
    ran.push(`${name}/${ctx.ordinal}`);
    return { ordinal: ctx.ordinal };
  });
  const fold = defineHandler("cell.fold", {}, async (_, ctx) => {
    let sum = 0;
    for await (const { result } of ctx.previous) sum += (result as { ordinal: number }).ordinal;
    return { sum };
  });
  const job = defineJob({
    type: "cell_job",
    stages: [
      { name: "step", task: "cell.step", tasks: { count: 4 } },
      { name: "fold", task: "cell.fold", parallelism: "fan_in" },
    ],
  });
  const parts = { jobs: [job], handlers: [step, fold] };
  const [a, b] = await Promise.all([openService(parts, {}, { own: true }), openService(parts, {}, { own: true })]);
  // Databases of tests are copies of one, and know themselves as the same deployment.
  await b.db.script("delete from app.lock_salt; insert into app.lock_salt default values");
  const root = await mkdtemp(join(tmpdir(), "fanfold-cells-"));
  const file = join(root, "cells.json");
  const described = [a, b].map(({ url, server_url, storage_dir }, number) => ({
    name: number === 0 ? "a" : "b",
    number,
    urls: [url],
    database_url: server_url,
    files: {
      storage: storage_dir,
      bronze: join(storage_dir, "zones", "bronze"),
      silver: join(storage_dir, "zones", "silver"),
      gold: join(storage_dir, "zones", "gold"),
    },
  }));
  await writeFile(file, JSON.stringify({ cells: described }));
  const cells = openCells(readCells(file), { max: 4 });
  await prepareCells(cells);
  const log = pino({ level: "silent" });
  const router = await startRouter({ cells, log, port: 0, grace_s: 1 });
  return {
    a,
    b,
    cells,
    file,
    router,
    ran,
    async moveTo(name, tenant, options) {
      const to = cells.find((cell) => cell.name === name)!;
      const from = cells.find((cell) => cell !== to)!;
      return moveTenant(cells, tenant, to, { ...(await fileMove(from, to, {})), farewell_ms: 0, ...options });
    },
    call: (method, path, key, body) => callService(router.url, a.key, method, path, { key, body }),
    async close() {
      await router.kill();
      await closeCells(cells);
      await Promise.all([a.close(), b.close()]);
      await rm(root, { recursive: true, force: true });
    },
  };
}
