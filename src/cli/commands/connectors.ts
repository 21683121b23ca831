// fanfold connectors: a tenant's configurations of connectors, and the hosts they call.
import type { Problem } from "../../core/errors/problems.js";
import { printable } from "../../core/values/printable.js";
import type { ConnectorConfig, HostRecord } from "../../engine/verbs/connectors.js";
import { answer, type Cli, type CliCommand } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { gatherParameters } from "../terminal/parameters.js";
import { withSession } from "../terminal/session.js";
import { moment, table, tableAndText } from "../terminal/summary.js";

export function addConnectors(cli: Cli): void {
  const connectors = cli.program
    .command("connectors")
    .summary("configure connectors, and see the hosts they call")
    .description(
      "What connectors (http.request and your own) are configured with, by name, and the state of the hosts.",
    )
    .examples(
      "fanfold connectors set http.request crm base_url=https://crm.example.com",
      "fanfold connectors list",
      "fanfold connectors hosts",
    );
  addList(cli, connectors);
  addSet(cli, connectors);
  addRemove(cli, connectors);
  addHosts(cli, connectors);
}

function addList(cli: Cli, connectors: CliCommand): void {
  connectors
    .command("list", { isDefault: true })
    .summary("list configurations")
    .description("Lists configurations, of one connector or of all. They hold references to secrets, never values.")
    .argument("[connector]", "only of this one, for example http.request")
    .examples("fanfold connectors list", "fanfold connectors list http.request --json")
    .action((connector: string | undefined) =>
      withSession(cli, async ({ engine }) => {
        const found = await engine.connectors.list(connector);
        answer(cli, { connectors: found }, () => configLines(found, cli.io.width()));
      }),
    );
}

function* configLines(found: readonly ConnectorConfig[], width: number): Generator<string> {
  if (found.length === 0) {
    yield "no connector is configured";
    yield "  set one: fanfold connectors set http.request crm base_url=https://crm.example.com";
    return;
  }
  const rows = found.map(({ connector, name, updated_at, config }) => ({
    cells: [connector, name, moment(updated_at)],
    text: printable(JSON.stringify(config)),
  }));
  yield* tableAndText(["CONNECTOR", "NAME", "SET"], rows, width);
}

function addSet(cli: Cli, connectors: CliCommand): void {
  connectors
    .command("set")
    .summary("write a configuration")
    .description(
      "Writes a configuration, new or in place of the old one of that name. Secrets are given by reference (secret://name):\n" +
        "the worker finds the value in FANFOLD_SECRET_<TENANT>__<NAME>, in FANFOLD_SECRETS_DIR, or in its vault.",
    )
    .argument("<connector>", "for example http.request")
    .argument("<name>", "what tasks give as config")
    .argument("[pairs...]", "key=value; JSON values are taken as JSON, a.b=1 is nested")
    .option("--parameters <json>", "the configuration as JSON text, @file.json, or - for standard input")
    .examples(
      "fanfold connectors set http.request crm base_url=https://crm.example.com/v1 headers.authorization='Bearer secret://crm_key'",
      "fanfold connectors set http.request crm --parameters @crm.json limits.max_concurrent=4 limits.rate_per_s=10",
    )
    .action(async (connector: string, name: string, pairs: string[], options: { parameters?: string }) => {
      const problems: Problem[] = [];
      const config = await gatherParameters(cli.io, pairs, options.parameters, problems);
      if (problems.length > 0) {
        throw usage("this configuration cannot be read", { problems, next: "fanfold connectors set --help" });
      }
      await withSession(cli, async ({ engine }) => {
        const set = await engine.connectors.set(connector, name, config, cli.io.user());
        answer(cli, set, () => [
          `${set.connector} has the configuration ${set.name}`,
          `  use it: fanfold tasks enqueue connector.${set.connector} config=${set.name} …`,
        ]);
      });
    });
}

function addRemove(cli: Cli, connectors: CliCommand): void {
  connectors
    .command("remove")
    .summary("remove a configuration")
    .description("Removes a configuration. Tasks that name it fail from now on.")
    .argument("<connector>", "for example http.request")
    .argument("<name>", "its name")
    .examples("fanfold connectors remove http.request crm")
    .action((connector: string, name: string) =>
      withSession(cli, async ({ engine }) => {
        const removed = await engine.connectors.remove(connector, name, cli.io.user());
        answer(cli, removed, () => [`removed ${removed.name} of ${removed.connector}`]);
      }),
    );
}

function addHosts(cli: Cli, connectors: CliCommand): void {
  connectors
    .command("hosts")
    .summary("what was called lately, the troubled first")
    .description(
      "Lists hosts, and configurations whose calls share limits: calls under way, and whether the circuit is open.",
    )
    .examples("fanfold connectors hosts")
    .action(() =>
      withSession(cli, async ({ engine }) => {
        const hosts = await engine.connectors.hosts();
        answer(cli, { hosts }, () => hostLines(hosts, cli.io.width()));
      }),
    );
}

function hostLines(hosts: readonly HostRecord[], width: number): Iterable<string> {
  if (hosts.length === 0) return ["nothing was called lately"];
  const rows = hosts.map(({ scope, breaker, open_until, wait_until, calls, failed_count, ok_count, used_at }) => [
    printable(scope, 80),
    breaker,
    moment(open_until ?? wait_until),
    String(calls),
    `${ok_count}`,
    `${failed_count}`,
    moment(used_at),
  ]);
  return table(["HOST", "CIRCUIT", "WAITS UNTIL", "CALLS", "OK", "FAILED", "USED"], rows, width);
}
