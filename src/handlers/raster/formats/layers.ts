// What a file of another format holds: its variables, and of each the steps (times, levels, messages) that are a raster each. Names and
// moments come from the file; what is odd about a name keeps the variable out of the list, and is not repaired.
import { readdir, readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { isRecord } from "../../../core/declare/report.js";
import { Permanent } from "../../../core/errors/errors.js";
import { cfMoment } from "../../../geo/formats/cf_time.js";
import { parseMoment } from "../../../geo/stac_dates.js";
import { parsed as json } from "../gdal/gdal_info.js";
import { readRawValues } from "../gdal/raw_pixels.js";
import type { FormatEngine, FormatSource } from "./format_engine.js";

export interface Step {
  /** As GDAL lists it; null: the file itself. */
  part: string | null;
  band: number;
  moment: string | null;
  /** Of other dimensions, and of messages: what tells it from its neighbours beside the moment. */
  labels: Record<string, string | number>;
}

export interface Variable {
  /** null: the file has one raster, without a name. */
  name: string | null;
  size: [number, number];
  has_place: boolean;
  steps: Step[];
}

/** What goes into a name of GDAL's and into ids. */
const variable_rule = /^[\w./ +-]{1,200}$/;
const most_variables = 1000;
const most_steps = 100_000;
const look = ["-json", "-norat", "-nogcp"];

/** All of them, or the one of that name. */
export async function variablesOf(
  engine: FormatEngine,
  file: FormatSource,
  signal: AbortSignal,
  wanted?: string,
): Promise<Variable[]> {
  if (file.driver === "Zarr") return zarrVariables(engine, file, signal, wanted);
  const whole = json(await engine.info(file, look, signal));
  const parts = partsOf(whole);
  if (parts.length === 0) return [variableOf(whole, null, null)];
  const chosen = parts.filter(({ name }) => wanted === undefined || name === wanted);
  if (chosen.length > most_variables) throw tooMany(`more than ${most_variables} variables`);
  const variables: Variable[] = [];
  for (const { name, part } of chosen) {
    variables.push(variableOf(json(await engine.info({ ...file, part }, look, signal)), name, part));
  }
  return variables.length > 0
    ? variables
    : parts.map(({ name }) => ({ name, size: [0, 0], has_place: false, steps: [] }));
}

type Json = Record<string, unknown>;

function partsOf(whole: Json): { name: string; part: string }[] {
  const listed = record(record(whole.metadata).SUBDATASETS);
  return Object.entries(listed).flatMap(([key, value]) => {
    const name = /^[A-Z0-9]+:"[^"]*":\/*(.+)$/.exec(String(value))?.[1] ?? "";
    return /^SUBDATASET_\d+_NAME$/.test(key) && variable_rule.test(name) ? [{ name, part: String(value) }] : [];
  });
}

function variableOf(info: Json, name: string | null, part: string | null): Variable {
  const bands = records(info.bands);
  if (bands.length > most_steps) throw tooMany(`more than ${most_steps} steps`);
  const [width = 0, height = 0] = Array.isArray(info.size) ? info.size.map(Number) : [];
  const about = record(record(info.metadata)[""]);
  const own = name ?? own_name(bands);
  return {
    name: own,
    size: [width, height],
    has_place: info.geoTransform !== undefined,
    steps: bands.map((band, at) => ({ part, band: at + 1, ...told(record(record(band.metadata)[""]), about) })),
  };
}

/** A netCDF of one variable is opened without naming it. */
function own_name(bands: Json[]): string | null {
  const name = record(record(bands[0]?.metadata)[""]).NETCDF_VARNAME;
  return typeof name === "string" && variable_rule.test(name) ? name : null;
}

/** What a band says of itself, in the words of netCDF or of GRIB. */
function told(band: Json, about: Json): Pick<Step, "moment" | "labels"> {
  const labels: Step["labels"] = {};
  let moment: string | null = null;
  for (const [key, value] of Object.entries(band)) {
    const dimension = /^NETCDF_DIM_(\w+)$/.exec(key)?.[1];
    if (dimension === undefined) continue;
    const at = cfMoment(
      Number(value),
      String(about[`${dimension}#units`] ?? ""),
      String(about[`${dimension}#calendar`] ?? ""),
    );
    if (at !== null) moment = at;
    else labels[dimension] = Number.isFinite(Number(value)) ? Number(value) : String(value).slice(0, 100);
  }
  const seconds = /^\s*(-?\d+)/.exec(String(band.GRIB_VALID_TIME ?? ""))?.[1];
  if (seconds !== undefined) moment = secondsMoment(Number(seconds));
  if (typeof band.GRIB_ELEMENT === "string") labels.element = band.GRIB_ELEMENT.slice(0, 100);
  if (typeof band.GRIB_SHORT_NAME === "string") labels.level = band.GRIB_SHORT_NAME.slice(0, 100);
  return { moment, labels };
}

function secondsMoment(seconds: number): string | null {
  const time = new Date(seconds * 1000);
  return Number.isNaN(time.getTime()) ? null : parseMoment(time.toISOString());
}

interface ZarrArray {
  name: string;
  shape: number[];
  dimensions: string[];
  attributes: Json;
}

