// fanfold export tenant, fanfold tenants remove: a tenant that leaves.
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { package_version } from "../../config.js";
import {
  copyFiles,
  exportTenant,
  placesOfTenant,
  removeTenant,
  tenantToRemove,
} from "../../engine/upkeep/leaving_tenant.js";
import { answer, type Cli, type CliCommand } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { bytes, count } from "../terminal/figures.js";
import { withSession } from "../terminal/session.js";

export function addExport(cli: Cli): void {
  const group = cli.program
    .command("export")
    .summary("write out everything of a tenant")
    .description("Writes out what the service keeps, as lines of JSON.")
    .examples("fanfold export tenant acme --to acme.ndjson --files acme-files");
  group
    .command("tenant")
    .summary("everything of one tenant")
    .description(
      "Writes every row of a tenant to a file, one JSON document in a line: {table, row}; and with --files all its files to a folder.\n" +
        "Keys and sessions are left out. What changes meanwhile is as each page of rows finds it: pause the tenant's work first.",
    )
    .argument("<id>", "the tenant's id")
    .requiredOption("--to <file>", "where the lines go; must not exist")
    .option("--files <folder>", "also copy its files there, by zone")
    .examples(
      "fanfold export tenant acme --to acme.ndjson",
      "fanfold export tenant acme --to acme.ndjson --files acme-files",
    )
    .action((tenant: string, options: { to: string; files?: string }) => writeOut(cli, tenant, options));
}

async function writeOut(cli: Cli, tenant: string, { to, files }: { to: string; files?: string }): Promise<void> {
  await withSession(cli, async ({ engine }) => {
    await engine.tenants.get(tenant);
    const out = createWriteStream(to, { flags: "wx", mode: 0o600 });
    try {
      await once(out, "open");
    } catch (error) {
      throw usage(`${to} cannot be written: ${(error as NodeJS.ErrnoException).code}`, { next: "choose a new file" });
    }
    const tables = new Map<string, number>();
    const head = { fanfold: package_version, tenant_id: tenant, exported_at: new Date().toISOString() };
    out.write(`${JSON.stringify(head)}\n`);
    for await (const line of exportTenant(engine, tenant)) {
      tables.set(line.table, (tables.get(line.table) ?? 0) + 1);
      if (!out.write(`${JSON.stringify(line)}\n`)) await once(out, "drain");
    }
    out.end();
    await once(out, "finish");
    const copied = files === undefined ? null : await copyFiles(engine, tenant, files);
    const rows = [...tables.values()].reduce((sum, n) => sum + n, 0);
    answer(cli, { tenant_id: tenant, to, rows, tables: Object.fromEntries(tables), files: copied }, function* () {
      yield `${count(rows)} rows of ${count(tables.size)} tables are in ${to}`;
      if (copied !== null) yield `${count(copied.files)} files, ${bytes(copied.bytes)}, are in ${files}`;
      yield "keys, sessions and secrets are not among them";
    });
  });
}

export function addRemoveTenant(cli: Cli, tenants: CliCommand): void {
  tenants
    .command("remove")
    .summary("take a tenant away for good, with everything")
    .description(
      "Takes away all rows and files of a tenant: jobs, requests, keys, catalogue, layers, events. Nothing of it may be running. Without\n" +
        "--confirm it only says what would go. It may be broken off and run again. The audit of the default tenant keeps who did it.",
    )
    .argument("<id>", "the tenant's id")
    .option("--confirm <id>", "the tenant's id again: everything of it goes")
    .option("--keep-files", "files stay where they are")
    .option("--reason <text>", "why, for the audit")
    .examples("fanfold tenants remove acme", "fanfold tenants remove acme --confirm acme --reason 'contract ended'")
    .action(async (tenant_id: string, flags: { confirm?: string; keepFiles?: boolean; reason?: string }) => {
      await withSession(cli, async ({ engine }) => {
        const would = await tenantToRemove(engine, tenant_id);
        if (flags.confirm === undefined) {
          const places = placesOfTenant(engine, tenant_id).map(({ blobs }) => blobs.place);
          return answer(cli, { tenant_id, dry_run: true, ...would, places }, () => [
            `would remove tenant ${tenant_id}: ${count(would.jobs)} jobs, ${count(would.files)} recorded files, and all files in`,
            ...places.map((place) => `  ${place}`),
            `  first:  fanfold export tenant ${tenant_id} --to ${tenant_id}.ndjson --files ${tenant_id}-files`,
            `  then:   fanfold tenants remove ${tenant_id} --confirm ${tenant_id}`,
          ]);
        }
        const { confirm, reason = null, keepFiles: keep_files = false } = flags;
        const on_step = (removed: number) => cli.io.live && cli.io.draw(`${count(removed)} rows removed`);
        const request = { tenant_id, confirm, reason, keep_files, actor: cli.io.user(), on_step };
        const done = await removeTenant(engine, request);
        if (cli.io.live) cli.io.drawn();
        answer(cli, done, () => [`tenant ${tenant_id} is gone, and ${count(done.files)} files with it`]);
      });
    });
}
