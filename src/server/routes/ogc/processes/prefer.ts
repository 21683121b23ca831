// The header Prefer (RFC 7240), as far as executing goes: respond-async, respond-sync, wait=seconds. What is not understood is left alone.
export interface Prefer {
  async: boolean;
  /** null: not said. */
  wait_s: number | null;
}

export function readPrefer(header: string | string[] | undefined): Prefer {
  const words = [header ?? ""]
    .flat()
    .join(",")
    .split(",")
    .map((word) => word.split(";")[0]!.trim().toLowerCase());
  const wait = words.map((word) => /^wait\s*=\s*"?(\d{1,6})"?$/.exec(word)?.[1]).find((found) => found !== undefined);
  return { async: words.includes("respond-async"), wait_s: wait === undefined ? null : Number(wait) };
}
