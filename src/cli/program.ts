// The command line as a whole: commands, global options, and the one place where errors become words and exit codes.
import { type Command, CommanderError } from "commander";
import { loadConfig, package_version } from "../config.js";
import { didYouMean, quoted } from "../core/errors/problems.js";
import { hideUrlPasswords } from "../log.js";
import { addAlerts } from "./commands/alerts.js";
import { addApprove, addReject } from "./commands/approve.js";
import { addAudit } from "./commands/audit.js";
import { addBlueprints } from "./commands/blueprints.js";
import { addCancel } from "./commands/cancel.js";
import { addCells } from "./commands/cells/cells.js";
import { addChange } from "./commands/change.js";
import { addConnectors } from "./commands/connectors.js";
import { addDashboard } from "./commands/dashboard.js";
import { addDatasets } from "./commands/datasets.js";
import { addDoctor } from "./commands/doctor.js";
import { addErrors } from "./commands/errors.js";
import { addEvents } from "./commands/events.js";
import { addFiles } from "./commands/files/files.js";
import { addGroups } from "./commands/groups.js";
import { addJobs } from "./commands/jobs.js";
import { addKeys } from "./commands/keys.js";
import { addLayers } from "./commands/layers.js";
import { addExport } from "./commands/leaving_tenants.js";
import { addLimits } from "./commands/limits.js";
import { addMigrate } from "./commands/migrate.js";
import { addContinue, addPause } from "./commands/pause.js";
import { addPurge } from "./commands/purge.js";
import { addQueues } from "./commands/queues.js";
import { addReconcile } from "./commands/reconcile.js";
import { addRequests } from "./commands/requests.js";
import { addResume } from "./commands/resume.js";
import { addRetention } from "./commands/retention.js";
import { addRetry } from "./commands/retry.js";
import { addSchedules } from "./commands/schedules/schedules.js";
import { addServe } from "./commands/serve.js";
import { addSkip } from "./commands/skip.js";
import { addStatus } from "./commands/status.js";
import { addSubmit } from "./commands/submit.js";
import { addSweep } from "./commands/sweep.js";
import { addTasks } from "./commands/tasks.js";
import { addTenants } from "./commands/tenants.js";
import { addUp } from "./commands/up.js";
import { addVerify } from "./commands/verify.js";
import { addWatch } from "./commands/watch.js";
import { addWebhooks } from "./commands/webhooks.js";
import { addWhy } from "./commands/why.js";
import { addWork } from "./commands/work.js";
import { addWorkers } from "./commands/workers.js";
import { addDemo } from "./demo/demo.js";
import { type Cli, CliCommand, globals } from "./terminal/command.js";
import { exit_codes, explain, explanationLines, usage } from "./terminal/failure.js";
import { type Io, json, note } from "./terminal/io.js";

/** Runs one command line and returns its exit code. Never throws, never ends the process. */
export async function run(argv: readonly string[], io: Io, env: Cli["env"]): Promise<number> {
  const cli = programWith(io, env);
  for (const command of everyCommand(cli.program))
    command.exitOverride(rememberIn(command)).configureOutput(outputOf(io)).configureHelp(help);
  try {
    refuseUnknown(cli.program, argv);
    await cli.program.parseAsync([...argv], { from: "user" });
    return cli.exit_code;
  } catch (error) {
    return report(cli, argv, error);
  }
}

/** Every command, and nothing run. */
export function programWith(io: Io, env: Cli["env"]): Cli {
  const cli: Cli = { io, program: makeProgram(io), env, exit_code: exit_codes.done };
  for (const [heading, adds] of commands) {
    cli.program.commandsGroup(heading);
    for (const add of adds) add(cli);
  }
  return cli;
}

/** Which command an error of commander's is about: it does not say so itself. */
const commands_of = new WeakMap<CommanderError, Command>();

function rememberIn(command: Command): (error: CommanderError) => never {
  return (error) => {
    commands_of.set(error, command);
    throw error;
  };
}

/** "fanfold webhooks create", as it is typed. */
function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

/** Commander would answer `fanfold sbumit --help` with the help of all, as if that had been asked for. */
function refuseUnknown(program: Command, argv: readonly string[]): void {
  const end = argv.indexOf("--");
  const words = end < 0 ? argv : argv.slice(0, end);
  if (!words.includes("--help") && !words.includes("-h")) return;
  let command = program;
  for (const word of program.parseOptions([...words]).operands) {
    if (command.commands.length === 0 || (command === program && word === "help")) return;
    const found = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (found === undefined) {
      const known = command.commands.map((one) => one.name());
      const close = didYouMean(word, known);
      throw usage(`unknown command ${quoted(word)}${close === null ? "" : ` (did you mean ${close}?)`}`, {
        next: `${nameOf(command)} --help`,
      });
    }
    command = found;
  }
}

