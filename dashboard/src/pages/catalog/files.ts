// Sizes and checksums of files, as items tell them. Pure.

export function bytesText(bytes: unknown): string {
  if (typeof bytes !== "number" || !Number.isFinite(bytes) || bytes < 0) return "–";
  const units = ["B", "KB", "MB", "GB", "TB"];
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value.toLocaleString("en-US", { maximumFractionDigits: unit === 0 || value >= 100 ? 0 : 1 })} ${units[unit]}`;
}

/** A multihash as STAC writes it: 1220 and 64 digits is sha256. Others are told as they are. */
export function checksumText(value: unknown): string | null {
  if (typeof value !== "string" || !/^[0-9a-f]{6,300}$/i.test(value)) return null;
  return /^1220[0-9a-f]{64}$/i.test(value) ? `sha256:${value.slice(4)}` : `multihash:${value}`;
}