/** GDAL lists arrays by name alone; their shapes and dimensions are small files of JSON. */
async function zarrVariables(
  engine: FormatEngine,
  file: FormatSource,
  signal: AbortSignal,
  wanted?: string,
): Promise<Variable[]> {
  const arrays = await zarrArrays(file.path);
  const named = arrays.filter(({ shape, name }) => shape.length >= 2 && (wanted === undefined || name === wanted));
  if (named.length === 0) {
    return arrays
      .filter(({ shape }) => shape.length >= 2)
      .map(({ name }) => ({ name, size: [0, 0], has_place: false, steps: [] }));
  }
  if (named.length > most_variables) throw tooMany(`more than ${most_variables} variables`);
  // Said before anything is unpacked: what is declared costs nothing to declare.
  const in_all = named.reduce((sum, { shape }) => sum + countOf(shape.slice(0, -2)), 0);
  if (in_all > most_steps) throw tooMany(`more than ${most_steps} steps`);
  const coordinates = new Map<string, number[]>();
  const variables: Variable[] = [];
  for (const { name, shape, dimensions } of named) {
    const outer = shape.slice(0, -2);
    const count = countOf(outer);
    const axes = outer.map((_, dim) => arrays.find((one) => one.name === dimensions[dim] && isAxis(one)));
    const steps: Step[] = [];
    for (let at = 0; at < count; at++) {
      const indices: number[] = [];
      for (let dim = outer.length - 1, rest = at; dim >= 0; dim--) {
        indices.unshift(rest % outer[dim]!);
        rest = Math.floor(rest / outer[dim]!);
      }
      const step: Step = {
        part: `ZARR:"${file.path}":/${[name, ...indices].join(":")}`,
        band: 1,
        moment: null,
        labels: {},
      };
      for (const [dim, index] of indices.entries()) {
        const axis = axes[dim];
        const values =
          axis === undefined ? [] : (coordinates.get(axis.name) ?? (await valuesOf(engine, file, axis, signal)));
        if (axis !== undefined) coordinates.set(axis.name, values);
        const value = values[index] ?? index;
        const moment = cfMoment(value, String(axis?.attributes.units ?? ""), String(axis?.attributes.calendar ?? ""));
        if (moment !== null) step.moment = moment;
        else step.labels[dimensions[dim] ?? `dim${dim}`] = value;
      }
      steps.push(step);
    }
    const { part } = steps[0] ?? { part: null };
    const info = part === null ? {} : json(await engine.info({ ...file, part }, look, signal));
    variables.push({ name, size: [shape.at(-1)!, shape.at(-2)!], has_place: info.geoTransform !== undefined, steps });
  }
  return variables;
}

function countOf(outer: number[]): number {
  return outer.reduce((product, length) => product * length, 1);
}

/** One that is longer than any file may have steps is none, and is not unpacked. */
function isAxis({ shape }: ZarrArray): boolean {
  return shape.length === 1 && shape[0]! <= most_steps;
}

async function zarrArrays(folder: string): Promise<ZarrArray[]> {
  const metadata = record(json(await readFile(join(folder, ".zmetadata"), "utf8").catch(() => "{}")).metadata);
  const paths = (await readdir(folder, { recursive: true })).filter((path) => basename(path) === ".zarray").sort();
  const arrays: ZarrArray[] = [];
  for (const path of paths) {
    const name = path.split("/").slice(0, -1).join("/");
    if (name !== "" && !variable_rule.test(name)) continue;
    const array = json(await readFile(join(folder, path), "utf8"));
    const attributes = record(
      metadata[`${name}/.zattrs`] ?? json(await readFile(join(folder, name, ".zattrs"), "utf8").catch(() => "{}")),
    );
    const shape = Array.isArray(array.shape) ? array.shape.map(Number) : [];
    const dimensions = Array.isArray(attributes._ARRAY_DIMENSIONS) ? attributes._ARRAY_DIMENSIONS.map(String) : [];
    if (shape.every((length) => Number.isInteger(length) && length > 0))
      arrays.push({ name, shape, dimensions, attributes });
  }
  return arrays;
}

/** Of an axis: written by GDAL as one row of numbers. */
async function valuesOf(
  engine: FormatEngine,
  file: FormatSource,
  axis: ZarrArray,
  signal: AbortSignal,
): Promise<number[]> {
  const [count = 0] = axis.shape;
  const target = `${file.path}-axis.tif`;
  const format = [
    "-of",
    "GTiff",
    "-ot",
    "Float64",
    "-co",
    "COMPRESS=NONE",
    "-co",
    "PROFILE=BASELINE",
    "-co",
    "BIGTIFF=NO",
  ];
  try {
    await engine.translate({ ...file, part: `ZARR:"${file.path}":/${axis.name}` }, target, format, signal);
    return readRawValues(await readFile(target), count);
  } finally {
    await rm(target, { force: true });
  }
}

function tooMany(what: string): Permanent {
  return new Permanent(`the file holds ${what}: give its parts as files of their own`, { code: "too_many_layers" });
}

function record(value: unknown): Json {
  return isRecord(value) ? (value as Json) : {};
}

function records(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(record) : [];
}
