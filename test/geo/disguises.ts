// Files of other kinds under the name of a GeoTIFF: pages, programs, archives of every sort, and the texts by which GDAL is made
// to open something else.
import { crc32, deflateRawSync, gzipSync } from "node:zlib";
import type { BrokenFile } from "./broken.js";

interface ZipEntry {
  name: string;
  data: Buffer;
  /** Claimed instead of the true one. */
  size?: number;
  symlink?: boolean;
  encrypted?: boolean;
}

/** A ZIP by hand, because no library writes what attackers do. */
export function zip(entries: ZipEntry[], claimed_entries = entries.length): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, data, size = data.length, symlink, encrypted } of entries) {
    const packed = deflateRawSync(data, { level: 9 });
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(encrypted ? 1 : 0, 2);
    shared.writeUInt16LE(8, 4);
    shared.writeUInt32LE(crc32(data), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(size, 18);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), shared, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(symlink ? 0xa1ff_0000 : 0x81a4_0000, 6);
    rest.writeUInt32LE(offset, 10);
    central.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x03"), shared, rest, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(claimed_entries & 0xffff, 8);
  end.writeUInt16LE(claimed_entries & 0xffff, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

const inner = Buffer.from("II*\0");
const nested = zip([{ name: "inner.zip", data: zip([{ name: "scene.tif", data: inner }]) }]);

export const zips: Record<string, Buffer> = {
  "an ordinary ZIP": zip([{ name: "scene.tif", data: inner }]),
  "a ZIP whose entry climbs out": zip([{ name: "../../../../etc/cron.d/x", data: inner }]),
  "a ZIP with a link to /etc/passwd": zip([{ name: "scene.tif", data: Buffer.from("/etc/passwd"), symlink: true }]),
  "a ZIP that unpacks to a thousand times its size": zip([{ name: "zeros.tif", data: Buffer.alloc(8_000_000) }]),
  "a ZIP that lies about sizes": zip([{ name: "scene.tif", data: Buffer.alloc(100_000), size: 4 }]),
  "a ZIP that claims 65,535 entries": zip([{ name: "scene.tif", data: inner }], 65535),
  "a ZIP in a ZIP": nested,
  "an encrypted ZIP": zip([{ name: "scene.tif", data: inner, encrypted: true }]),
  "an empty ZIP": zip([]),
};

const vrt = (source: string) =>
  `<VRTDataset rasterXSize="64" rasterYSize="64"><VRTRasterBand dataType="Byte" band="1"><SimpleSource><SourceFilename relativeToVRT="0">${source}</SourceFilename><SourceBand>1</SourceBand></SimpleSource></VRTRasterBand></VRTDataset>`;

const tar = Buffer.alloc(1024);
tar.write("scene.tif");
tar.write("ustar", 257);

const texts: [string, string | Buffer, BrokenFile["code"]][] = [
  ["nothing", "", "file_empty"],
  ["one byte", "I", "not_a_tiff"],
  ["zeros", Buffer.alloc(512), "not_a_tiff"],
  ["noise", Buffer.from(Array.from({ length: 512 }, (_, i) => (i * 197 + 200) % 251)), "not_a_tiff"],
  ["a web page", "<!DOCTYPE html><html><body>404 Not Found</body></html>", "web_page"],
  ["a web page after blank lines", "\n\n  <html><head><title>Sign in</title></head></html>", "web_page"],
  ["a web page with a byte order mark", "\ufeff<!doctype HTML><p>moved", "web_page"],
  ["an S3 error", '<?xml version="1.0" encoding="UTF-8"?><Error><Code>AccessDenied</Code></Error>', "virtual_dataset"],
  ["a program for Linux", Buffer.from("\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", "latin1"), "other_file_format"],
  ["a program for Windows", Buffer.from("MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff", "latin1"), "other_file_format"],
  ["a shell script", "#!/bin/sh\nrm -rf /\n", "other_file_format"],
  ["a PDF", "%PDF-1.7\n", "other_file_format"],
  ["a GeoPackage", "SQLite format 3\0", "other_file_format"],
  ["a Parquet file", "PAR1\x15\x04", "other_file_format"],
  ["a shapefile", Buffer.from([0, 0, 0x27, 0x0a, 0, 0, 0, 0]), "other_file_format"],
  ["GeoJSON", '{"type":"FeatureCollection","features":[]}', "other_file_format"],
  ["a VRT of a local file", vrt("/etc/passwd"), "virtual_dataset"],
  ["a VRT of the metadata service", vrt("/vsicurl/http://169.254.169.254/latest/meta-data"), "virtual_dataset"],
  [
    "a VRT with Python",
    `<VRTDataset><VRTRasterBand subClass="VRTDerivedRasterBand"><PixelFunctionLanguage>Python</PixelFunctionLanguage><PixelFunctionCode>import os</PixelFunctionCode></VRTRasterBand></VRTDataset>`,
    "virtual_dataset",
  ],
  [
    "a tile index",
    `<GDALTileIndexDataset><IndexDataset>PG:host=127.0.0.1</IndexDataset></GDALTileIndexDataset>`,
    "virtual_dataset",
  ],
  [
    "an OGR VRT",
    `<OGRVRTDataSource><OGRVRTLayer name="x"><SrcDataSource>PG:dbname=x</SrcDataSource><SrcSQL>select 1</SrcSQL></OGRVRTLayer></OGRVRTDataSource>`,
    "virtual_dataset",
  ],
  [
    "a WMS description",
    `<GDAL_WMS><Service name="WMS"><ServerUrl>http://127.0.0.1/</ServerUrl></Service></GDAL_WMS>`,
    "virtual_dataset",
  ],
  ["a VRT after a byte order mark and a declaration", `\ufeff<?xml version="1.0"?>\n<VRTDataset/>`, "virtual_dataset"],
  ["a gzipped TIFF", gzipSync(inner), "archive"],
  ["a tar", tar, "archive"],
  ["a 7z", Buffer.from("7z\xbc\xaf\x27\x1c\0\x04", "latin1"), "archive"],
  ["a RAR", Buffer.from("Rar!\x1a\x07\x01\0", "latin1"), "archive"],
  ["a bzip2", Buffer.from("BZh91AY&SY", "latin1"), "archive"],
  ["an xz", Buffer.from("\xfd7zXZ\0\0\x04", "latin1"), "archive"],
  ["a zstd", Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0]), "archive"],
  ["a PNG", Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1"), "other_raster_format"],
  ["a JPEG", Buffer.from("\xff\xd8\xff\xe0\0\x10JFIF", "latin1"), "other_raster_format"],
  ["a GIF", "GIF89a", "other_raster_format"],
  ["a WebP", "RIFF\x10\0\0\0WEBPVP8 ", "other_raster_format"],
  ["a JPEG 2000", Buffer.from("\0\0\0\x0cjP  \r\n\x87\n", "latin1"), "other_raster_format"],
  ["a JPEG 2000 code stream", Buffer.from([0xff, 0x4f, 0xff, 0x51, 0, 0]), "other_raster_format"],
  ["a netCDF 3", "CDF\x01\0\0\0\0", "other_raster_format"],
  ["an HDF5 or netCDF 4", Buffer.from("\x89HDF\r\n\x1a\n", "latin1"), "other_raster_format"],
  ["an HDF4", Buffer.from([0x0e, 0x03, 0x13, 0x01]), "other_raster_format"],
  ["a GRIB", "GRIB\0\0\0\x02", "other_raster_format"],
];

export const disguises: BrokenFile[] = [
  ...texts.map(([name, content, code]) => ({
    name,
    code,
    file_name: "scene.tif",
    bytes: new Uint8Array(Buffer.from(content)),
  })),
  ...Object.entries(zips).map(([name, content]) => ({
    name,
    code: "archive" as const,
    file_name: "scene.tif",
    bytes: new Uint8Array(content),
  })),
];
