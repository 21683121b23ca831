// A COG as a pile of pictures of the same ground, each smaller than the one before, and which of them a tile is made of. Pure.
import type { TiffHeader, TiffImageHeader } from "../tiff/tiff_header.js";

export interface Level {
  image: TiffImageHeader;
  /** Which of its pixels are valid, where the file has that apart from them. */
  mask: TiffImageHeader | null;
  /** Pixels of the whole image for one of this. */
  ratio_x: number;
  ratio_y: number;
}

/** The whole image first. */
export function levelsOf({ images }: TiffHeader): Level[] {
  const [whole] = images;
  const pictures = [whole, ...images.filter((one) => one.role === "overview" && isAlike(one, whole))];
  const masks = images.filter(({ role }) => role === "mask" || role === "overview_mask");
  return pictures
    .filter(({ width, height }) => width > 0 && height > 0)
    .sort((a, b) => b.width - a.width)
    .map((image) => ({
      image,
      mask: masks.find(({ width, height }) => width === image.width && height === image.height) ?? null,
      ratio_x: whole.width / image.width,
      ratio_y: whole.height / image.height,
    }));
}

/** Another number of bands or another type would be a picture of something else. */
function isAlike(one: TiffImageHeader, whole: TiffImageHeader): boolean {
  return one.band_count === whole.band_count && one.data_type === whole.data_type;
}

/** `ratio`: pixels of the whole image for one of the tile. The smallest that still has a pixel for each of the tile's, as GDAL chooses. */
export function levelFor(levels: readonly Level[], ratio: number): Level {
  let chosen = levels[0]!;
  for (const level of levels) if (level.ratio_x <= ratio * 1.01) chosen = level;
  return chosen;
}
