// fanfold doctor: gathers facts, has them judged, and prints the findings. Changes nothing.
import type { Config } from "../../config.js";
import { isFanfoldError } from "../../core/errors/errors.js";
import { zone_names } from "../../core/places/zones.js";
import { printable } from "../../core/values/printable.js";
import type { Database } from "../../engine/database/database.js";
import {
  type CheckResult,
  examineDatabase,
  judgeDelivered,
  judgeIsolation,
  judgeNode,
  judgeProof,
  judgeSecretKey,
  judgeStorage,
  judgeZone,
} from "../../engine/schema/diagnosis.js";
import { proveFiles, settingOf } from "../../engine/upkeep/file_proof.js";
import { Assets } from "../../engine/verbs/assets.js";
import { fileProblem } from "../../engine/verbs/delivered_files.js";
import { blobsOf, openLargeStore } from "../../storage/open_blobs.js";
import { zoneProblem } from "../../storage/zone_probe.js";
import { Zones } from "../../storage/zones.js";
import { fence_words, findFence } from "../../worker/isolation/fence.js";
import { answer, type Cli } from "../terminal/command.js";
import { exit_codes, explain } from "../terminal/failure.js";
import { configOf } from "../terminal/session.js";
import { colours } from "../terminal/view.js";
import { openBare } from "./migrate.js";
import { safeUrl } from "./up.js";

export function addDoctor(cli: Cli): void {
  cli.program
    .command("doctor")
    .summary("find out what is wrong, and what to do")
    .description(
      "Checks this machine, the zones and the database: reachable, version, schema, roles, row-level security, clock,\n" +
        "connections, workers.\n" +
        "Every line is ok, warn or fail, with what to do. Exit code 0 without a fail, 5 when the database is out of reach, else 1.",
    )
    .examples("fanfold doctor", "fanfold doctor --json | jq '.findings[] | select(.level != \"ok\")'")
    .action(() => doctor(cli));
}

async function doctor(cli: Cli): Promise<void> {
  const config = configOf(cli);
  const { isolation_user } = config;
  const fence = await findFence(isolation_user);
  const findings = [
    judgeNode(process.version),
    judgeIsolation(isolation_user, fence, fence_words[fence.kind]),
    await examineStorage(config),
    ...(await examineZones(config)),
  ];
  let reachable = true;
  try {
    findings.push(...(await examine(cli, config)));
  } catch (error) {
    reachable = false;
    const { what, why, next } = explain(error);
    const message = why ? `${what}: ${why}` : what;
    findings.push({ name: "database", level: "fail", message, fix: next ?? "check the connection string" });
  }
  const failed = findings.some((one) => one.level === "fail");
  if (failed) cli.exit_code = reachable ? exit_codes.failed : exit_codes.unusable;
  answer(cli, { ok: !failed, findings }, () => findingLines(findings, cli.io.colour));
}

async function examineStorage(config: Config): Promise<CheckResult> {
  const blobs = blobsOf(placesOf(config).store)!;
  return judgeStorage(blobs, await zoneProblem(blobs));
}

async function examineZones({ zones: settings, tenant }: Config): Promise<CheckResult[]> {
  const zones = new Zones(settings);
  return Promise.all(
    zone_names.map(async (zone) => {
      const store = zones.store(zone, tenant);
      return judgeZone(zone, store, await zoneProblem(store));
    }),
  );
}

async function examine(cli: Cli, config: Config): Promise<CheckResult[]> {
  const { db, close } = await openBare(cli, config);
  try {
    const where =
      config.database_url === undefined ? `embedded, in ${config.database_dir}` : safeUrl(config.database_url);
    const reachable: CheckResult = { name: "database", level: "ok", message: `reachable: ${where}` };
    const secret_key = judgeSecretKey(db.kind, config.secret_keys.length);
    const found = await examineDatabase(db, { catalog: config.catalog });
    const files = found.some(({ name, level }) => name === "schema" && level === "ok")
      ? await examineFiles(db, config)
      : [];
    return [reachable, ...found, ...(secret_key === null ? [] : [secret_key]), ...files];
  } finally {
    await close();
  }
}

/** Whether this machine sees the files that the others see, and what jobs delivered. */
async function examineFiles(db: Database, config: Config): Promise<CheckResult[]> {
  if (db.kind === "embedded") return [];
  const { zones, store } = placesOf(config);
  const { tenant } = config;
  try {
    const proofs = await proveFiles({ db, tenant, zones, store }, { leave: false });
    const { assets } = await new Assets(db, tenant, zones).list({ limit: 50 });
    const problems = await Promise.all(assets.map((asset) => fileProblem(asset, { zones, tenant })));
    const delivered = judgeDelivered(
      assets.length,
      problems.filter((problem) => problem !== null),
    );
    return [...proofs.map((proof) => judgeProof(proof, settingOf(proof.place))), delivered];
  } catch (error) {
    // A login that is tied to no tenant sees no files; that it is tied to none is told above.
    if (isFanfoldError(error) && error.code === "forbidden") return [];
    throw error;
  }
}

function placesOf({ zones: settings, storage_dir }: Config) {
  const zones = new Zones(settings);
  const places = zone_names.map((zone) => zones.place(zone));
  return { zones, store: openLargeStore(storage_dir, settings, places) };
}

function* findingLines(findings: readonly CheckResult[], colour: boolean): Generator<string> {
  const c = colours(colour);
  const paint = { ok: c.green, warn: c.yellow, fail: c.red };
  for (const { name, level, message, fix } of findings) {
    yield `${paint[level](level.padEnd(4))}  ${name.padEnd(14)}${printable(message)}`;
    if (fix) yield `${" ".repeat(20)}${printable(fix)}`;
  }
  const bad = findings.filter((one) => one.level === "fail").length;
  const doubtful = findings.filter((one) => one.level === "warn").length;
  yield bad + doubtful === 0 ? "all is well" : `${bad} to repair, ${doubtful} to look at`;
}
