// Features of a layer, page by page: streamed in pieces of bounded size, all of them of one version of the layer. Between the pieces nothing
// is held but the place where the last one ended.
import { Readable } from "node:stream";
import type { FeaturePiece } from "../../../catalog/layers.js";
import { geo_json } from "../../../core/api/stac_records.js";
import { Conflict, NotFound } from "../../../core/errors/errors.js";
import { type Problem, quoted } from "../../../core/errors/problems.js";
import type { Layer } from "../../../geo/layers/layer.js";
import { asText, OtherAnswer } from "../../http/route.js";
import { itemPage, itemsPage } from "./html/feature_pages.js";
import { sendHtml } from "./html/page.js";
import { type AskedItems, type Query, readCrs, readItems, refuse, unknownNames } from "./items_request.js";
import { asked, type Link, with_f } from "./links.js";
import { findLayer, formatOf, inTurn, isUnchanged, layerOf, noSuchLayer, type OgcCall } from "./ogc_call.js";
import { readToken, writeToken } from "./page_token.js";

const piece_rows = 1_000;
const piece_bytes = 1024 * 1024;
/** A table that people read. */
const rows_of_html = 100;

export async function answerItems(ogc: OgcCall, name: string, query: Query): Promise<unknown> {
  const problems: Problem[] = [];
  const token = readToken(query.token, problems);
  const format = formatOf(ogc.call, query.f, ["json", "html"], problems);
  for (let again = false; ; again = true) {
    const layer = await findLayer(ogc, name, token?.version ?? null);
    if (layer === null)
      throw (await findLayer(ogc, name)) === null ? noSuchLayer(ogc, name) : replaced(ogc, name, query);
    const found = [...problems];
    const items = readItems(query, layer, found);
    if (token !== null && token.about !== items.about)
      found.push({
        path: "query.token",
        problem: "is of another question",
        fix: "Repeat the question it came from, with its token.",
      });
    refuse(found);
    if (isUnchanged(ogc, layer, format)) return undefined;
    const reading = new Reading(ogc, layer, items, query, token?.after);
    if (items.hits) return reading.hits();
    const first = await reading.next();
    if (first !== null) return format === "html" ? reading.html(first) : reading.json(first);
    // It was replaced between the look at it and its reading: of the first page, that may be told of the new one.
    if (token !== null || again) throw replaced(ogc, name, query);
  }
}

function replaced({ links }: OgcCall, name: string, query: Query): Conflict {
  return new Conflict("the layer was replaced since the first page was read, and what it was is not there any more", {
    hint: `begin anew: ${asked(links.items(name), query, { token: undefined })}`,
  });
}

class Reading {
  returned = 0;
  private after: (string | null)[] | undefined;

  constructor(
    private readonly ogc: OgcCall,
    private readonly layer: Layer,
    private readonly items: AskedItems,
    private readonly query: Query,
    after: (string | null)[] | undefined,
  ) {
    this.after = after;
    this.ogc.call.reply.header("content-crs", `<${items.crs.uri}>`);
  }

  /** Null where the layer's version is gone. */
  async next(): Promise<FeaturePiece | null> {
    const { page, limit } = this.items;
    const rows = Math.min(piece_rows, limit - this.returned);
    const piece = await inTurn(this.ogc, () =>
      this.ogc.layers.features(this.ogc.call.engine.db, {
        ...page,
        rows,
        bytes: piece_bytes,
        ...(this.after === undefined ? {} : { after: this.after }),
      }),
    );
    if (piece === null) return null;
    this.returned += piece.rows;
    if (piece.after !== null) this.after = piece.after;
    return piece;
  }

  async hits(): Promise<unknown> {
    const matched = this.items.is_all ? this.layer.feature_count : await this.count();
    return {
      type: "FeatureCollection",
      features: [],
      numberMatched: matched,
      numberReturned: 0,
      links: this.links(false),
    };
  }

  private async count(): Promise<number> {
    const { page } = this.items;
    const count = await inTurn(this.ogc, () => this.ogc.layers.count(this.ogc.call.engine.db, page));
    if (count === null) throw replaced(this.ogc, this.layer.name, this.query);
    return count;
  }

