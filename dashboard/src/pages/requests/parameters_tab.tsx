// What was asked for: files, parameters, names of what is made of it, and what the client said about itself.
import { Link } from "wouter";
import { count } from "../../../../src/core/shown/figures.js";
import { to } from "../../routes.js";
import { Card, Copy, JsonOf, Safe } from "../../ui/index.js";
import type { Request } from "./records.js";

const MOST_FILES = 200;

export function AskedFor({ request }: { request: Request }) {
  const { request_id, files, parameters, names, metadata } = request;
  const short = request_id.slice(0, 12);
  return (
    <>
      <div className="job-columns">
        <Card title={files.length === 1 ? "1 file" : `${count(files.length)} files`}>
          {files.length === 0 && <p className="muted">It names no file.</p>}
          <ul className="unpublish-list mono small">
            {files.slice(0, MOST_FILES).map((file) => (
              <li key={file}>
                <Safe text={file} limit={300} /> <Copy text={file} label="Copy the place" />
              </li>
            ))}
            {files.length > MOST_FILES && <li>and {count(files.length - MOST_FILES)} more</li>}
          </ul>
        </Card>
        <Card title="Called">
          <JsonOf value={names} name={`names-${short}`} />
        </Card>
      </div>
      <Card title="Parameters">
        <JsonOf value={parameters} name={`parameters-${short}`} />
      </Card>
      {Object.keys(metadata).length > 0 && (
        <Card title="What the client said">
          <JsonOf value={metadata} name={`metadata-${short}`} />
        </Card>
      )}
      <p>
        <Link href={to.ask({ like: request_id })}>Ask for another version like this one</Link>
      </p>
    </>
  );
}
