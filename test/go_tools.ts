// Programs in Go as independent judges: built once in a cache outside the repository. Where there is no Go, or its proxy cannot be reached,
// tests are skipped with the reason.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const patience_ms = 1_200_000;

interface GoTool {
  module: string;
  version: string;
  /** Below the module, where its `main` is. */
  folder: string;
  /** Lines of go.sum for a module that the public database of checksums does not answer for. */
  sums?: readonly string[];
}

// Asked for by `go install`, the proxy would have to know the latest versions; it knows these.
export const go_pmtiles: GoTool = { module: "github.com/protomaps/go-pmtiles", version: "v1.28.0", folder: "" };

export const gpq: GoTool = {
  module: "github.com/planetlabs/gpq",
  version: "v0.21.0",
  folder: "/cmd/gpq",
  sums: [
    "v0.21.0 h1:33wXaxfbMY73aWOeV0W3dU6K6tDXXtKNJ6yBDSOSmhg=",
    "v0.21.0/go.mod h1:Qny/7Ph4az+8KHwsKfOC+7Hi94iS5hFks/ruFi3+GXI=",
  ],
};

/** Where the program is; or, in words, why there is none. */
export async function goTool({ module, version, folder, sums = [] }: GoTool): Promise<{ path: string } | string> {
  const name = module.slice(module.lastIndexOf("/") + 1);
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "fanfold-tests");
  const path = join(cache, `${name}-${version}`);
  if (existsSync(path)) return { path };
  await mkdir(cache, { recursive: true });
  const place = await mkdtemp(join(cache, "go-"));
  try {
    await writeFile(join(place, "go.mod"), `module judge\n\ngo 1.24\n\nrequire ${module} ${version}\n`);
    await writeFile(join(place, "go.sum"), sums.map((line) => `${module} ${line}\n`).join(""));
    const argv = ["build", "-mod=mod", "-buildvcs=false", "-o", name, `${module}${folder}`];
    await run("go", argv, { cwd: place, timeout: patience_ms });
    // It must appear in one piece.
    await rename(join(place, name), path);
    return { path };
  } catch (error) {
    return `${name} cannot be built here: ${String(error).slice(0, 200)}`;
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}
