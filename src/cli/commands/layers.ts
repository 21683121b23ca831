// fanfold layers: vector layers, what each was, the rows that were not taken, and how a layer is drawn.
import { type LayerStyle, layer_style, layers_api } from "../../core/api/layers.js";
import type { Problem } from "../../core/errors/problems.js";
import { printable } from "../../core/values/printable.js";
import { answer, type Cli, type CliCommand } from "../terminal/command.js";
import { usage } from "../terminal/failure.js";
import { count } from "../terminal/figures.js";
import { checked, type PageFlags, pageOf, wholeNumber } from "../terminal/options.js";
import { gatherParameters } from "../terminal/parameters.js";
import { withSession } from "../terminal/session.js";
import { moment, table, tableAndText } from "../terminal/summary.js";

const layer_words = "the layer's name";

export function addLayers(cli: Cli): void {
  const layers = cli.program
    .command("layers")
    .summary("list vector layers, their versions and rejects; set how one is drawn")
    .description("Vector layers that process_vector made. Their features and tiles are served at /ogc.")
    .examples("fanfold layers", "fanfold layers show parcels", "fanfold layers rejects parcels --code null_geometry");
  addList(cli, layers);
  addShow(cli, layers);
  addVersions(cli, layers);
  addRejects(cli, layers);
  addStyle(cli, layers);
}

function addList(cli: Cli, layers: CliCommand): void {
  layers
    .command("list", { isDefault: true })
    .summary("list layers by name")
    .option("--search <text>", "only those with this in their name or title")
    .pageOptions()
    .examples("fanfold layers list --search parcels")
    .action(async (flags: PageFlags & { search?: string }) => {
      const wanted = checked("these layers cannot be listed", (problems) => pageOf(flags, problems));
      await withSession(cli, async ({ engine }) => {
        const page = await engine.call(layers_api.list, { ...wanted, search: flags.search } as never);
        answer(cli, page, function* () {
          if (page.layers.length === 0) {
            yield "no layers";
            yield "  make one: fanfold submit process_vector source=bronze:parcels.gpkg --wait";
            return;
          }
          const rows = page.layers.map(
            ({ name, version, feature_count, rejected_count, geometry_type, updated_at }) => [
              name,
              String(version),
              count(feature_count),
              rejected_count === 0 ? "" : count(rejected_count),
              geometry_type ?? "no geometry",
              moment(updated_at),
            ],
          );
          yield* table(["LAYER", "VERSION", "FEATURES", "REJECTED", "GEOMETRY", "CHANGED"], rows, cli.io.width());
          if (page.next !== null) yield `more: add --cursor ${page.next}`;
        });
      });
    });
}

function addShow(cli: Cli, layers: CliCommand): void {
  layers
    .command("show")
    .summary("one layer with its columns")
    .argument("<layer>", layer_words)
    .examples("fanfold layers show parcels", "fanfold layers show parcels --json")
    .action((layer_id: string) =>
      withSession(cli, async ({ engine }) => {
        const layer = await engine.call(layers_api.get, { layer_id });
        answer(cli, layer, function* () {
          const { title, version, feature_count, geometry_type, srid, extent, job_id } = layer;
          yield `${printable(layer.name)}${title === null ? "" : `: ${printable(title)}`}`;
          yield `  version ${version}, ${count(feature_count)} features, ${geometry_type ?? "no geometry"}${srid === null ? "" : ` in EPSG:${srid}`}`;
          if (extent !== null) yield `  extent ${extent.join(", ")}`;
          if (job_id !== null) yield `  made by job ${job_id.slice(0, 8)}`;
          yield `  features at /ogc/collections/${layer.name}/items`;
          const rows = layer.columns.map(({ name, pg_type, source_name }) => [
            printable(name),
            pg_type,
            printable(source_name ?? name),
          ]);
          yield* table(["COLUMN", "TYPE", "IN THE SOURCE"], rows, cli.io.width());
        });
      }),
    );
}

