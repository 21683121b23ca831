// fanfold serve: the HTTP API, until it is told to stop.
import { package_version } from "../../config.js";
import type { Problem } from "../../core/errors/problems.js";
import { printable } from "../../core/values/printable.js";
import { lease_limits } from "../../core/values/setting_values.js";
import { answer, type Cli, globals } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { note } from "../terminal/io.js";
import { wholeNumber } from "../terminal/options.js";
import {
  httpDocument,
  httpLines,
  SERVER_POOL,
  serveHttp,
  together,
  untilTold,
  warnWithoutSecretKey,
  workerBeside,
} from "../terminal/serving.js";
import { withSession } from "../terminal/session.js";
import { addWaitOption, on_alert_words, safeUrl, waitOf } from "./up.js";

interface ServeOptions {
  host?: string;
  port?: string;
  worker?: boolean;
  slots?: string;
  lease?: string;
  memory?: string;
  waitForDatabase?: string;
  onAlert?: string;
  cells?: string;
}

export function addServe(cli: Cli): void {
  const command = cli.program
    .command("serve")
    .summary("serve the HTTP API")
    .description(
      "Answers the HTTP API until it is stopped, on the server of DATABASE_URL or on the embedded database. The schema must be\n" +
        "current (fanfold migrate), and the role neither a superuser nor the owner of the tables. SIGTERM or Ctrl-C: calls that\n" +
        "run are answered first; a second one: at once.",
    )
    .option("--host <address>", "listen on this address (default: FANFOLD_HOST or 127.0.0.1)")
    .option("--port <number>", "listen on this port, 0 for any (default: FANFOLD_PORT or 8080)")
    .option("--worker", "run a worker in this process too")
    .option("--cells <file>", "no API of its own: one address before the cells that the file names (fanfold cells)")
    .option("--slots <number>", "with --worker: how many tasks run at the same time (default 8)")
    .option("--on-alert <url>", on_alert_words)
    .option(
      "--lease <seconds>",
      "with --worker: for how long a worker that is not heard of keeps its tasks (default 30)",
    )
    .option(
      "--memory <MB>",
      "with --worker: what its isolated tasks may declare together (default: 75 % of this machine's)",
    );
  addWaitOption(command)
    .examples(
      "fanfold serve",
      "fanfold serve --host 0.0.0.0 --port 80",
      "fanfold serve --worker",
      "fanfold serve --cells cells.json",
    )
    .action((options: ServeOptions) => serve(cli, options));
}

async function serve(cli: Cli, options: ServeOptions): Promise<void> {
  const problems: Problem[] = [];
  const port = wholeNumber("--port", options.port, 0, 65_535, problems);
  const slots = wholeNumber("--slots", options.slots, 1, 10_000, problems);
  const lease_s = wholeNumber("--lease", options.lease, lease_limits.least, lease_limits.most, problems);
  const worker_memory_mb = wholeNumber("--memory", options.memory, 1, 2 ** 31 - 1, problems);
  const wait_for_database_s = waitOf(options, problems);
  if (options.cells !== undefined) {
    const beside = ["worker", "slots", "lease", "memory"].filter((name) => name in options);
    for (const name of beside)
      problems.push({ path: `--${name}`, problem: "does not go with --cells", fix: "workers belong to the cells" });
  }
  if (problems.length > 0) throw usage("the server cannot start", { problems });
  if (options.cells !== undefined) {
    const { serveCells } = await import("./cells/cells.js");
    return serveCells(cli, options.cells, { host: options.host, port });
  }
  await withSession(
    cli,
    async (session) => {
      const { engine, config } = session;
      warnWithoutSecretKey(cli.io, session);
      await session.proveFiles();
      const with_worker = options.worker === true;
      const serving = await serveHttp("serve", session, !with_worker);
      const worker = with_worker ? await workerBeside(session, serving.server) : null;
      const { kind } = engine.db;
      const where = kind === "embedded" ? `embedded, in ${config.data_dir}` : safeUrl(config.database_url ?? "");
      const document = {
        version: package_version,
        ...httpDocument(serving),
        database: { kind, where },
        worker_id: worker?.worker_id ?? null,
      };
      answer(cli, document, () => [
        `fanfold ${package_version} serves`,
        ...httpLines(serving, kind),
        `  database  ${printable(where)}`,
        worker === null
          ? `  worker    none in this process: ${kind === "server" ? "fanfold up --no-http beside it, or " : ""}fanfold serve --worker`
          : `  worker    ${worker.worker_id}, ${config.slots} slots`,
        "  stop      Ctrl-C (calls that run are answered; again: at once)",
      ]);
      session.showLog();
      const how = await untilTold(cli.io, together([serving.server, worker]), "answering what runs");
      if (!globals(cli).json) note(cli.io, `stopped ${how}`);
    },
    {
      host: options.host,
      port,
      slots,
      lease_s,
      worker_memory_mb,
      on_alert: options.onAlert,
      log: true,
      pool: SERVER_POOL,
      waits: true,
      wait_for_database_s,
    },
  );
}
