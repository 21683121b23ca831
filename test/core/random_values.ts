// Seeded random JSON values for property-style tests: a failure names its seed and can be repeated.

export function random(seed: number): () => number {
  // mulberry32
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const texts = [
  "",
  "a",
  "ä",
  "a\u0301",
  "é",
  "😀",
  "\u{10ffff}",
  "\ue000",
  "\ufb33",
  "\u2028",
  '"',
  "\\",
  "\n",
  "\u0001",
  "toString",
];

export function randomText(next: () => number): string {
  return Array.from({ length: Math.floor(next() * 4) }, () => texts[Math.floor(next() * texts.length)]).join("");
}

export function randomNumber(next: () => number): number {
  const kinds = [
    () => Math.floor(next() * 2 ** 53) * (next() < 0.5 ? 1 : -1),
    () => next() * 10 ** Math.floor(next() * 15 - 7),
    () => next() * 10 ** -Math.floor(next() * 300),
    () => (1 + next()) * 10 ** (21 + Math.floor(next() * 280)),
    () => Math.floor(next() * 10),
  ];
  return kinds[Math.floor(next() * kinds.length)]!();
}

export function randomValue(next: () => number, depth = 0): unknown {
  const kind = Math.floor(next() * (depth > 4 ? 4 : 6));
  if (kind === 0) return null;
  if (kind === 1) return next() < 0.5;
  if (kind === 2) return randomNumber(next);
  if (kind === 3) return randomText(next);
  const length = Math.floor(next() * 5);
  if (kind === 4) return Array.from({ length }, () => randomValue(next, depth + 1));
  return Object.fromEntries(Array.from({ length }, () => [randomText(next), randomValue(next, depth + 1)]));
}

/** The same value with the keys of every object in another order. */
export function shuffled(value: unknown, next: () => number): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, next));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => ({ key, inner, rank: next() }));
  entries.sort((a, b) => a.rank - b.rank);
  return Object.fromEntries(entries.map(({ key, inner }) => [key, shuffled(inner, next)]));
}
