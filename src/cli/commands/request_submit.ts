// fanfold requests submit: files of this machine go into bronze first, with a bar; then the request is made, here or at a service.
import { openAsBlob } from "node:fs";
import { stat as lookAt } from "node:fs/promises";
import path from "node:path";
import type { Problem } from "../../core/errors/problems.js";
import { parseZoneRef } from "../../core/places/zones.js";
import type { RequestSubmit, SubmittedRequest } from "../../engine/verbs/requests.js";
import { Measured, piecesOfFile } from "../../storage/blob_store.js";
import { readableProblem } from "../../storage/keys.js";
import { Bar } from "../terminal/bar.js";
import { answer, type Cli, type CliCommand } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { zonesOf } from "../terminal/files_refs.js";
import { positiveSeconds, priorityOf } from "../terminal/options.js";
import { followRequest } from "../terminal/request_view.js";
import { configOf, type Session, withSession } from "../terminal/session.js";

interface Flags {
  dataset?: string;
  resource?: string;
  versionId?: string;
  dataType?: string;
  parameters?: string;
  client?: string;
  force?: boolean;
  resume?: boolean;
  priority?: string;
  dryRun?: boolean;
  wait?: boolean;
  timeout?: string;
  url?: string;
}

export function addRequestSubmit(cli: Cli, requests: CliCommand): void {
  requests
    .command("submit")
    .summary("ask for a dataset to be processed; files of this machine are brought along")
    .description(
      "Submits a request. Files are places such as bronze:scene.tif, or files of this machine, which go into bronze below\n" +
        "requests/<dataset>/<resource>/<version>/ first. The same request sent twice is one request.",
    )
    .argument("[files...]", "bronze:scene.tif, or ./scene.tif of this machine")
    .requiredOption("--dataset <id>", "the dataset")
    .requiredOption("--resource <id>", "the resource within it")
    .requiredOption("--version-id <id>", "the version of the resource")
    .option("--data-type <type>", "which recipe; found from the files when left out")
    .option("--parameters <json>", "as the recipe declares them")
    .option("--client <id>", "which system asks")
    .option("--priority <number>", "higher runs first")
    .option("--force", "process it again, as its next run")
    .option("--resume", "go on with what failed")
    .option("--dry-run", "say which recipe, jobs and names it would be, and do nothing")
    .option("-w, --wait", "follow it to its end and exit with its outcome")
    .option("--timeout <seconds>", "with --wait: stop waiting (exit 124); the request goes on")
    .option("--url <address>", "to the service there, with the key in FANFOLD_KEY")
    .examples(
      "fanfold requests submit ./scene.tif --dataset dem --resource alps --version-id 1 --wait",
      "fanfold requests submit bronze:a.tif bronze:b.tif --dataset dem --resource alps --version-id 2 --dry-run",
    )
    .action(async (files: string[], flags: Flags) => {
      const { request, local, timeout_s } = await read(cli, files, flags);
      if (flags.url !== undefined) await sendToService(cli, request, local, flags);
      else await submitHere(cli, request, local, flags, timeout_s);
    });
}

interface Local {
  file: string;
  key: string;
  bytes: number;
}

async function read(cli: Cli, files: readonly string[], flags: Flags) {
  const problems: Problem[] = [];
  const timeout_s = positiveSeconds("--timeout", flags.timeout, problems);
  if (timeout_s !== undefined && flags.wait !== true)
    problems.push({ path: "--timeout", problem: "only limits --wait", fix: "add --wait" });
  if (flags.force === true && flags.resume === true)
    problems.push({ path: "--force", problem: "stands beside --resume", fix: "give one of the two" });
  const priority = priorityOf(flags.priority, problems);
  const parameters = parametersOf(flags.parameters, problems);
  const { dataset = "", resource = "", versionId = "" } = flags;
  const folder = ["requests", dataset, resource, versionId]
    .map((part) => part.replaceAll(/[^A-Za-z0-9._-]+/g, "-"))
    .join("/");
  const local: Local[] = [];
  const refs: string[] = [];
  for (const file of files) {
    if (parseZoneRef(file) !== null || /^https?:/.test(file)) {
      refs.push(file);
      continue;
    }
    const found = await lookAt(path.resolve(cli.io.cwd, file)).catch(() => null);
    const key = `${folder}/${path.basename(file)}`;
    const problem = found === null ? "there is no such file" : found.isFile() ? readableProblem(key) : "is not a file";
    if (problem !== null) problems.push({ path: file, problem, fix: "name a file of this machine, or bronze:key" });
    else local.push({ file: path.resolve(cli.io.cwd, file), key, bytes: found!.size });
    refs.push(`bronze:${key}`);
  }
  if (problems.length > 0) throw usage("this request cannot be submitted", { problems });
  const mode = flags.force === true ? "force" : flags.resume === true ? "resume" : undefined;
  const request: RequestSubmit = {
    dataset_id: dataset,
    resource_id: resource,
    version_id: versionId,
    ...(refs.length === 0 ? {} : { files: refs }),
    ...(flags.dataType === undefined ? {} : { data_type: flags.dataType }),
    ...(parameters === undefined ? {} : { parameters }),
    ...(flags.client === undefined ? {} : { client_id: flags.client }),
    ...(priority === undefined ? {} : { priority }),
    ...(mode === undefined ? {} : { mode }),
  };
  return { request, local, timeout_s };
}

