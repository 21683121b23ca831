// Runs one GDAL program: an array of arguments and never a shell, an environment with nothing of ours in it, limits on memory, time,
// files and their size, no network where the system lets us take it away, and a death with this process or its signal.
import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { Permanent } from "../../../core/errors/errors.js";
import { gdalError } from "./gdal_errors.js";

export interface Program {
  /** Words before the program's own: unshare, setpriv, prlimit, as far as this system has them. */
  wrapper: readonly string[];
  env: Readonly<Record<string, string>>;
}

export interface Run {
  argv: readonly string[];
  /** Where it may leave temporary files: a folder of this attempt. */
  folder: string;
  env?: Readonly<Record<string, string>>;
  stdin?: string;
  signal?: AbortSignal | undefined;
  /** For the error: "the file could not be opened". */
  failing: string;
}

export interface Ran {
  stdout: string;
  stderr: string[];
}

const max_stdout = 64 * 1024 * 1024;
const max_stderr_lines = 50;

export function runProgram(program: Program, run: Run): Promise<Ran> {
  const [command = "", ...args] = [...program.wrapper, ...run.argv];
  const { signal, folder } = run;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const child = spawn(command, args, {
      cwd: folder,
      // In the group of this process, which the worker ends as a whole.
      detached: false,
      shell: false,
      stdio: [run.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      env: { ...program.env, ...run.env, HOME: folder, TMPDIR: folder, CPL_TMPDIR: folder, XDG_DATA_HOME: folder },
    });
    const out: Buffer[] = [];
    const lines = new LastLines();
    let bytes = 0;
    const kill = () => child.kill("SIGKILL");
    signal?.addEventListener("abort", kill, { once: true });
    child.stdout?.on("data", (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > max_stdout) kill();
      else out.push(piece);
    });
    child.stderr?.on("data", (piece: Buffer) => lines.add(piece.toString("utf8")));
    // A program that does not read to the end says why on the other stream.
    child.stdin?.on("error", () => {});
    child.stdin?.end(run.stdin);
    child.on("error", (error: NodeJS.ErrnoException) => {
      signal?.removeEventListener("abort", kill);
      reject(
        new Permanent(`GDAL could not be started (${error.code ?? "unknown"})`, { code: "gdal_missing", cause: error }),
      );
    });
    child.on("close", (code, killed_by) => {
      signal?.removeEventListener("abort", kill);
      const stderr = lines.all();
      if (signal?.aborted) reject(signal.reason);
      else if (code === 0) resolve({ stdout: Buffer.concat(out).toString("utf8"), stderr });
      else reject(failed(run.failing, stderr, killed_by, bytes > max_stdout));
    });
  });
}

/** As a shell would find it; null: nowhere in this PATH. */
export async function placeOfProgram(name: string, path: string): Promise<string | null> {
  for (const folder of path.split(delimiter)) {
    const place = join(folder, name);
    const is_there =
      isAbsolute(folder) &&
      (await access(place, constants.X_OK).then(
        () => true,
        () => false,
      ));
    if (is_there) return place;
  }
  return null;
}

function failed(failing: string, stderr: string[], killed_by: NodeJS.Signals | null, too_much: boolean): Error {
  if (too_much) return new Permanent(`${failing}: GDAL's answer is too long`, { code: "gdal_failed" });
  if (killed_by === "SIGXCPU") {
    return new Permanent(`${failing}: it took more processor time than allowed`, { code: "raster_cpu_limit" });
  }
  if (killed_by === "SIGXFSZ") {
    return new Permanent(`${failing}: the output is larger than allowed`, { code: "raster_too_large" });
  }
  if (killed_by !== null) {
    return new Permanent(`${failing}: GDAL was ended by ${killed_by}`, { code: "gdal_crashed" });
  }
  return gdalError(failing, stderr);
}

/** A broken file can make GDAL complain about every pixel. */
class LastLines {
  private lines: string[] = [];
  private rest = "";

  add(text: string): void {
    const parts = (this.rest + text).split("\n");
    this.rest = (parts.pop() ?? "").slice(0, 2000);
    this.lines = [...this.lines, ...parts.slice(-max_stderr_lines)].slice(-max_stderr_lines);
  }

  all(): string[] {
    return this.rest === "" ? this.lines : [...this.lines, this.rest];
  }
}
