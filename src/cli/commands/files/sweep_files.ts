// fanfold files sweep: what attempts that did not finish have left in zones and storage; shown, and removed when told to.
import { pino } from "pino";
import type { Problem } from "../../../core/errors/problems.js";
import { FileSweep, type Leftover } from "../../../engine/upkeep/file_sweep.js";
import { blobsOf } from "../../../storage/open_blobs.js";
import { answer, type Cli, type CliCommand } from "../../terminal/command.js";
import { usage } from "../../terminal/failure.js";
import { bytes, count } from "../../terminal/figures.js";
import { positiveSeconds } from "../../terminal/options.js";
import { type Session, withSession } from "../../terminal/session.js";
import { table } from "../../terminal/summary.js";

export function addFilesSweep(cli: Cli, files: CliCommand): void {
  files
    .command("sweep")
    .summary("find leftovers, and remove them")
    .description(
      "Finds files of attempts that did not finish, of results that nothing names, and retracted ones that are still there.\n" +
        "Shows them; with --remove they go. Files that people put there are never among them. Workers and servers do the same\n" +
        "every few hours.",
    )
    .option("--remove", "remove what was found")
    .option("--older-than <hours>", "only what is at least so old (default: FANFOLD_LEFTOVERS_AFTER_H or 24)")
    .option("--all-tenants", "of every tenant, not only of --tenant")
    .examples(
      "fanfold files sweep",
      "fanfold files sweep --remove",
      "fanfold files sweep --older-than 72 --all-tenants --json",
    )
    .action(async (options: { remove?: boolean; olderThan?: string; allTenants?: boolean }) => {
      const problems: Problem[] = [];
      const hours = positiveSeconds("--older-than", options.olderThan, problems);
      if (hours !== undefined && hours < 1) {
        problems.push({
          path: "--older-than",
          problem: "is less than an hour: a task may still be writing",
          fix: "--older-than 1",
        });
      }
      if (problems.length > 0) throw usage("files cannot be swept", { problems });
      await withSession(cli, (session) => sweep(cli, session, options, hours));
    });
}

async function sweep(
  cli: Cli,
  { engine, config }: Session,
  { remove = false, allTenants = false }: { remove?: boolean; allTenants?: boolean },
  hours: number | undefined,
): Promise<void> {
  const failures: string[] = [];
  const log = pino({ level: "warn" }, { write: (text: string) => void failures.push(text) });
  const { db, zones, shared_store } = engine;
  const results = blobsOf(shared_store);
  const sweeping = new FileSweep({ db, zones, log, results, older_than_h: hours ?? config.leftovers_after_h });
  const dry_run = !remove;
  const tenants = allTenants ? await allOf(engine) : [engine.tenant];
  const found: Leftover[] = [];
  for (const tenant of tenants) {
    found.push(...(await sweeping.retracted({ dry_run, tenant })));
    for (const zone of ["silver", "gold"] as const)
      found.push(...(await sweeping.zone(tenant, zone, { dry_run })).found);
    found.push(...(await sweeping.uploads(tenant, { dry_run })).found);
    found.push(...(await sweeping.results(tenant, { dry_run })).found);
  }
  if (failures.length > 0) cli.exit_code = 1;
  const sum = found.reduce((total, one) => total + one.bytes, 0);
  answer(cli, { dry_run, leftovers: found, bytes: sum, not_removed: failures.length }, function* () {
    if (found.length === 0) return yield "no leftovers";
    const rows = found.map(({ why, bytes: size, zone, key, tenant_id }) => [
      why,
      bytes(size),
      tenant_id,
      `${zone}:${key}`,
    ]);
    yield* table(["WHY", "SIZE", "TENANT", "FILE"], rows, cli.io.width());
    const end = dry_run ? "; remove them: fanfold files sweep --remove" : " removed";
    yield `${count(found.length)} leftovers, ${bytes(sum)}${end}`;
    if (failures.length > 0) yield `${count(failures.length)} could not be removed; they are tried again`;
  });
}

async function allOf({ tenants }: Session["engine"]): Promise<string[]> {
  const all: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const page: Awaited<ReturnType<typeof tenants.list>> = await tenants.list({ limit: 1000, cursor });
    all.push(...page.tenants.map(({ tenant_id }) => tenant_id));
    if (page.next === null) return all;
    cursor = page.next;
  }
}
