// Whether files can be written to a folder.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** What is wrong, or null. Tries it: rights, quotas, read-only mounts and full disks all show only then. */
export async function writeProblem(folder: string): Promise<string | null> {
  const probe = join(folder, `.fanfold-doctor-${process.pid}`);
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(probe, "probe");
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    await rm(probe, { force: true }).catch(() => {});
  }
}
