// GDAL's STAC driver before 3.10 knows a reference system by proj:epsg and by nothing else, and opens no item without. The projection
// extension 2.0 forbids that field: such a GDAL, and nobody else, is told items by version 1.2, which has both.
import type { StacItem } from "../../../geo/stac.js";

const extension = /^(https:\/\/stac-extensions\.github\.io\/projection\/)v2\.[^/]+(\/schema\.json)$/;

/** Until 3.6 GDAL does not say who it is, as nobody else does who reads catalogues; from 3.7 on it does. */
const old_gdal = /^$|^GDAL\/(?:[12]\.|3\.\d(?:\D|$))/;

export function toldFor(user_agent = ""): (item: StacItem) => StacItem {
  return old_gdal.test(user_agent) ? withEpsg : (item) => item;
}

function withEpsg(item: StacItem): StacItem {
  const { properties, assets, stac_extensions } = item;
  return {
    ...item,
    // With `fields` any part may be missing.
    ...(stac_extensions === undefined
      ? {}
      : { stac_extensions: stac_extensions.map((one) => one.replace(extension, "$1v1.2.0$2")) }),
    ...(properties === undefined ? {} : { properties: coded(properties) }),
    ...(assets === undefined
      ? {}
      : { assets: Object.fromEntries(Object.entries(assets).map(([name, asset]) => [name, coded(asset)])) }),
  };
}

function coded<T extends Record<string, unknown>>(record: T): T {
  const [, number] = /^EPSG:(\d{4,6})$/.exec(String(record["proj:code"] ?? "")) ?? [];
  return number === undefined || "proj:epsg" in record ? record : { ...record, "proj:epsg": Number(number) };
}
