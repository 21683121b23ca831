// The job types there are, to choose one.

import { Link } from "wouter";
import type { Reply } from "../../api/call.js";
import { useGet } from "../../api/hooks.js";
import { readSchema } from "../../form/schema.js";
import { to, useQueryState } from "../../routes.js";
import { Empty, Input, Page, ProblemNote, Safe, Skeleton } from "../../ui/index.js";

export type BlueprintRecord = Reply<"blueprints.get">;

export function BlueprintList() {
  const [{ q }, set] = useQueryState({ q: "" });
  const { data, error } = useGet("blueprints.list");
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = data?.blueprints.filter((one) => {
    const text = [one.type, one.description ?? "", ...one.stages.map(({ name }) => name)].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return (
    <Page title="Submit a job">
      <Input
        label="Find a job type"
        type="search"
        data-search
        value={q}
        placeholder="name, description or stage"
        onChange={({ target }) => set({ q: target.value }, { replace: true })}
      />
      <ProblemNote error={error} title="The job types cannot be read" />
      {shown === undefined && error === null && <Skeleton lines={5} />}
      {shown !== undefined && shown.length === 0 && (
        <Empty
          title={words.length === 0 ? "No job types yet" : "No job type fits"}
          command="npx fanfold serve --app ./app.ts"
        >
          {words.length === 0
            ? "Declare one with defineJob and start the server with it, or save one as data."
            : "Search for less."}
        </Empty>
      )}
      <ul className="blueprints">
        {shown?.map((one) => (
          <li key={one.type}>
            <BlueprintCard blueprint={one} />
          </li>
        ))}
      </ul>
    </Page>
  );
}

function BlueprintCard({ blueprint }: { blueprint: BlueprintRecord }) {
  const { type, description, parameters, source, version } = blueprint;
  const { shape } = readSchema(parameters ?? {}, parameters ?? {});
  const needed = shape.kind === "object" ? shape.properties.filter(({ required }) => required) : [];
  return (
    <Link href={to.submit(type)} className="card blueprint">
      <h2 className="mono">
        <Safe text={type} />
      </h2>
      {description !== null && (
        <p className="muted">
          <Safe text={description} limit={300} />
        </p>
      )}
      <StageChips blueprint={blueprint} />
      <p className="small muted">
        {needed.length === 0 ? (
          "Nothing has to be given."
        ) : (
          <>
            Needs <Safe text={needed.map(({ name }) => name).join(", ")} limit={120} />.
          </>
        )}
        {source === "saved" && ` Saved as data, version ${version}.`}
      </p>
    </Link>
  );
}

export function StageChips({ blueprint }: { blueprint: BlueprintRecord }) {
  return (
    <ol className="stage-list" aria-label="Stages">
      {blueprint.stages.slice(0, 12).map(({ number, name, parallelism }) => (
        <li key={number} title={parallelism}>
          <Safe text={name} limit={40} />
          {parallelism !== "single" && (
            <span className="muted" aria-hidden="true">
              {parallelism === "fan_in" ? " ⋀" : " ×"}
            </span>
          )}
        </li>
      ))}
      {blueprint.stages.length > 12 && <li className="muted">{blueprint.stages.length - 12} more</li>}
    </ol>
  );
}
