// What a helper keeps open for one test file is closed at its end. Test files share a process and its modules, so a hook that a
// helper declares when it is loaded would hold for the first file alone; the one in file_setup.ts is declared for each.
type End = () => unknown;

const ends = new Set<End>();

/** Called at the end of this file and of each after it: a helper says it once, when it is loaded. */
export function atFileEnd(end: End): void {
  ends.add(end);
}

export async function endFile(): Promise<void> {
  for (const end of ends) await end();
}
