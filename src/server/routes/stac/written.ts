// Items and collections as a caller writes them, checked before the catalogue sees them: everything that is wrong at once.

import { itemProblems } from "../../../catalog/item_check.js";
import { max_items_of_call } from "../../../core/api/stac.js";
import { kindOf, type Problem, quoted } from "../../../core/errors/problems.js";
import { bboxProblem } from "../../../geo/geojson.js";
import { type StacCollection, type StacItem, stac_version } from "../../../geo/stac.js";
import { refuse } from "./search_request.js";

type Given = Record<string, unknown>;

const versions = ["1.0.0", "1.1.0"];
/** What a reader may follow. Others would run (javascript:), or read the reader's own machine (file:). */
const schemes = /^(https?|s3|gs|az|abfss?|fanfold|ftps?|oss|swift|ipfs):\/\//i;

/** One item, or each of a FeatureCollection, with the collection they are put into. */
export function writtenItems(body: Given, collection: string): StacItem[] {
  if (body.type !== "FeatureCollection") return [writtenItem(body, collection)];
  const { features } = body;
  const problems: Problem[] = [];
  if (!Array.isArray(features) || features.length === 0 || features.length > max_items_of_call) {
    const count = Array.isArray(features) ? `has ${features.length} items` : `is ${kindOf(features)}`;
    refuse([{ path: "body.features", problem: count, fix: `Give 1 to ${max_items_of_call} items.` }], not_right);
    return [];
  }
  const items = features.map((one, at) => itemOf(one, collection, `body.features[${at}]`, problems));
  const ids = new Set<string>();
  for (const [at, { id }] of items.entries()) {
    if (ids.has(id))
      problems.push({
        path: `body.features[${at}].id`,
        problem: `${quoted(id)} is there twice`,
        fix: "Give each its own.",
      });
    ids.add(id);
  }
  refuse(problems, not_right);
  return items;
}

const not_right = "the items are not right";

/** `id`: the one in the address. */
export function writtenItem(body: Given, collection: string, id?: string): StacItem {
  const problems: Problem[] = [];
  const item = itemOf(id === undefined ? body : { id, ...body }, collection, "body", problems);
  if (id !== undefined && item.id !== id) problems.push(notTheOne("body.id", item.id, id));
  refuse(problems, "the item is not right");
  return item;
}

function itemOf(given: unknown, collection: string, path: string, problems: Problem[]): StacItem {
  if (!isRecord(given)) {
    problems.push({ path, problem: `is ${kindOf(given)}, not an item`, fix: "Give a STAC item." });
    return { id: path } as StacItem;
  }
  const item = {
    stac_version,
    stac_extensions: [],
    links: [],
    assets: {},
    collection,
    ...given,
  } as unknown as StacItem;
  const found = itemProblems(item, null).map((one) => ({ ...one, path: path + one.path.slice(1) }));
  problems.push(...found);
  const tell = (at: string, problem: string, fix: string) => problems.push({ path: `${path}.${at}`, problem, fix });
  if (item.collection !== collection) problems.push(notTheOne(`${path}.collection`, item.collection, collection));
  checkCommon(item, tell);
  const bbox = found.length === 0 && item.bbox !== undefined ? bboxProblem(item.bbox) : null;
  if (bbox !== null) tell("bbox", bbox, "Give west, south, east, north in degrees; or six numbers with heights.");
  else if (item.geometry !== null && item.geometry !== undefined && item.bbox === undefined)
    tell("bbox", "is missing, and there is a geometry", "Give west, south, east, north.");
  if (isRecord(item.assets)) for (const [name, asset] of Object.entries(item.assets)) checkAsset(name, asset, tell);
  return item;
}

type Tell = (at: string, problem: string, fix: string) => void;