function parametersOf(text: string | undefined, problems: Problem[]): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Told below.
  }
  problems.push({ path: "--parameters", problem: "is not a JSON object", fix: `--parameters '{"approval": true}'` });
  return undefined;
}

async function submitHere(
  cli: Cli,
  request: RequestSubmit,
  local: readonly Local[],
  flags: Flags,
  timeout_s: number | undefined,
) {
  if (flags.dryRun !== true) await bring(cli, local);
  await withSession(
    cli,
    async (session: Session) => {
      if (flags.dryRun === true) {
        const would = await session.engine.requests.dryRun(request);
        answer(cli, would, () => [
          `would ${would.would}  ${would.request_id}  ${would.data_type}, run ${would.run}; nothing was changed`,
          ...would.jobs.map(
            (job) =>
              `  ${job.sequence}. ${job.name}  ${job.job_type}${job.gate === null ? "" : `  after approval: ${job.gate}`}`,
          ),
          ...would.problems.map(({ path: where, problem }) => `  ${where} ${problem}`),
        ]);
        return;
      }
      const reply = await session.engine.requests.submit(request, { actor: cli.io.user() ?? undefined });
      if (flags.wait === true) {
        cli.exit_code = await followRequest(cli, session, reply.request_id, { timeout_s, stream: false });
        return;
      }
      told(cli, reply);
    },
    { needs_catalog: true },
  );
}

function told(cli: Cli, reply: SubmittedRequest): void {
  answer(cli, reply, () => [
    `${reply.created ? "submitted" : reply.resumed ? "resumed" : "exists already"}  ${reply.request_id}  ${reply.data_type}, ${reply.status}`,
    `  follow it: fanfold requests watch ${reply.request_id.slice(0, 12)}`,
  ]);
}

async function bring(cli: Cli, local: readonly Local[]): Promise<void> {
  if (local.length === 0) return;
  const { zones, tenant } = zonesOf(cli);
  const store = zones.store("bronze", tenant);
  const bar = new Bar(
    cli,
    local.length,
    local.reduce((sum, { bytes }) => sum + bytes, 0),
  );
  for (const { file, key, bytes } of local) {
    bar.begin(file);
    await store.write(key, bar.counted(piecesOfFile(file)), { bytes });
  }
  bar.end();
}

async function sendToService(cli: Cli, request: RequestSubmit, local: readonly Local[], flags: Flags): Promise<void> {
  const { api_key } = configOf(cli);
  if (api_key === undefined)
    throw usage("nothing was sent", {
      problems: [{ path: "FANFOLD_KEY", problem: "is not set", fix: "a key with the scopes submit and read" }],
    });
  const { createClient } = await import("../../client/index.js");
  const client = createClient({ url: flags.url as string, key: api_key });
  if (flags.dryRun === true) {
    const would = await client.requests.dryRun(request);
    answer(cli, would, () => [
      `would ${String(would.would)}  ${String(would.request_id)}  ${String(would.data_type)}; nothing was changed`,
    ]);
    return;
  }
  const bar = new Bar(
    cli,
    local.length,
    local.reduce((sum, { bytes }) => sum + bytes, 0),
  );
  for (const { file, key } of local) {
    bar.begin(file);
    const measured = new Measured(piecesOfFile(file));
    for await (const _ of measured);
    const options = { key, sha256: measured.sha256, overwrite: true };
    await client.upload(await openAsBlob(file), { ...options, onProgress: (so_far) => bar.at(so_far) });
    bar.next();
  }
  bar.end();
  const reply = await client.requests.submit(request);
  if (flags.wait !== true) return told(cli, reply);
  const ended = await client.requests.wait(reply.request_id);
  answer(cli, ended, () => [
    `${ended.status}  ${ended.request_id}`,
    ...(ended.result_data?.services ?? []).map(({ name, href }) => `  ${name}  ${href}`),
  ]);
  cli.exit_code = ended.status === "completed" ? 0 : ended.status === "partial_success" ? 3 : 1;
}
