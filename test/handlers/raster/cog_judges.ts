// Whoever else may say what a COG is: rio-cogeo in strict mode and GDAL's own validate_cloud_optimized_geotiff, beside our own check.
// Judges that cannot be had (see python_tools.ts, gdal_bin.ts) have a reason why not.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { checkCogFile } from "../../../src/geo/cog_check.js";
import { gdalPython } from "../../gdal_bin.js";
import { readerOf } from "../../geo/open.js";
import { rioCogeo, runScript } from "../../python_tools.js";

export interface Verdict {
  valid: boolean;
  errors: unknown[];
  warnings: unknown[];
}
export type Judge = (files: string[]) => Promise<Verdict[]>;

const rio_cogeo = await rioCogeo();
const gdal_python = await gdalPython();
const gdal_script = fileURLToPath(new URL("./python/gdal_verdicts.py", import.meta.url));

export const judges: [name: string, judge: Judge, why_not: string | null][] = [
  ["our own check", (files) => Promise.all(files.map(ownVerdict)), null],
  [
    "rio-cogeo in strict mode",
    async (files) => {
      if (typeof rio_cogeo === "string") throw new Error(rio_cogeo);
      return (await rio_cogeo.run<{ verdicts: Verdict[] }>("rio_cogeo_verdicts.py", files)).verdicts;
    },
    typeof rio_cogeo === "string" ? rio_cogeo : null,
  ],
  [
    "GDAL's validate_cloud_optimized_geotiff",
    async (files) => {
      if (typeof gdal_python === "string") throw new Error(gdal_python);
      return (await runScript<{ verdicts: Verdict[] }>(gdal_python.python, [gdal_script], files)).verdicts;
    },
    typeof gdal_python === "string" ? gdal_python : null,
  ],
];
for (const [name, , why_not] of judges) {
  if (why_not !== null) process.stderr.write(`${name}: skipped, because ${why_not}\n`);
}

async function ownVerdict(file: string): Promise<Verdict> {
  const bytes = await readFile(file);
  return checkCogFile(readerOf(bytes), bytes.length, { strict: true });
}

/** Not even a warning. */
export function isClean({ valid, errors, warnings }: Verdict): boolean {
  return valid && errors.length + warnings.length === 0;
}
