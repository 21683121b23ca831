// From the coordinates of a raster to degrees, for the reference systems in which most of them are. Pure.

/** How a reference system is left: by column and row alone where its axes are those of the world, by both otherwise. */
export type ToDegrees =
  | { kind: "separable"; lon(x: number): number; lat(y: number): number }
  | { kind: "free"; degrees(x: number, y: number): [lon: number, lat: number] };

const semi_major = 6378137;
const flattening = 1 / 298.257223563;

/** Null for one that is not among them. ETRS89 and NAD83 are taken for WGS 84, from which they differ by less than two metres. */
export function toDegrees(code: string | null): ToDegrees | null {
  const number = Number(/^EPSG:(\d{1,6})$/.exec(code ?? "")?.[1] ?? Number.NaN);
  if ([4326, 4258, 4269, 4979].includes(number) || code === "OGC:CRS84") {
    return { kind: "separable", lon: (x) => x, lat: (y) => y };
  }
  if (number === 3857 || number === 900913) {
    return {
      kind: "separable",
      lon: (x) => (x / semi_major) * (180 / Math.PI),
      lat: (y) => Math.atan(Math.sinh(y / semi_major)) * (180 / Math.PI),
    };
  }
  const north = number - 32600;
  const south = number - 32700;
  if (north >= 1 && north <= 60) return { kind: "free", degrees: utm(north, 0) };
  if (south >= 1 && south <= 60) return { kind: "free", degrees: utm(south, 10_000_000) };
  if (number >= 25828 && number <= 25838) return { kind: "free", degrees: utm(number - 25800, 0) };
  if (number >= 26901 && number <= 26923) return { kind: "free", degrees: utm(number - 26900, 0) };
  return null;
}

/** Krüger's series to the sixth power of n, exact to nanometres within a zone; Karney's way back from the conformal latitude. */
function utm(zone: number, false_northing: number): (x: number, y: number) => [number, number] {
  const n = flattening / (2 - flattening);
  const radius = (semi_major / (1 + n)) * (1 + n ** 2 / 4 + n ** 4 / 64 + n ** 6 / 256) * 0.9996;
  const series = [
    n / 2 - (2 / 3) * n ** 2 + (37 / 96) * n ** 3 - n ** 4 / 360 - (81 / 512) * n ** 5 + (96199 / 604800) * n ** 6,
    n ** 2 / 48 + n ** 3 / 15 - (437 / 1440) * n ** 4 + (46 / 105) * n ** 5 - (1118711 / 3870720) * n ** 6,
    (17 / 480) * n ** 3 - (37 / 840) * n ** 4 - (209 / 4480) * n ** 5 + (5569 / 90720) * n ** 6,
    (4397 / 161280) * n ** 4 - (11 / 504) * n ** 5 - (830251 / 7257600) * n ** 6,
    (4583 / 161280) * n ** 5 - (108847 / 3991680) * n ** 6,
    (20648693 / 638668800) * n ** 6,
  ];
  const e2 = flattening * (2 - flattening);
  const e = Math.sqrt(e2);
  const middle = zone * 6 - 183;
  return (x, y) => {
    const xi_0 = (y - false_northing) / radius;
    const eta_0 = (x - 500_000) / radius;
    let xi = xi_0;
    let eta = eta_0;
    series.forEach((beta, i) => {
      const by = 2 * (i + 1);
      xi -= beta * Math.sin(by * xi_0) * Math.cosh(by * eta_0);
      eta -= beta * Math.cos(by * xi_0) * Math.sinh(by * eta_0);
    });
    const conformal = Math.sin(xi) / Math.hypot(Math.sinh(eta), Math.cos(xi));
    let tau = conformal / (1 - e2);
    for (let step = 0; step < 4; step++) {
      const root = Math.sqrt(1 + tau * tau);
      const sigma = Math.sinh(e * Math.atanh((e * tau) / root));
      const reached = tau * Math.sqrt(1 + sigma * sigma) - sigma * root;
      const by = ((conformal - reached) / Math.sqrt(1 + reached * reached)) * (1 + (1 - e2) * tau * tau);
      tau += by / ((1 - e2) * root);
    }
    return [middle + Math.atan2(Math.sinh(eta), Math.cos(xi)) * (180 / Math.PI), Math.atan(tau) * (180 / Math.PI)];
  };
}
