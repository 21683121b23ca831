// What is different from what stood before, for the reviewer: rows of figures, parameters that changed, files that came and went.
import { Link } from "wouter";
import { count } from "../../../../src/core/shown/figures.js";
import { to } from "../../routes.js";
import { Safe, ShapeIcon, Table, Time } from "../../ui/index.js";
import { type Compared, comparedRows, fileChanges, parameterChanges } from "./compared.js";
import type { Review, ReviewSide } from "./records.js";

const MOST_FILES = 20;

export function Changes({ review, whole = false }: { review: Review; whole?: boolean }) {
  const { now, before } = review;
  const rows = comparedRows(now, before);
  const shown = whole || before === null ? rows : rows.filter(({ differs }) => differs === true);
  return (
    <div className="stack" data-compared={review.before_is ?? "nothing"}>
      <Against review={review} />
      {shown.length === 0 ? (
        <p className="muted">In figures nothing is different.</p>
      ) : (
        <Figures rows={shown} has_before={before !== null} />
      )}
      {before !== null && <Parameters before={before} now={now} />}
      {before !== null && <Files before={before} now={now} />}
      {now.at_least && <p className="muted small">It has more tasks or files than were counted here.</p>}
      {!whole && (
        <p className="small">
          <Link href={to.request(now.request_id, "review")}>All of it, side by side</Link>
        </p>
      )}
    </div>
  );
}

function Against({ review: { before, before_is } }: { review: Review }) {
  if (before === null) {
    return <p className="muted">It is the first of its resource: there is nothing to hold it against.</p>;
  }
  const { request_id, version_id, run, release } = before;
  const link = (
    <Link href={to.request(request_id)}>
      <Safe text={before_is === "run_before" ? `run ${run}` : `version ${version_id}`} limit={80} />
    </Link>
  );
  if (before_is === "approved") {
    return (
      <p>
        Held against {link}, approved <Time at={release?.decided_at ?? before.finished_at} />
        {release?.reviewer != null && (
          <>
            {" "}
            by <Safe text={release.reviewer} limit={80} />
          </>
        )}
        {release?.reason != null && (
          <>
            : <Safe text={release.reason} limit={200} />
          </>
        )}
        .
      </p>
    );
  }
  return (
    <p>
      Held against {link}
      {before_is === "run_before"
        ? " of the same version: none before it is approved."
        : `, the version before, which is ${(release?.approval ?? before.status).replaceAll("_", " ")}: none is approved.`}
    </p>
  );
}

function Figures({ rows, has_before }: { rows: readonly Compared[]; has_before: boolean }) {
  return (
    <Table<Compared>
      caption="What is different"
      rows={rows}
      rowKey={({ name }) => name}
      rowClass={({ differs }) => (differs === true ? "differs" : undefined)}
      columns={[
        {
          title: "What",
          cell: ({ name, differs }) => (
            <span className="compared-name">
              {differs === true && <ShapeIcon status="partial_success" size={10} />}
              {name}
            </span>
          ),
        },
        ...(has_before
          ? [
              {
                title: "Before",
                cell: ({ before }: Compared) => (
                  <span className="number muted">
                    <Safe text={before ?? "–"} limit={200} />
                  </span>
                ),
              },
            ]
          : []),
        {
          title: "Now",
          cell: ({ now, differs, by }) => (
            <span className="number">
              {differs === true ? (
                <strong>
                  <Safe text={now} limit={200} />
                </strong>
              ) : (
                <Safe text={now} limit={200} />
              )}
              {by !== null && <span className="muted"> ({by})</span>}
            </span>
          ),
        },
      ]}
    />
  );
}

function Parameters({ before, now }: { before: ReviewSide; now: ReviewSide }) {
  const changes = parameterChanges(before.parameters, now.parameters);
  if (changes.length === 0) return <p className="muted">The parameters are the same.</p>;
  return (
    <div className="stack">
      <h3>Parameters that changed</h3>
      <ul className="bare-list parameter-changes">
        {changes.map(({ path, before: was, now: is }) => (
          <li key={path}>
            <code>
              <Safe text={path} limit={200} />
            </code>
            <span className="change">
              <del>
                <Safe text={was ?? "not given"} limit={300} />
              </del>{" "}
              →{" "}
              <ins>
                <Safe text={is ?? "not given"} limit={300} />
              </ins>
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Files({ before, now }: { before: ReviewSide; now: ReviewSide }) {
  const { added, gone } = fileChanges(before.files, now.files);
  if (added.length + gone.length === 0) return <p className="muted">It is made of the same files.</p>;
  return (
    <div className="stack">
      <h3>Files it is made of</h3>
      <ul className="bare-list parameter-changes mono small">
        {added.slice(0, MOST_FILES).map((file) => (
          <li key={`+${file}`}>
            <ins>
              + <Safe text={file} limit={300} />
            </ins>
          </li>
        ))}
        {added.length > MOST_FILES && <li>and {count(added.length - MOST_FILES)} more that are new</li>}
        {gone.slice(0, MOST_FILES).map((file) => (
          <li key={`-${file}`}>
            <del>
              − <Safe text={file} limit={300} />
            </del>
          </li>
        ))}
        {gone.length > MOST_FILES && <li>and {count(gone.length - MOST_FILES)} more that are gone</li>}
      </ul>
    </div>
  );
}