  json(first: FeaturePiece): unknown {
    if (!first.more || this.returned >= this.items.limit) return asText(`${head}${first.text}${this.tail(first.more)}`);
    return new OtherAnswer(geo_json, Readable.from(this.pieces(first)));
  }

  private async *pieces(first: FeaturePiece): AsyncGenerator<string> {
    yield head + first.text;
    let more = first.more;
    while (more && this.returned < this.items.limit) {
      const piece = await this.next();
      // Gone on the way: the page ends here, whole, and the caller is told when it asks for the next one.
      if (piece === null) break;
      more = piece.more;
      if (piece.rows > 0) yield `,\n${piece.text}`;
    }
    yield this.tail(more);
  }

  private tail(more: boolean): string {
    const { is_all } = this.items;
    const matched = is_all ? `"numberMatched":${this.layer.feature_count},` : "";
    return `\n],${matched}"numberReturned":${this.returned},"links":${JSON.stringify(this.links(more))}}`;
  }

  async html(first: FeaturePiece): Promise<unknown> {
    const features = JSON.parse(`[${first.text}]`) as GeoFeature[];
    const { is_all, limit } = this.items;
    const shown = features.slice(0, Math.min(limit, rows_of_html));
    return sendHtml(
      this.ogc.call.reply,
      itemsPage({
        links: this.ogc.links,
        layer: this.layer,
        features: shown,
        query: this.query,
        crs: this.items.crs,
        matched: is_all ? this.layer.feature_count : null,
        next: first.more ? this.nextAddress() : null,
      }),
    );
  }

  private nextAddress(): string {
    const token = writeToken({ version: this.layer.version, about: this.items.about, after: this.after ?? [] });
    return asked(this.ogc.links.items(this.layer.name), this.query, { token });
  }

  private links(more: boolean): Link[] {
    const { links } = this.ogc;
    const { name } = this.layer;
    const here = asked(links.items(name), this.query, { f: undefined });
    return [
      ...links.here(here, "This page", geo_json),
      { rel: "collection", href: links.collection(name), type: "application/json" },
      ...(more ? [{ rel: "next", href: this.nextAddress(), type: geo_json, title: "The next page" }] : []),
    ];
  }
}

const head = '{"type":"FeatureCollection","features":[\n';

export interface GeoFeature {
  id: number | string;
  geometry: { type: string; coordinates: unknown } | null;
  properties: Record<string, unknown>;
}

export async function answerItem(ogc: OgcCall, name: string, id: string, query: Query): Promise<unknown> {
  const layer = await layerOf(ogc, name);
  const problems: Problem[] = [];
  unknownNames(query, ["crs", "f"], problems);
  const format = formatOf(ogc.call, query.f, ["json", "html"], problems);
  const crs = readCrs(query.crs, "crs", layer, problems);
  refuse(problems);
  const { page } = readItems(query.crs === undefined ? {} : { crs: query.crs }, layer, []);
  const piece = /^-?\d{1,18}$/.test(id)
    ? await inTurn(ogc, () =>
        ogc.layers.features(ogc.call.engine.db, { ...page, key: id, rows: 1, bytes: 16 * piece_bytes }),
      )
    : { rows: 0, text: "" };
  if (piece === null || piece.rows === 0)
    throw new NotFound(`there is no feature ${quoted(id)} in ${quoted(name)}`, {
      hint: `see ${ogc.links.items(name)}`,
    });
  if (isUnchanged(ogc, layer, format)) return undefined;
  ogc.call.reply.header("content-crs", `<${crs.uri}>`);
  if (format === "html")
    return sendHtml(
      ogc.call.reply,
      itemPage({ links: ogc.links, layer, feature: JSON.parse(piece.text) as GeoFeature, crs }),
    );
  const own = ogc.links.item(name, id);
  const here = query.crs === undefined ? own : asked(own, { crs: query.crs }, {});
  const links = [
    ...ogc.links.here(here, "This feature", geo_json),
    { rel: "collection", href: ogc.links.collection(name), type: "application/json" },
    { rel: "collection", href: with_f(ogc.links.collection(name), "html"), type: "text/html" },
  ];
  return asText(`${piece.text.slice(0, -1)},"links":${JSON.stringify(links)}}`);
}
