// Exceptions by the names that OGC API Processes gives them, beside our own words. `problem_type` is what the answer has as its type.
import { FanfoldError, NotFound } from "../../../../core/errors/errors.js";
import { quoted } from "../../../../core/errors/problems.js";
import type { OgcLinks } from "../links.js";

const ogc = "http://www.opengis.net/def/exceptions/ogcapi-processes-1/1.0";

export class NoSuchProcess extends NotFound {
  readonly problem_type = `${ogc}/no-such-process`;

  constructor(id: string, { root }: OgcLinks) {
    super(`there is no process ${quoted(id)}`, { hint: `${root}/processes lists what there is` });
  }
}

export class NoSuchJob extends NotFound {
  readonly problem_type = `${ogc}/no-such-job`;

  constructor(id: string, { root }: OgcLinks) {
    super(`there is no job ${quoted(id)}`, { hint: `${root}/jobs lists what there is` });
  }
}

export class ResultNotReady extends NotFound {
  readonly problem_type = `${ogc}/result-not-ready`;

  constructor(job_address: string) {
    super("the job has not ended", { hint: `${job_address} tells how it is` });
  }
}

export class NoSuchOutput extends NotFound {
  constructor(id: string, known: readonly string[]) {
    super(`there is no output ${quoted(id)}`, {
      hint: known.length === 0 ? "it gave none" : `one of ${known.join(", ")}`,
    });
  }
}

/** What a job that did not end well has in place of results. */
export class NoResults extends FanfoldError {
  override readonly http_status = 422;
  override readonly code = "no_results";
  readonly problem_type: string;

  constructor(why: string, reason: string, hint: string) {
    super("conflict", why, { hint });
    this.problem_type = `urn:fanfold:error:${reason}`;
  }
}
