// Colour maps by name: 18 colours each, from the lowest value to the highest, with straight lines between them. They are those of matplotlib,
// whose names map servers share. A name that ends in _r is the same the other way round. Pure.

export type Color = readonly [number, number, number];
/** From the lowest to the highest. */
export type ColorMap = readonly Color[];

const written = {
  viridis:
    "440154471669472a79433c843c4d8a355d8c2e6c8e287a8e23898d1e978a20a5852eb27c45bf6f64cb5d88d547afdc2ed7e219fde724",
  magma: "00000309071f1a10413010654a107961187f792281912a80a9327cc23a75d9466aec585ff7715bfc8e63feaa74fec689fde1a3fbfcbf",
  inferno:
    "0000030906211d0c45370961500d6c68166e801f6b982765af315bc53d4dd94d3de8612bf37918fa9306fbb014f8cd37f1e968fcfea4",
  plasma:
    "0c07862f049549029f6100a67801a88e0ca4a21c9ab42d8dc33e7fd14f71de6064e97257f2854af9993dfdaf31fdc626f8df24eff821",
  cividis:
    "00224d002c6716366f2e416c3f4b6b4e566c5b606e686b71757575838078918c77a09775afa370beb06acebc62dfca56efd846fde737",
  turbo: "30123b3f3d9c4666dd448cfd2fb1f319d3cf22eba951f9798bfe4bb6f735dae236f4c43afea12ff8741ce84b0cce2d04a915017a0402",
  terrain:
    "3333991f5bc10b83e900a6d600c47c2dd56f68e17aa5ed87e1f993f0eb90d2c580b39f7096786087655ea58b86c3b2aee1d8d6ffffff",
  gist_earth:
    "0000000912751334771d537a276d7d31817b388a693f93574b9b466da34f88aa55a1b159b7b55ebea863caa87ddbb7a2ecd3cdfdfafa",
  greys: "fffffff7f7f7f0f0f0e6e6e6dbdbdbcfcfcfc1c1c1b1b1b19f9f9f8d8d8d7d7d7d6d6d6d5d5d5d4c4c4c373737222222111111000000",
  blues: "f7fbffebf3fbdfebf7d4e4f3c8dcefb7d4eaa5cde38fc1dd77b4d861a7d24e9aca3c8cc32c7cbb1e6db2125ea6084f99083f8208306b",
  greens:
    "f7fcf5eef8ebe6f5e1d8f0d2caeac3b9e3b2a7dba193d2907ec87e68be7050b2643ba5582d964d1e87420e7936006a2b00572300441b",
  reds: "fff5f0feebe1fee1d3fdd0bdfcbfa6fcac90fc997afb8666fb7353f85e42f24834e83429d72422c6161cb41218a10e1484071067000c",
  oranges:
    "fff5ebfeedddfee6cffddcbbfdd2a7fdc48efdb474fda45dfd9447fa8432f4731fec630fe15307d34501bb3d02a33503912e037f2704",
  ylgnbu:
    "ffffd9f6fbc6eef8b3ddf1b2cbeab3addfb68bd1b96cc6bd4fbbc138adc3279bc11d88bb2070b02259a523459c233290152774081d58",
  ylorrd:
    "ffffccfff6b7ffeea2fee48efedb7afecb67feb853fda747fd953ffc7e37fc602ff74427eb2c20de161dcc0a21b900269c0026800026",
  rdbu: "67001f930e26b82431cd4f44e0785ff2a07ef8c1a6fcdeccf8eee8ebf1f4d5e7f0b3d5e78dc2dc5ea4cc3b88bd276db0154f8d053061",
  rdylgn:
    "a50026c21c26dc3a2bed5e3cf7834dfcaa5ffdc877fee391fef5aff3faafddf091c1e47ba2d7697cc66554b45e279e530f8445006837",
  spectral:
    "9e0142be2449da464cec6145f7834dfcaa5ffdc877fee391fef5aff7fcb3e8f69ccae99da6dba47ecba459b4aa3b92b84470b15e4fa2",
  coolwarm:
    "3a4cc04c66d65f7ee77395f487aafc9cbcfeb0cbfbc3d5f2d5dbe5e4d8d1efcdbbf6bda4f6aa8cf29375e9795edb5c4ac93b37b30326",
} as const;

export const color_map_names: readonly string[] = Object.keys(written);

export function colorMapNamed(name: string): ColorMap | null {
  const lower = name.toLowerCase();
  const is_turned = lower.endsWith("_r");
  const text = Object.entries(written).find(([known]) => known === (is_turned ? lower.slice(0, -2) : lower))?.[1];
  if (text === undefined) return null;
  const colors = Array.from({ length: text.length / 6 }, (_, at) => colorOf(text.slice(at * 6, at * 6 + 6)));
  return is_turned ? colors.reverse() : colors;
}

/** The colour of six hexadecimal digits. */
export function colorOf(digits: string): Color {
  const at = (place: number) => Number.parseInt(digits.slice(place, place + 2), 16);
  return [at(0), at(2), at(4)];
}

/** `share`: 0 is the lowest, 1 the highest. */
export function colorAt(map: ColorMap, share: number): Color {
  const place = Math.min(Math.max(share, 0), 1) * (map.length - 1);
  const low = map[Math.floor(place)]!;
  const high = map[Math.ceil(place)]!;
  const part = place - Math.floor(place);
  return [0, 1, 2].map((channel) =>
    Math.round(low[channel]! + (high[channel]! - low[channel]!) * part),
  ) as unknown as Color;
}
