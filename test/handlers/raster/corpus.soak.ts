// The whole corpus in three targets with the system's GDAL: each raster becomes COGs that every judge takes and that hold what gdalwarp
// makes with the same options, or it is refused with a finding of the table, which says what to do.
import { expect, test } from "vitest";
import { finding_table } from "../../../src/geo/findings.js";
import { gdalPython } from "../../gdal_bin.js";
import { gdal } from "./both_engines.js";
import { isClean, judges } from "./cog_judges.js";
import {
  comparedWithGdalwarp,
  corpus_targets,
  makeCorpus,
  type Outcome,
  outcomeOf,
  rastersOfOthers,
} from "./corpus.js";

const python = await gdalPython();
const why_not = typeof python === "string" ? python : gdal.available ? null : gdal.why_not;
const reason = why_not === null ? "" : ` (skipped: ${why_not})`;

/** What is wrong beyond the header has codes of its own, as useful as the table's. */
const other_codes = ["raster_refused", "bad_crs", "unsupported_data_type"];

test.skipIf(why_not !== null)(`a corpus of rasters in three targets${reason}`, async () => {
  const { python: program } = python as { python: string };
  const corpus = [...(await makeCorpus(program)), ...(await rastersOfOthers())];
  expect(corpus.length).toBeGreaterThanOrEqual(60);
  const outcomes: Outcome[] = [];
  const waiting = corpus.flatMap((one) => corpus_targets.map((target) => [one, target] as const));
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [one, target] = next;
      outcomes.push(await outcomeOf(one, target, "gdal"));
    }
  };
  await Promise.all([work(), work()]);
  const refused = outcomes.filter(({ refused }) => refused !== null);
  const unhelpful = refused.filter(({ refused }) => !isHelpful(refused!.code));
  expect(unhelpful.map(({ name, target, refused }) => ({ name, target, ...refused }))).toEqual([]);

  const files = outcomes.flatMap(({ cogs }) => cogs.map(({ file }) => file));
  for (const [judge, judged, absent] of judges) {
    if (absent !== null) continue;
    const verdicts = await judged(files);
    const faults = verdicts.flatMap((verdict, at) => (isClean(verdict) ? [] : [{ judge, file: at, ...verdict }]));
    expect(faults).toEqual([]);
  }
  const compared = await comparedWithGdalwarp(program, outcomes);
  const differing = compared.filter(
    (one) => (one.differs_from_gdalwarp ?? 0) > 0 || (one.differs_from_source ?? 0) > 0 || one.same_grid === false,
  );
  process.stdout.write(`${told(corpus.length, outcomes, compared.length)}\n`);
  expect(differing).toEqual([]);
});

function isHelpful(code: string): boolean {
  return code in finding_table || other_codes.includes(code);
}

function told(rasters: number, outcomes: readonly Outcome[], compared: number): string {
  const codes = outcomes.flatMap(({ refused }) => (refused === null ? [] : [refused.code]));
  const counts = [...new Set(codes)].sort().map((code) => `${code} ${codes.filter((one) => one === code).length}`);
  const cogs = outcomes.reduce((sum, one) => sum + one.cogs.length, 0);
  return `${rasters} rasters in ${corpus_targets.length} targets: ${cogs} COGs, ${compared} compared; refused: ${counts.join(", ")}`;
}
