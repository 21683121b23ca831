// fanfold demo files: file_digest over thousands of real files on the embedded database, with the live view.
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { printable } from "../../core/values/printable.js";
import type { JobRecord } from "../../engine/verbs/records.js";
import type { Manifest } from "../../handlers/files/manifest.js";
import { answer, type Cli, type CliCommand, globals } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { bytes, count, rate, seconds } from "../terminal/figures.js";
import { line, note } from "../terminal/io.js";
import { withSession } from "../terminal/session.js";
import { exitCodeOf } from "../terminal/summary.js";
import { sayEnd, workAndFollow } from "../terminal/wait.js";

export function addDemoFiles(cli: Cli, demo: CliCommand): void {
  demo
    .command("files")
    .summary("digest thousands of files, live")
    .description(
      "Runs the job file_digest over a folder (default: the installed packages) on an embedded database in a temporary folder\n" +
        "(or in --data-dir, and kept there), shows it live and prints the manifest's summary.",
    )
    .argument("[folder]", "the folder to digest")
    .examples("fanfold demo files", "fanfold demo files ~/pictures --data-dir .fanfold-files")
    .action((folder?: string) => digestFolder(cli, folder));
}

async function digestFolder(cli: Cli, given: string | undefined): Promise<void> {
  const folder = given === undefined ? installedPackages() : path.resolve(cli.io.cwd, given);
  const kept = globals(cli).dataDir;
  const embedded_dir = kept ?? (await mkdtemp(path.join(tmpdir(), "fanfold-demo-")));
  try {
    await digest(cli, folder, embedded_dir);
  } finally {
    if (kept === undefined) await rm(embedded_dir, { recursive: true, force: true });
  }
  if (kept !== undefined && !globals(cli).json) line(cli.io, `kept: fanfold jobs --data-dir ${printable(kept)}`);
}

async function digest(cli: Cli, folder: string, embedded_dir: string): Promise<void> {
  if (!globals(cli).json) note(cli.io, `digesting ${printable(folder)}`);
  await withSession(
    cli,
    async (session) => {
      // Forced, so that a second demo on a kept folder runs instead of showing the first one's end.
      const reply = await session.engine.submit("file_digest", { folder }, { mode: "force" });
      const followed = await workAndFollow(cli, session, reply.job_id, { reply });
      if (followed.status.status !== "completed" && followed.status.status !== "partial_success") {
        cli.exit_code = await sayEnd(cli, session, followed, { reply });
        return;
      }
      cli.exit_code = exitCodeOf(followed.status.status);
      report(cli, followed.status);
    },
    { embedded_dir },
  );
}

function report(cli: Cli, status: JobRecord): void {
  const manifest = status.result as Manifest;
  const began = Date.parse(status.started_at ?? status.created_at);
  const took_s = Math.max(Date.parse(status.finished_at ?? status.now) - began, 1) / 1000;
  const files_per_s = manifest.file_count / took_s;
  const document = { job_id: status.job_id, status: status.status, took_s, files_per_s, manifest };
  answer(cli, document, () => manifestLines(manifest, took_s));
}

function* manifestLines(manifest: Manifest, took_s: number): Generator<string> {
  const files_per_s = rate(manifest.file_count / took_s).replace("/", " files/");
  yield `files        ${count(manifest.file_count)}`;
  yield `total size   ${bytes(manifest.total_bytes)} (${count(manifest.total_bytes)} bytes)`;
  yield `merkle root  ${manifest.merkle_root}`;
  yield `time         ${seconds(took_s)}, ${files_per_s}`;
  if (manifest.missing_count > 0) yield `missing      ${count(manifest.missing_count)} vanished while they were read`;
  if (manifest.failed_count > 0) yield `failed       ${count(manifest.failed_count)} could not be read`;
  if (manifest.unreadable_count > 0) yield `unreadable   ${count(manifest.unreadable_count)} folders or names`;
}

/** The node_modules this package was installed into, or its own when it is developed. */
function installedPackages(): string {
  const root = fileURLToPath(new URL("../../../", import.meta.url));
  const own = path.join(root, "node_modules");
  const around = path.dirname(root.replace(/[/\\]$/, ""));
  if (path.basename(around) === "node_modules") return around;
  if (existsSync(own)) return own;
  throw usage("there are no installed packages to digest", { next: "name a folder: fanfold demo files <folder>" });
}
