// The pages of processes and of jobs. Pure.
import { type OgcLinks, with_f } from "../links.js";
import { crumbsOf } from "./feature_pages.js";
import { type Html, html, pageOf } from "./page.js";

interface Listed {
  id: string;
  description: string | null;
  offers_sync: boolean;
}

export function processesPage(
  links: OgcLinks,
  processes: readonly Listed[],
  as_json: string,
  next: string | null,
): Html {
  const rows = processes.map(
    ({ id, description, offers_sync }) => html`<tr><td><a href="${with_f(links.process(id), "html")}">${id}</a></td>
<td>${description}</td><td>${offers_sync ? "waited for, or as a job" : "as a job"}</td></tr>`,
  );
  const body = html`<div class="wide"><table><thead><tr><th>Process</th><th>What it does</th><th>Executed</th></tr></thead><tbody>${rows}</tbody></table></div>
${nextLink(next)}`;
  return pageOf("Processes", crumbsOf(links).slice(0, 1), as_json, body);
}

interface ShownJob {
  jobID: string;
  processID: string;
  status: string;
  message: string;
  created: string;
  progress?: number;
}

export function runsPage(links: OgcLinks, jobs: readonly ShownJob[], as_json: string, next: string | null): Html {
  const rows = jobs.map(
    ({
      jobID,
      processID,
      status,
      message,
      created,
      progress,
    }) => html`<tr><td><a href="${with_f(links.job(jobID), "html")}">${jobID.slice(0, 12)}</a></td>
<td>${processID}</td><td>${status}</td><td class="number">${progress === undefined ? "" : `${progress} %`}</td><td>${created}</td><td>${message}</td></tr>`,
  );
  const body = html`${jobs.length === 0 ? html`<p>There is no job yet.</p>` : null}
<div class="wide"><table><thead><tr><th>Job</th><th>Process</th><th>Status</th><th class="number">Progress</th><th>Created</th><th></th></tr></thead><tbody>${rows}</tbody></table></div>
${nextLink(next)}`;
  return pageOf("Jobs", crumbsOf(links).slice(0, 1), as_json, body);
}

function nextLink(next: string | null): Html | null {
  return next === null ? null : html`<p><a href="${with_f(next, "html")}" rel="next">Next page</a></p>`;
}
