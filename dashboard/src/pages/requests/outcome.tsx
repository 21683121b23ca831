// What came of a request: addresses that can be followed, what went wrong and how to repair it, what was delivered, and what its jobs returned.
import { useState } from "react";
import { Link } from "wouter";
import { count } from "../../../../src/core/shown/figures.js";
import { verbCommands } from "../../api/commands.js";
import { pageBase } from "../../api/page_base.js";
import { useForbidden, useSession } from "../../api/session.js";
import { to } from "../../routes.js";
import { Button, Card, CliAndCurl, Copy, JsonOf, Safe, ShapeIcon } from "../../ui/index.js";
import { DeliverablePlace } from "../job/overview.js";
import { webLink } from "../map/items.js";
import type { Request } from "./records.js";
import { ResubmitDialog } from "./request_dialogs.js";
import { servicePlace, servicesInGroups } from "./services.js";

export function Outcome({ request }: { request: Request }) {
  return (
    <>
      <Errors request={request} />
      <div className="job-columns">
        <Services request={request} />
        <Deliverables request={request} />
      </div>
      <Outputs request={request} />
      <Commands request={request} />
    </>
  );
}

function Commands({ request: { request_id } }: { request: Request }) {
  return <CliAndCurl {...verbCommands(pageBase(), "requests.status", { request_id })} />;
}

const SHOWN = 12;

function Services({ request }: { request: Request }) {
  const { catalog } = useSession();
  const [all, setAll] = useState(false);
  const services = request.result_data?.services ?? [];
  const groups = servicesInGroups(services);
  return (
    <Card title="Services">
      {services.length === 0 ? (
        <p className="muted">
          {request.finished_at === null
            ? "What it makes is told here when it has ended."
            : "No job of it published anything that has an address."}
        </p>
      ) : (
        groups.map(({ name, text, services: some }) => (
          <div key={name} className="service-group">
            <h3>{text}</h3>
            <ul>
              {some.slice(0, all ? undefined : SHOWN).map(({ href, title, type }) => (
                <li key={`${name} ${href}`}>
                  <ServiceLink href={href} title={title} catalog={catalog} />
                  {type !== null && <span className="muted small">{type}</span>}
                  <Copy text={href} label="Copy the address" />
                </li>
              ))}
            </ul>
            {some.length > SHOWN && !all && (
              <Button className="small-button" onClick={() => setAll(true)}>
                All {count(some.length)}
              </Button>
            )}
          </div>
        ))
      )}
    </Card>
  );
}

/** A collection and an item have pages here; everything else is followed where it is. */
function ServiceLink({ href, title, catalog }: { href: string; title: string | null; catalog: boolean }) {
  const place = servicePlace(href, pageBase());
  const text = title ?? place?.path ?? href;
  if (catalog && place !== null && place.collection_id !== null) {
    return (
      <Link href={to.catalog(place.collection_id, place.item_id ?? undefined)}>
        <Safe text={text} limit={120} />
      </Link>
    );
  }
  const link = webLink(href);
  if (link === null) return <Safe text={text} limit={200} />;
  return (
    <a href={link} target="_blank" rel="noopener noreferrer">
      <Safe text={text} limit={120} />
    </a>
  );
}

interface ErrorGroup {
  signature: string;
  tasks: number;
  message: string | null;
  code: string | null;
  category: string | null;
}

interface JobErrors {
  job: string;
  job_id: string | null;
  status: string;
  message: string | null;
  code: string | null;
  groups: ErrorGroup[];
}

function Errors({ request }: { request: Request }) {
  const [resuming, setResuming] = useState(false);
  const operate = useForbidden("operate");
  const errors = (request.result_data?.errors ?? []) as unknown as JobErrors[];
  return (
    <>
      {errors.length > 0 && (
        <Card
          title="What went wrong"
          actions={
            request.resumable && (
              <Button kind="primary" forbidden={operate} onClick={() => setResuming(true)}>
                Resume
              </Button>
            )
          }
        >
          <ul className="stack bare-list outcomes">
            {errors.map(({ job, job_id, status, message, groups }) => (
              <li key={job} data-error={job}>
                <ShapeIcon status={status} />
                <div className="grow">
                  <p>
                    {job_id === null ? (
                      <Safe text={job} />
                    ) : (
                      <Link href={to.job(job_id, "errors")}>
                        <Safe text={job} />
                      </Link>
                    )}{" "}
                    <span className="bad">
                      <Safe text={message ?? status.replaceAll("_", " ")} limit={400} />
                    </span>
                  </p>
                  <ul className="request-errors small">
                    {groups.slice(0, 10).map(({ signature, tasks, message: what, code, category }) => (
                      <li key={signature}>
                        <strong className="number">{count(tasks)}</strong> {tasks === 1 ? "task" : "tasks"}:{" "}
                        <Safe text={what ?? code ?? "no message"} limit={300} />{" "}
                        {category !== null && (
                          <span className="chip">
                            <Safe text={category} />
                          </span>
                        )}
                      </li>
                    ))}
                    {groups.length > 10 && <li className="muted">and {groups.length - 10} more kinds</li>}
                  </ul>
                </div>
              </li>
            ))}
          </ul>
          <p className="muted">
            {request.resumable
              ? "Mend what is wrong, then resume: what completed is kept, and only what failed, was cancelled or never ran is done again. With other files or parameters, process it again."
              : "It is not to be resumed."}
          </p>
          <CliAndCurl {...verbCommands(pageBase(), "requests.resubmit", { request_id: request.request_id })} />
        </Card>
      )}
      {resuming && <ResubmitDialog request={request} mode="resume" onClose={() => setResuming(false)} />}
    </>
  );
}

interface Delivered {
  job: string;
  name: string;
  stage: string;
  count: number | string;
  location: string | null;
  locations?: string[];
  usable: boolean;
}

function Deliverables({ request }: { request: Request }) {
  const { catalog } = useSession();
  const delivered = (request.result_data?.deliverables ?? []) as unknown as Delivered[];
  return (
    <Card title="Deliverables">
      {delivered.length === 0 ? (
        <p className="muted">
          {request.finished_at === null
            ? "Nothing is told before its end."
            : "No task said that it delivered anything."}
        </p>
      ) : (
        <ul className="stack bare-list outcomes">
          {delivered.map(({ job, name, stage, count: n, location, locations, usable }) => (
            <li key={`${job} ${stage} ${name}`}>
              <ShapeIcon status={usable ? "completed" : "failed"} />
              <div className="grow">
                <p>
                  <strong className="number">{count(Number(n))}</strong> <Safe text={name} />{" "}
                  {!usable && <span className="bad">not usable</span>}
                </p>
                {(location === null ? (locations ?? []) : [location]).slice(0, 5).map((one) => (
                  <p key={one} className="small">
                    <DeliverablePlace location={one} catalog={catalog} />
                  </p>
                ))}
                <p className="small muted">
                  from job <Safe text={job} />
                </p>
              </div>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Outputs({ request }: { request: Request }) {
  const outputs = request.result_data?.outputs ?? {};
  if (Object.keys(outputs).length === 0) return null;
  return (
    <Card title="What its jobs returned">
      <JsonOf value={outputs} name={`outputs-${request.request_id.slice(0, 12)}`} open={1} />
    </Card>
  );
}
