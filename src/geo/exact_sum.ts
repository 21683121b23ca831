// Sums of floating point numbers without the error of adding them one by one. Pure.

/** Shewchuk's: the sum of all, rounded once, whatever their order. */
export function exactSum(values: Iterable<number>): number {
  const parts: number[] = [];
  for (const value of values) {
    let x = value;
    let kept = 0;
    for (let part of parts) {
      if (Math.abs(x) < Math.abs(part)) [x, part] = [part, x];
      const high = x + part;
      const low = part - (high - x);
      if (low !== 0) parts[kept++] = low;
      x = high;
    }
    parts.length = kept;
    parts.push(x);
  }
  let at = parts.length - 1;
  if (at < 0) return 0;
  let high = parts[at]!;
  let low = 0;
  while (at > 0) {
    const x = high;
    const y = parts[--at]!;
    high = x + y;
    low = y - (high - x);
    if (low !== 0) break;
  }
  // Halfway cases go the way of what is left below.
  if (at > 0 && ((low < 0 && parts[at - 1]! < 0) || (low > 0 && parts[at - 1]! > 0))) {
    const twice = low * 2;
    const next = high + twice;
    if (twice === next - high) high = next;
  }
  return high;
}