function checkCommon(
  { stac_version: version, stac_extensions: extensions, links }: StacItem | StacCollection,
  tell: Tell,
): void {
  if (!versions.includes(version as string))
    tell("stac_version", `${quoted(version)} is not known here`, `Use ${versions.join(" or ")}.`);
  const is_uris = Array.isArray(extensions) && extensions.every((one) => typeof one === "string" && URL.canParse(one));
  if (!is_uris) tell("stac_extensions", "is not a list of addresses of schemas", "Give [] for none.");
  if (!Array.isArray(links)) return;
  for (const [at, link] of links.entries()) {
    if (!isRecord(link) || typeof link.rel !== "string" || link.rel === "" || typeof link.href !== "string")
      tell(`links[${at}]`, "is not a link", "Give it rel and href.");
    else checkHref(link.href, `links[${at}].href`, tell);
  }
}

function checkAsset(name: string, asset: unknown, tell: Tell): void {
  const at = `assets[${quoted(name)}]`;
  if (!isRecord(asset) || typeof asset.href !== "string" || asset.href === "")
    tell(at, "has no href", "Give the address of the file.");
  else checkHref(asset.href, `${at}.href`, tell);
}

/** A relative one means nothing in an answer that has no place of its own. */
function checkHref(href: string, at: string, tell: Tell): void {
  if (!schemes.test(href) || !URL.canParse(href))
    tell(
      at,
      `${quoted(href)} is not an address that others can follow`,
      "Give an absolute one: https://…, s3://… or fanfold://….",
    );
}

export function writtenCollection(given: Given, id?: string): StacCollection {
  const problems: Problem[] = [];
  const whole = { stac_version, stac_extensions: [], links: [], ...(id === undefined ? {} : { id }), ...given };
  const collection = whole as unknown as StacCollection;
  const tell: Tell = (at, problem, fix) => problems.push({ path: `body.${at}`, problem, fix });
  if (collection.type !== "Collection")
    tell("type", `${quoted(collection.type)} is not "Collection"`, 'Give "Collection".');
  if (typeof collection.id !== "string" || !/^[^\p{Cc}]{1,255}$/u.test(collection.id))
    tell("id", "is not a name of 1 to 255 visible characters", "Give a short name.");
  else if (id !== undefined && collection.id !== id) problems.push(notTheOne("body.id", collection.id, id));
  for (const name of ["description", "license"] as const)
    if (typeof collection[name] !== "string" || collection[name] === "")
      tell(name, "is missing", name === "license" ? "An SPDX name such as CC-BY-4.0, or other." : "Say what it holds.");
  if (!Array.isArray(collection.links)) tell("links", "is not a list", "Give [] for none.");
  checkCommon(collection, tell);
  checkExtent(collection.extent, tell);
  if (collection.assets !== undefined) {
    if (!isRecord(collection.assets)) tell("assets", "is not an object", "Give {} for none.");
    else for (const [name, asset] of Object.entries(collection.assets)) checkAsset(name, asset, tell);
  }
  refuse(problems, "the collection is not right");
  return collection;
}

function checkExtent(extent: unknown, tell: Tell): void {
  const { spatial, temporal } = (isRecord(extent) ? extent : {}) as { spatial?: Given; temporal?: Given };
  const boxes: unknown = spatial?.bbox;
  const boxes_fit = Array.isArray(boxes) && boxes.length > 0 && boxes.every((one) => bboxProblem(one) === null);
  if (!boxes_fit) tell("extent.spatial.bbox", "is not a list of boxes", "[[west, south, east, north]], in degrees.");
  const intervals: unknown = temporal?.interval;
  const is_end = (one: unknown) => one === null || (typeof one === "string" && !Number.isNaN(Date.parse(one)));
  const intervals_fit =
    Array.isArray(intervals) &&
    intervals.length > 0 &&
    intervals.every((one) => Array.isArray(one) && one.length === 2 && one.every(is_end));
  if (!intervals_fit)
    tell("extent.temporal.interval", "is not a list of intervals", '[["2024-01-01T00:00:00Z", null]]; null is open.');
}

function notTheOne(path: string, given: unknown, asked: string): Problem {
  return {
    path,
    problem: `${quoted(given)} is not ${quoted(asked)}, which the address names`,
    fix: "Leave it out, or make them one.",
  };
}

/** RFC 7396; what is not an object replaces whatever was there. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged: Given = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(merged[name], value);
  }
  return merged;
}

function isRecord(value: unknown): value is Given {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
