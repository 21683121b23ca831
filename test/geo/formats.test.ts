// What is read of other formats by our own code: moments, VRTs, and the names of other files in HDF5 and Erdas Imagine.
import { describe, expect, test } from "vitest";
import { cfMoment } from "../../src/geo/formats/cf_time.js";
import { hdf5Links } from "../../src/geo/formats/hdf5_links.js";
import { hfaNames } from "../../src/geo/formats/hfa_names.js";
import { readVrt, writeVrt } from "../../src/geo/formats/vrt_text.js";

test.each([
  [12, "hours since 2024-01-01 00:00:00", "", "2024-01-01T12:00:00Z"],
  [0.5, "days since 1900-1-1", "gregorian", "1900-01-01T12:00:00Z"],
  [-1, "seconds since 1970-01-01T00:00:00Z", "proleptic_gregorian", "1969-12-31T23:59:59Z"],
  [60, "minutes since 0001-01-01 00:00", "standard", "0001-01-01T01:00:00Z"],
  [3, "months since 2000-01-01", "", null],
  [3, "days since 2000-01-01", "360_day", null],
  [3, "metres", "", null],
  [Number.NaN, "days since 2000-01-01", "", null],
  [1e300, "days since 2000-01-01", "", null],
])("%s %s (%s) is %s", (value, units, calendar, moment) => {
  expect(cfMoment(value, units, calendar)).toBe(moment);
});

const band = (inner: string, attributes = 'dataType="Byte" band="1"') =>
  `<VRTDataset rasterXSize="2" rasterYSize="2"><VRTRasterBand ${attributes}>${inner}</VRTRasterBand></VRTDataset>`;
const rect = 'xOff="0" yOff="0" xSize="2" ySize="2"';
const source = (more = "") =>
  `<SimpleSource><SourceFilename relativeToVRT="1">a&amp;b.tif</SourceFilename><SrcRect ${rect}/><DstRect ${rect}/>${more}</SimpleSource>`;

describe("a VRT", () => {
  test("is read as data, and written from it and nothing else", () => {
    const table = '<ColorTable><Entry c1="1" c2="2" c3="3" c4="255"/></ColorTable>';
    const text = `<?xml version="1.0"?><!-- x -->${band(`<Metadata><MDI key="k">v</MDI></Metadata><NoDataValue>-1e3</NoDataValue>${table}${source()}`)}`;
    const vrt = readVrt(text);
    expect(vrt.bands[0]).toMatchObject({ nodata: "-1e3", color_table: [["1", "2", "3", "255"]] });
    expect(vrt.bands[0]!.sources[0]).toMatchObject({ name: "a&b.tif", is_relative: true, band: 1 });
    const own = writeVrt(vrt);
    expect(own).not.toContain("MDI");
    expect(own).toContain("a&amp;b.tif");
    expect(readVrt(own)).toEqual(vrt);
  });

  test.each([
    [
      "a program",
      band(
        `<PixelFunctionType>f</PixelFunctionType>${source()}`,
        'dataType="Byte" band="1" subClass="VRTDerivedRasterBand"',
      ),
    ],
    ["raw bytes", band("<SourceFilename>/etc/passwd</SourceFilename>", 'dataType="Byte" subClass="VRTRawRasterBand"')],
    ["a warp", '<VRTDataset rasterXSize="2" rasterYSize="2" subClass="VRTWarpedDataset"></VRTDataset>'],
    ["options for opening", band(source('<OpenOptions><OOI key="a">b</OOI></OpenOptions>'))],
    ["a mask elsewhere", band(source()).replace("</VRTDataset>", "<MaskBand/></VRTDataset>")],
    ["an entity", `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${band(source())}`],
    ["an entity of its own", band(source().replace("&amp;", "&e;"))],
    ["a section", band(source().replace("a&amp;b", "<![CDATA[/etc/passwd]]>"))],
    ["a number that is none", band(source().replace('xOff="0"', 'xOff="0&quot;/>"'))],
    ["a coordinate system in a file", band(source()).replace("<VRTRasterBand", "<SRS>/etc/passwd</SRS><VRTRasterBand")],
    [
      "a coordinate system at an address",
      band(source()).replace("<VRTRasterBand", "<SRS>http://127.0.0.1/x</SRS><VRTRasterBand"),
    ],
    [
      "a grid of shifts in a file",
      band(source()).replace(
        "<VRTRasterBand",
        '<SRS>GEOGCS["x",EXTENSION["PROJ4","+nadgrids=/etc/passwd"]]</SRS><VRTRasterBand',
      ),
    ],
    ["half of itself", band(source()).slice(0, -5)],
  ])("with %s is refused", (_, text) => {
    expect(() => readVrt(text)).toThrow(
      expect.objectContaining({ code: "vrt_refused", message: expect.stringMatching(/gdal_translate/) }),
    );
  });

  test("may be in Web Mercator, which has a grid that is none", () => {
    const srs = '<SRS>PROJCS["x",EXTENSION["PROJ4","+proj=merc +nadgrids=@null"]]</SRS><VRTRasterBand';
    expect(readVrt(band(source()).replace("<VRTRasterBand", srs)).srs?.text).toContain("@null");
  });
});

const reader = (bytes: Buffer) => async (offset: number, length: number) => bytes.subarray(offset, offset + length);

