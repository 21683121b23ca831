// What a vector tile may hold, by zoom: far out more would be drawn over each other than seen. Pure.

/** Units of a tile's side, and how far beyond it is drawn. */
export const tile_extent = 4096;
export const tile_buffer = 64;

export interface TileCaps {
  most_features: number;
  most_bytes: number;
}

const caps: readonly (TileCaps & { to: number })[] = [
  { to: 4, most_features: 4_000, most_bytes: 400_000 },
  { to: 8, most_features: 8_000, most_bytes: 700_000 },
  { to: 99, most_features: 20_000, most_bytes: 1_500_000 },
];

export function tileCaps(zoom: number): TileCaps {
  const { most_features, most_bytes } = caps.find(({ to }) => zoom <= to)!;
  return { most_features, most_bytes };
}

/** Tiles of these zooms, at most, are made with a layer. */
export const pyramid_caps: readonly TileCaps[] = Array.from({ length: 10 }, (_, zoom) => tileCaps(zoom));