/** In the order in which they are met. */
const commands: readonly [string, readonly ((cli: Cli) => void)[]][] = [
  [
    "Run:",
    [addUp, addServe, addWork, addDashboard, addSubmit, addWatch, addRequests, addSchedules, addGroups, addDemo],
  ],
  [
    "Look:",
    [
      addJobs,
      addStatus,
      addWhy,
      addVerify,
      addErrors,
      addEvents,
      addTasks,
      addFiles,
      addDatasets,
      addLayers,
      addAlerts,
      addAudit,
      addWorkers,
      addQueues,
      addBlueprints,
    ],
  ],
  [
    "Act:",
    [
      addResume,
      addRetry,
      addSkip,
      addApprove,
      addReject,
      addPause,
      addContinue,
      addChange,
      addCancel,
      addPurge,
      addSweep,
      addReconcile,
    ],
  ],
  ["Share:", [addTenants, addExport, addCells, addKeys, addLimits, addRetention, addConnectors, addWebhooks]],
  ["Set up:", [addDoctor, addMigrate]],
];

const help = { showGlobalOptions: true, sortSubcommands: false };

function makeProgram(io: Io): CliCommand {
  return new CliCommand("fanfold")
    .description("Fan out. Fold in. Lose nothing. Wide data jobs on nothing but Postgres.")
    .version(package_version, "-V, --version", "print the version")
    .option("--json", "answer in JSON: one document on standard output (watch: one per change)")
    .option("--data-dir <folder>", "folder of the embedded database (default: FANFOLD_DATA_DIR or .fanfold)")
    .option("--database-url <url>", "a Postgres server instead of the embedded database (default: DATABASE_URL)")
    .option("--tenant <name>", "act for this tenant (default: FANFOLD_TENANT or default)")
    .option(
      "--app <module>",
      "module with your own jobs and handlers (default: fanfold.config.ts, .mts, .js or .mjs, the first that is here)",
    )
    .commandsGroup("Set up:")
    .helpCommand("help [command]", "explain a command")
    .showSuggestionAfterError(true)
    .configureOutput(outputOf(io))
    .examples(
      "fanfold demo                            rasters to COGs to a STAC catalogue, live",
      "fanfold submit hello_world n=3 --wait   a first job, start to end",
      "fanfold up                              a worker and the HTTP API, until stopped",
      "fanfold jobs                            what there is",
    )
    .addHelpText(
      "after",
      `Exit codes:
  0 done   1 job failed or cancelled   2 usage, or not possible now
  3 partial success   4 refused   5 database not usable
  124 --timeout   130 detached with Ctrl-C

Without DATABASE_URL an embedded Postgres runs inside the process, in one folder, for one process at a time.
`,
    );
}

/** Errors are worded once, below; commander only prints help and the version. */
function outputOf(io: Io) {
  return {
    writeOut: (text: string) => io.out(text),
    writeErr: (text: string) => io.err(text),
    outputError: () => {},
    getOutHelpWidth: () => io.screen_width(),
    getErrHelpWidth: () => io.screen_width(),
    getOutHasColors: () => io.colour,
    getErrHasColors: () => io.colour,
  };
}

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap((one) => everyCommand(one))];
}

function report(cli: Cli, argv: readonly string[], error: unknown): number {
  // Help and version end as errors in commander; they are answers. A bare `fanfold` has printed the help to stderr.
  if (error instanceof CommanderError && (error.exitCode === 0 || error.code === "commander.help")) {
    return error.exitCode === 0 ? exit_codes.done : exit_codes.usage;
  }
  const explained = explain(error);
  const about = error instanceof CommanderError ? commands_of.get(error) : undefined;
  const explanation = about === undefined ? explained : { ...explained, next: `${nameOf(about)} --help` };
  const { exit_code, ...rest } = explanation;
  // The options may be what could not be parsed, so the wish for JSON is also looked for in the arguments.
  if (globals(cli).json || argv.includes("--json")) json(cli.io, { error: rest });
  else for (const text of explanationLines(explanation)) note(cli.io, text);
  if (wantsStacks(cli) && error instanceof Error) note(cli.io, hideUrlPasswords(error.stack ?? ""));
  return exit_code;
}

function wantsStacks(cli: Cli): boolean {
  try {
    return loadConfig(cli.env).debug;
  } catch {
    return false;
  }
}
