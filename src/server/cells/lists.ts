// What an operator sees of all cells at once. Whoever is an operator in the first cell of the file is one here; operators of other cells see their own.
import type { IncomingMessage } from "node:http";
import { isSecretOf, readKey } from "../../core/values/api_key.js";
import { askAll, type Cell, factsOf, homeIn } from "../../engine/cells/cells.js";
import { asked } from "../../engine/verbs/reply.js";
import type { TenantPage } from "../../engine/verbs/tenants.js";
import type { CellServers } from "./health.js";
import { inTime } from "./homes.js";

export async function operatorOf(cells: readonly Cell[], { headers }: IncomingMessage): Promise<boolean> {
  const [, text] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "") ?? [];
  const parts = readKey(text ?? "");
  const [first] = cells;
  if (parts === null || first === undefined) return false;
  // Where that cell is away the call goes on to it, and is told so.
  const home = await inTime(homeIn(first, { key_id: parts.key_id })).catch(() => null);
  const key = home?.key ?? null;
  return (
    key !== null &&
    isSecretOf(parts.secret, key.secret_hash) &&
    key.usable &&
    key.env === parts.env &&
    key.operator &&
    key.scopes.includes("admin")
  );
}

export async function tellCells(cells: readonly Cell[], servers: ReadonlyMap<string, CellServers>) {
  const { answers, away } = await askAll(cells, (cell) => inTime(factsOf(cell)));
  return {
    cells: cells.map((cell) => {
      const facts = answers.find((one) => one.cell === cell)?.answer;
      const why = away.find((one) => one.cell === cell)?.why;
      const known = servers.get(cell.name);
      return {
        name: cell.name,
        number: cell.number,
        database: facts !== undefined,
        ...(why === undefined ? {} : { why: (why as Error).message.slice(0, 200) }),
        servers: known?.state ?? [],
        under_way: known?.under_way ?? 0,
        tenants: facts?.tenants ?? null,
        moving: facts?.moving ?? [],
      };
    }),
  };
}

/** By id, each with its cell; cells that are away are named beside. */
export async function tellTenants(cells: readonly Cell[], { url = "" }: IncomingMessage) {
  const query = new URLSearchParams(url.includes("?") ? url.slice(url.indexOf("?")) : "");
  const most = Math.min(Math.max(Number(query.get("limit") ?? 100) || 100, 1), 1000);
  const cursor = query.get("cursor");
  const { answers, away } = await askAll(cells, ({ db }) =>
    inTime(asked<TenantPage>(db.sql`select app.list_tenants(${most}::int, ${cursor}::text) as reply`)),
  );
  const all = answers
    .flatMap(({ cell, answer }) => answer.tenants.map((tenant) => ({ ...tenant, cell: cell.name })))
    .sort((one, other) => (one.tenant_id < other.tenant_id ? -1 : one.tenant_id > other.tenant_id ? 1 : 0));
  // Those of one id stand together on a page: each cell has a tenant "default".
  const last = all[most - 1]?.tenant_id;
  const page = last === undefined ? all : all.filter(({ tenant_id }) => tenant_id <= last);
  const more = all.length > page.length || answers.some(({ answer }) => answer.next !== null);
  return {
    tenants: page,
    next: more ? (page.at(-1)?.tenant_id ?? null) : null,
    away: away.map(({ cell }) => cell.name),
  };
}
