// A lookup as a client system does it: dataset, resource and perhaps a version in, what there is to be had out.

import { type FormEvent, useState } from "react";
import { Link } from "wouter";
import type { Reply } from "../../api/call.js";
import { verbCommands } from "../../api/commands.js";
import { useGet } from "../../api/hooks.js";
import { pageBase } from "../../api/page_base.js";
import { to } from "../../routes.js";
import {
  Button,
  Card,
  CliAndCurl,
  Input,
  JsonOf,
  ProblemNote,
  Safe,
  Skeleton,
  StatusBadge,
  Time,
} from "../../ui/index.js";

interface Wanted {
  dataset_id: string;
  resource_id: string;
  version_id: string;
}

/** `of`: the resource is given, and the latest is looked up at once. */
export function LookupForm({ of }: { of?: { dataset_id: string; resource_id: string } }) {
  const [text, setText] = useState<Wanted>({ dataset_id: "", resource_id: "", version_id: "", ...of });
  const [wanted, setWanted] = useState<Wanted | null>(of === undefined ? null : { ...of, version_id: "" });
  const field = (name: keyof Wanted) => ({
    value: text[name],
    onChange: ({ target }: { target: { value: string } }) => setText({ ...text, [name]: target.value }),
  });
  const missing = text.dataset_id.trim() === "" || text.resource_id.trim() === "";
  const look = (event: FormEvent) => {
    event.preventDefault();
    if (missing) return;
    setWanted({
      dataset_id: text.dataset_id.trim(),
      resource_id: text.resource_id.trim(),
      version_id: text.version_id.trim(),
    });
  };
  return (
    <Card title={of === undefined ? "Look up what there is" : "What a client is given"}>
      <form className="lookup-form" onSubmit={look} aria-label="Lookup">
        {of === undefined && (
          <>
            <Input label="Dataset" maxLength={255} placeholder="dem" {...field("dataset_id")} />
            <Input label="Resource" maxLength={255} placeholder="alps" {...field("resource_id")} />
          </>
        )}
        <Input label="Version" maxLength={50} placeholder="the latest when left out" {...field("version_id")} />
        <Button type="submit" forbidden={missing ? "Name a dataset and a resource." : null}>
          Look up
        </Button>
      </form>
      {wanted !== null && <Answer wanted={wanted} />}
    </Card>
  );
}

function Answer({ wanted }: { wanted: Wanted }) {
  const { dataset_id, resource_id, version_id } = wanted;
  const query = { dataset_id, resource_id, version_id };
  const { data, error, isPlaceholderData } = useGet("releases.lookup", query, {
    when: ({ kind }) => /^(request|release)\./.test(kind),
  });
  const resource = [dataset_id, resource_id, version_id].filter((part) => part !== "").join("/");
  const { cli, curl } = verbCommands(pageBase(), "releases.lookup", query, {
    dataset_id: undefined,
    resource_id: undefined,
    version_id: undefined,
    resource,
  });
  if (data === undefined || isPlaceholderData) {
    return error === null ? <Skeleton lines={2} /> : <ProblemNote error={error} />;
  }
  return (
    <div className="stack" data-found={data.found}>
      <Found told={data} />
      <CliAndCurl cli={cli} curl={curl} />
    </div>
  );
}

function Found({ told: { found, why, release, result_data } }: { told: Reply<"releases.lookup"> }) {
  if (!found) {
    return (
      <p className="note warn" role="status">
        Nothing is given: <Safe text={why ?? "it is not there"} limit={300} />
        {release !== null && (
          <>
            {" "}
            (<Link href={to.request(release.request_id)}>its request</Link>)
          </>
        )}
        .
      </p>
    );
  }
  return (
    <>
      <div className="note ok" role="status">
        {release !== null && (
          <p>
            Version{" "}
            <Link href={to.request(release.request_id)}>
              <Safe text={release.version_id} limit={50} />
            </Link>
            {release.latest && ", the latest"}: <StatusBadge status={release.approval} /> {release.clearance}
            {release.decided_at !== null && (
              <>
                , <Time at={release.decided_at} />
              </>
            )}
            .
          </p>
        )}
      </div>
      <details>
        <summary>The answer as a client gets it</summary>
        <JsonOf value={result_data} name="result_data" />
      </details>
    </>
  );
}
