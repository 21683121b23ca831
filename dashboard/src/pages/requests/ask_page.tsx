// Ask for a dataset: name it, bring a file or say where one is, look what would become of it, send it.
import { useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import type { WouldRequest } from "../../../../src/core/api/platform/requests.js";
import { ApiProblem, call, request } from "../../api/call.js";
import { useGet } from "../../api/hooks.js";
import { pageBase } from "../../api/page_base.js";
import { useForbidden } from "../../api/session.js";
import { SchemaForm } from "../../form/schema_form.js";
import { fromPlain } from "../../form/values.js";
import { to, useQueryState } from "../../routes.js";
import {
  announce,
  Button,
  Card,
  CommandLine,
  Input,
  Page,
  ProblemNote,
  Safe,
  Select,
  Skeleton,
  StatusBadge,
  TextArea,
} from "../../ui/index.js";
import "../job/job.css";
import "../submit/submit.css";
import {
  type Asked,
  askLines,
  bodyText,
  bringLines,
  filesOf,
  keyOf,
  nothing_asked,
  placed,
  recipeFor,
} from "./ask_body.js";
import { FilesToBring } from "./files_to_bring.js";
import type { Recipe } from "./records.js";
import "./requests.css";
import { uploadFile } from "./upload_file.js";
import { Would } from "./would.js";

const crumbs = [{ href: to.requests(), text: "Requests" }];
const fields = ["dataset_id", "resource_id", "version_id", "data_type", "files", "client_id", "mode", "priority"];

export function AskPage() {
  const [{ like, dataset, resource }] = useQueryState({ like: "", dataset: "", resource: "" });
  const recipes = useGet("recipes.list");
  const [start, setStart] = useState<Asked | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  useEffect(() => {
    if (like === "") {
      setStart({ ...nothing_asked, dataset_id: dataset, resource_id: resource });
      return;
    }
    call("requests.status", { request_id: like }).then(
      (told) =>
        setStart({
          ...nothing_asked,
          dataset_id: told.dataset_id,
          resource_id: told.resource_id,
          data_type: told.data_type,
          places: told.files.join("\n"),
          parameters: fromPlain(told.parameters),
          client_id: typeof told.metadata.client_id === "string" ? told.metadata.client_id : "",
        }),
      setProblem,
    );
  }, [like, dataset, resource]);
  return (
    <Page title="Ask for a dataset" crumbs={crumbs}>
      <ProblemNote error={recipes.error ?? problem} title="This cannot be prepared" />
      {recipes.data === undefined || start === null ? (
        recipes.error === null && problem === null && <Skeleton lines={6} />
      ) : (
        <AskForm key={like} start={start} recipes={recipes.data.recipes} />
      )}
    </Page>
  );
}

interface Answered {
  request_id: string;
  status: string;
  created: boolean;
  resumed: boolean;
}

function AskForm({ start, recipes }: { start: Asked; recipes: readonly Recipe[] }) {
  const [, navigate] = useLocation();
  const forbidden = useForbidden("submit");
  const [asked, setAsked] = useState(start);
  const [files, setFiles] = useState<readonly File[]>([]);
  const [busy, setBusy] = useState<"dry" | "real" | null>(null);
  const [sent, setSent] = useState<{ name: string; share: number } | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [told, setTold] = useState<WouldRequest | null>(null);
  const [there, setThere] = useState<Answered | null>(null);
  const leaving = useRef(new AbortController());
  useEffect(() => {
    const here = new AbortController();
    leaving.current = here;
    return () => here.abort();
  }, []);
  const whole: Asked = useMemo(() => ({ ...asked, brought: files.map(({ name }) => name) }), [asked, files]);
  const refs = filesOf(whole);
  const recipe =
    recipes.find(({ data_type }) => data_type === asked.data_type) ?? recipeFor(refs, recipes) ?? undefined;
  const forget = () => {
    setProblem(null);
    setTold(null);
    setThere(null);
  };
  const change = (changed: Partial<Asked>) => {
    forget();
    setAsked((before) => ({ ...before, ...changed }));
  };
  const missing = (["dataset_id", "resource_id", "version_id"] as const).filter((name) => asked[name].trim() === "");

  const send = async (dry: boolean) => {
    forget();
    setBusy(dry ? "dry" : "real");
    try {
      if (!dry) await bring();
      const query = dry ? { dry_run: "true" } : {};
      const answer = await (await request("POST", "/api/platform/submit", { query, body: bodyText(whole) })).json();
      if (dry) {
        setTold(answer as WouldRequest);
        announce("The dry run is done");
        return;
      }
      const reply = answer as Answered;
      if (reply.created || reply.resumed) {
        announce("Asked");
        navigate(to.request(reply.request_id));
      } else setThere(reply);
    } catch (error) {
      setProblem(error instanceof ApiProblem ? error : new ApiProblem({ detail: String(error) }));
    } finally {
      setBusy(null);
      setSent(null);
    }
  };
  /** What is there already is looked at first: a file that lies at its place is not sent for nothing. */
  const bring = async () => {
    if (files.length === 0) return;
    await request("POST", "/api/platform/submit", { query: { dry_run: "true" }, body: bodyText(whole) });
    for (const file of files) {
      setSent({ name: file.name, share: 0 });
      await uploadFile({
        key: keyOf(whole, file.name),
        file,
        signal: leaving.current.signal,
        onProgress: (bytes) => setSent({ name: file.name, share: file.size === 0 ? 1 : bytes / file.size }),
      });
    }
  };
  const where = placed(problem?.problems ?? [], fields);
  const lines = askLines(pageBase(), whole);
  return (
    <div className="submit">
      <div className="stack">
        <Card title="Which dataset">
          <div className="ask-names">
            <Input
              label="Dataset"
              value={asked.dataset_id}
              maxLength={255}
              placeholder="dem"
              problem={where.fields.get("dataset_id")}
              onChange={({ target }) => change({ dataset_id: target.value })}
            />
            <Input
              label="Resource"
              value={asked.resource_id}
              maxLength={255}
              placeholder="alps"
              problem={where.fields.get("resource_id")}
              onChange={({ target }) => change({ resource_id: target.value })}
            />
            <Input
              label="Version"
              value={asked.version_id}
              maxLength={50}
              placeholder="2024-1"
              problem={where.fields.get("version_id")}
              onChange={({ target }) => change({ version_id: target.value })}
            />
          </div>
        </Card>
        <Card title="What it is made of">
          <FilesToBring
            files={files}
            onFiles={(some) => {
              forget();
              setFiles(some);
            }}
          />
          <TextArea
            label="Places of files that are there already"
            help="One below the other: bronze:scene.tif"
            rows={asked.places.split("\n").length > 2 ? 5 : 2}
            value={asked.places}
            problem={where.fields.get("files")}
            onChange={({ target }) => change({ places: target.value })}
          />
        </Card>
        <Card title="How">
          <Select
            label="Recipe"
            value={asked.data_type}
            problem={where.fields.get("data_type")}
            onChange={({ target }) => change({ data_type: target.value })}
            options={[
              { value: "", text: `found from the files${recipe !== undefined ? `: ${recipe.data_type}` : ""}` },
              ...recipes.map(({ data_type, description }) => ({
                value: data_type,
                text: description === null ? data_type : `${data_type}: ${description}`,
              })),
            ]}
          />
          {recipe !== undefined && <RecipeJobs recipe={recipe} />}
          {recipe?.parameters != null && (
            <SchemaForm
              key={recipe.data_type}
              schema={recipe.parameters as never}
              value={asked.parameters}
              onChange={(parameters) => change({ parameters })}
              told={where.parameters}
              show_all={false}
              label="parameters"
            />
          )}
          <div className="ask-names">
            <Input
              label="Client"
              help="Which system asks"
              maxLength={200}
              value={asked.client_id}
              problem={where.fields.get("client_id")}
              onChange={({ target }) => change({ client_id: target.value })}
            />
            <Input
              label="Priority"
              type="number"
              help="Higher runs first"
              value={asked.priority}
              problem={where.fields.get("priority")}
              onChange={({ target }) => change({ priority: target.value })}
            />
            <Select
              label="When it is there already"
              value={asked.mode}
              onChange={({ target }) => change({ mode: target.value as Asked["mode"] })}
              options={[
                { value: "reuse", text: "give what is there" },
                { value: "resume", text: "go on with what failed" },
                { value: "force", text: "process it again" },
              ]}
            />
          </div>
        </Card>
      </div>
      <aside className="stack submit-side" aria-label="What will be sent">
        <Card title="Send it">
          <div className="row">
            <Button busy={busy === "dry"} forbidden={forbidden} onClick={() => void send(true)}>
              Dry run
            </Button>
            <Button kind="primary" busy={busy === "real"} forbidden={forbidden} onClick={() => void send(false)}>
              Ask
            </Button>
          </div>
          {missing.length > 0 && (
            <p className="muted small">
              Still to be named: {missing.map((name) => name.replace("_id", "")).join(", ")}.
            </p>
          )}
          {sent !== null && (
            <label className="ask-sent">
              <span className="small">
                <Safe text={sent.name} limit={80} /> {Math.round(sent.share * 100)} %
              </span>
              <progress max={1} value={sent.share} />
            </label>
          )}
          {problem !== null && <ProblemNote error={withProblems(problem, where.others)} title="Not accepted" />}
          {there !== null && (
            <div className="note warn" role="status" data-exists>
              It exists already: <Link href={to.request(there.request_id)}>{there.request_id.slice(0, 12)}</Link>{" "}
              <StatusBadge status={there.status} />. Nothing was started.
            </div>
          )}
          {told !== null && <Would told={told} />}
        </Card>
        <Card title="The same on the command line">
          <CommandLine label="CLI" text={lines.cli} />
          {files
            .slice(0, 1)
            .flatMap((file) =>
              bringLines(pageBase(), whole, file.name, file.size).map((line) => (
                <CommandLine key={line} label="curl" text={line} />
              )),
            )}
          <CommandLine label="curl" text={lines.curl} />
        </Card>
      </aside>
    </div>
  );
}

function RecipeJobs({ recipe }: { recipe: Recipe }) {
  return (
    <ul className="stage-list" aria-label={`Jobs of ${recipe.data_type}`}>
      {recipe.jobs.map(({ name }) => (
        <li key={name}>
          <Safe text={name} />
        </li>
      ))}
    </ul>
  );
}

/** What stands at its field is counted in the note, and not repeated. */
function withProblems(problem: ApiProblem, others: ApiProblem["problems"]): ApiProblem {
  const at_fields = problem.problems.length - others.length;
  const { status, code, hint, message } = problem;
  const detail = at_fields === 0 ? message : `${message} (${at_fields === 1 ? "see the field" : "see the fields"})`;
  return new ApiProblem({ status, code, detail, hint, problems: others });
}