function addVersions(cli: Cli, layers: CliCommand): void {
  layers
    .command("versions")
    .summary("what a layer was, newest first")
    .argument("<layer>", layer_words)
    .option("--limit <number>", "rows of a page, 1 to 1000 (default 20)")
    .option("--before <version>", "only versions before this one")
    .examples("fanfold layers versions parcels")
    .action(async (layer_id: string, flags: { limit?: string; before?: string }) => {
      const wanted = checked("these versions cannot be listed", (problems) => ({
        limit: wholeNumber("--limit", flags.limit, 1, 1000, problems) ?? 20,
        before: wholeNumber("--before", flags.before, 1, Number.MAX_SAFE_INTEGER, problems),
      }));
      await withSession(cli, async ({ engine }) => {
        const page = await engine.call(layers_api.versions, { layer_id, ...wanted } as never);
        answer(cli, page, function* () {
          const rows = page.versions.map((one) => [
            String(one.version),
            one.mode,
            count(one.feature_count),
            one.rejected_count === 0 ? "" : count(one.rejected_count),
            changesOf(one),
            one.job_id?.slice(0, 8) ?? "",
            moment(one.created_at),
          ]);
          yield* table(["VERSION", "MODE", "FEATURES", "REJECTED", "COLUMNS", "JOB", "MADE"], rows, cli.io.width());
          if (page.next !== null) yield `more: add --before ${page.next}`;
        });
      });
    });
}

function changesOf(one: { columns_added: string[]; columns_removed: string[]; columns_changed: string[] }): string {
  const parts = [
    ...one.columns_added.map((name) => `+${name}`),
    ...one.columns_removed.map((name) => `-${name}`),
    ...one.columns_changed.map((name) => `~${name}`),
  ];
  return printable(parts.join(" "), 60);
}

function addRejects(cli: Cli, layers: CliCommand): void {
  layers
    .command("rejects")
    .summary("rows that were not taken, and why")
    .argument("<layer>", layer_words)
    .option("--job <id>", "only those that this job met: its whole id")
    .option("--code <code>", "only those with this reason, such as null_geometry")
    .pageOptions()
    .examples("fanfold layers rejects parcels", "fanfold layers rejects parcels --code invalid_geometry --json")
    .action(async (layer_id: string, flags: PageFlags & { job?: string; code?: string }) => {
      const wanted = checked("these rejects cannot be listed", (problems) => pageOf(flags, problems));
      await withSession(cli, async ({ engine }) => {
        const asked = { layer_id, job_id: flags.job, code: flags.code, ...wanted };
        const page = await engine.call(layers_api.rejects, asked as never);
        answer(cli, page, function* () {
          if (page.rejects.length === 0) return yield "no rejects";
          const codes = Object.entries(page.codes).map(([code, n]) => `${code} ${count(n)}`);
          yield `${page.counted_all ? "" : "of the first 10,000: "}${codes.join(", ")}`;
          const rows = page.rejects.map((one) => ({
            cells: [String(one.row_number), printable(one.code), printable(one.source, 60)],
            text: printable(one.reason, 300),
          }));
          yield* tableAndText(["ROW", "CODE", "SOURCE"], rows, cli.io.width());
          if (page.next !== null) yield `more: add --cursor '${page.next}'`;
        });
      });
    });
}

function addStyle(cli: Cli, layers: CliCommand): void {
  layers
    .command("style")
    .summary("say how a layer is drawn, for everybody")
    .argument("<layer>", layer_words)
    .argument("[pairs...]", "key=value: kind, column, colour, classes, opacity, width; JSON values are taken as JSON")
    .option("--parameters <json>", "the style as JSON text, @file.json, or - for standard input")
    .option("--remove", "take its own style away")
    .examples(
      "fanfold layers style parcels kind=single colour='#0b5cad'",
      "fanfold layers style towns --parameters @style.json",
      "fanfold layers style towns --remove",
    )
    .action(async (layer_id: string, pairs: string[], flags: { parameters?: string; remove?: boolean }) => {
      const problems: Problem[] = [];
      const given = await gatherParameters(cli.io, pairs, flags.parameters, problems);
      const style = flags.remove === true ? null : styleOf(given, problems);
      if (problems.length > 0) throw usage("this style cannot be set", { problems });
      await withSession(cli, async ({ engine }) => {
        const layer = await engine.call(layers_api.set_style, { layer_id, style, actor: cli.io.user() });
        answer(cli, layer, () => [
          style === null
            ? `${printable(layer.name)} has no style of its own now`
            : `${printable(layer.name)} is drawn ${style.column === null ? "in one colour" : `by ${printable(style.column)}`}`,
        ]);
      });
    });
}

function styleOf(given: Record<string, unknown>, problems: Problem[]): LayerStyle | null {
  const read = layer_style.safeParse(given);
  if (read.success) return read.data;
  for (const { path, message } of read.error.issues) {
    const fix = "see the examples of fanfold layers style --help";
    problems.push({ path: path.length === 0 ? "style" : path.join("."), problem: message, fix });
  }
  return null;
}
