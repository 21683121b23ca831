// System GDAL for tests: the one that is there, or Debian's packages where those can be installed (as root, within two minutes). Without
// it the tests that need it are skipped, and their names say so.
import { installed, works } from "./debian_package.js";

export interface SystemGdal {
  available: boolean;
  /** For the names of tests that are skipped. */
  why_not: string;
}

let asked: Promise<SystemGdal> | undefined;

export function systemGdal(): Promise<SystemGdal> {
  asked ??= installed("gdal-bin", () => works("gdalinfo", ["--version"])).then((why_not) => ({
    available: why_not === null,
    why_not: why_not ?? "",
  }));
  return asked;
}

/** A Python that has GDAL's own scripts; or why there is none. */
export async function gdalPython(): Promise<{ python: string } | string> {
  const why_not = await installed("python3-gdal", async () => (await foundPython()) !== null);
  return why_not ?? { python: (await foundPython())! };
}

/** The system's first: another before it in PATH does not see what Debian installs. */
async function foundPython(): Promise<string | null> {
  const needs = "import osgeo.gdal, osgeo_utils.samples.validate_cloud_optimized_geotiff";
  for (const python of ["/usr/bin/python3", "python3"]) if (await works(python, ["-c", needs])) return python;
  return null;
}
