// fanfold doctor: gathers facts, has them judged, and prints the findings. Changes nothing.
import type { Config } from "../../config.js";
import { zone_names } from "../../core/places/zones.js";
import { printable } from "../../core/values/printable.js";
import {
  type CheckResult,
  examineDatabase,
  judgeFolder,
  judgeIsolation,
  judgeNode,
  judgeSecretKey,
  judgeZone,
} from "../../engine/schema/diagnosis.js";
import { writeProblem } from "../../storage/writable.js";
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
    judgeFolder("storage", config.storage_dir, await writeProblem(config.storage_dir)),
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
    return [reachable, ...found, ...(secret_key === null ? [] : [secret_key])];
  } finally {
    await close();
  }
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