/** A superblock of version 0, and what a test puts behind it. */
function hdf5(...parts: [number, Buffer][]): Buffer {
  const file = Buffer.alloc(9 * 2 ** 20);
  Buffer.from("\x89HDF\r\n\x1a\n", "latin1").copy(file);
  file[13] = file[14] = 8;
  for (const [at, bytes] of parts) bytes.copy(file, at);
  return file;
}
const address = (value: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const rawFiles = (heap: number, reserved = [0, 0, 0]) =>
  Buffer.concat([Buffer.from([7, 0, 24, 0, 0, 0, 0, 0, 1, ...reserved, 1, 0, 1, 0]), address(heap)]);
const layout = (heap: number) => Buffer.concat([Buffer.from([4, 3]), address(heap)]);
const link = (path: string, kind = 64) =>
  Buffer.concat([Buffer.from([1, 8, kind, 1, 0x78, path.length + 4, 0, 0]), Buffer.from(`${path}\0y\0`)]);
/** Where one piece ends and the next begins. */
const seam = 4 * 2 ** 20;

describe("an HDF5 file", () => {
  const told = async (file: Buffer) => (await hdf5Links(reader(file), file.length))?.message ?? null;

  test.each([1000, seam - 20, seam - 9, seam - 1, seam, 2 * seam - 3])(
    "that names other files at %i is refused",
    async (at) => {
      expect(await told(hdf5([100, Buffer.from("HEAP")], [at, rawFiles(100)]))).toMatch(/other files/);
      expect(await told(hdf5([100, Buffer.from("GCOL")], [at, layout(100)]))).toMatch(/other files/);
      expect(await told(hdf5([at, link("/etc/passwd")]))).toMatch(/other files/);
      expect(await told(hdf5([at, link("../x.h5", 70)]))).toMatch(/other files/);
    },
  );

  test("that names other files behind bytes which the library skips, or a name of any length, is refused", async () => {
    const heap = [100, Buffer.from("HEAP")] as [number, Buffer];
    for (const reserved of [
      [1, 1, 1],
      [0, 0, 9],
      [7, 1, 255],
    ])
      expect(await told(hdf5(heap, [1000, rawFiles(100, reserved)]))).toMatch(/other files/);
    // Headers of the second kind: 4 or 6 bytes in front.
    const short = rawFiles(100, [1, 1, 1]).subarray(8);
    for (const front of [
      [7, 24, 0, 0],
      [7, 24, 0, 0, 3, 0],
    ])
      expect(await told(hdf5(heap, [1000, Buffer.concat([Buffer.from(front), short])]))).toMatch(/other files/);
    for (const name_bytes of [70_000, 5_000_000]) {
      const named = Buffer.from([1, 8 + 2, 64, 0, 0, 0, 0]);
      named.writeUInt32LE(name_bytes, 3);
      const path = Buffer.from("\x0e\0\0/etc/passwd\0y\0");
      expect(await told(hdf5([1000, named], [1007 + name_bytes, path]))).toMatch(/links to other files/);
    }
  });

  test.each([
    ["ones", [1]],
    ["what looks like the begin of a link", [1, 8, 64]],
    ["what looks like the begin of one with a longer name", [1, 9, 64]],
  ])("that is full of %s is read through once, piece by piece", async (_, bytes) => {
    const file = hdf5();
    file.fill(Buffer.from(bytes), 64);
    let reads = 0;
    const counted = (offset: number, length: number) => {
      reads++;
      return reader(file)(offset, length);
    };
    expect(await hdf5Links(counted, file.length)).toBeNull();
    expect(reads).toBe(1 + Math.ceil(file.length / seam));
  });

  test("that cannot be looked through is refused", async () => {
    expect(await told(hdf5([1000, Buffer.from([0x46, 0x52, 0x48, 0x50, 0, 8, 0, 5, 0])]))).toMatch(/packed/);
    expect(await told(hdf5([24, address(512)]))).toMatch(/superblock/);
    expect(await told(hdf5([13, Buffer.from([4, 4])]))).toMatch(/superblock/);
    expect(await told(Buffer.alloc(2000))).toMatch(/first byte/);
  });

  test("whose numbers look like such names by chance is read", async () => {
    expect(
      await told(
        hdf5([1000, rawFiles(100)], [2000, layout(100)], [3000, Buffer.from([1, 8, 64, 1, 0x78, 9, 0, 0, 1, 2, 3])]),
      ),
    ).toBeNull();
  });
});

describe("an Erdas Imagine file", () => {
  const told = async (text: string) => (await hfaNames(reader(Buffer.from(text, "latin1")), text.length))?.code ?? null;

  test("that names other files is refused, and its own types and overviews are not", async () => {
    const far = " ".repeat(seam - 8);
    expect(await told(`EHFA_HEADER_TAG${far}externalRasterDMS\0`)).toBe("names_other_files");
    expect(await told("EHFA_HEADER_TAG DependentFile\0")).toBe("names_other_files");
    expect(await told(`${far}../other.img(:Layer_1:_ss_2_)`)).toBe("names_other_files");
    expect(await told("EHFA_HEADER_TAG }ExternalRasterDMS,{ dem.rrd(:Layer_1:_ss_2_)")).toBeNull();
  });
});
