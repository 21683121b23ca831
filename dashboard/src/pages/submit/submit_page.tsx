// Submit a job: choose its type, fill in the form its parameters make, look what would happen, send it.
import { useEffect, useMemo, useState } from "react";
import { useLocation, useParams } from "wouter";
import type { WouldSubmit } from "../../../../src/core/api/jobs.js";
import { ApiProblem, callText, request } from "../../api/call.js";
import { useGet } from "../../api/hooks.js";
import { pageBase } from "../../api/page_base.js";
import { useForbidden } from "../../api/session.js";
import { checkValue } from "../../form/checks.js";
import { starterOf } from "../../form/choices.js";
import { submitLines, submitText } from "../../form/form_lines.js";
import { SchemaForm } from "../../form/schema_form.js";
import { isRecord, readValue, type Value } from "../../form/values.js";
import { to, useQueryState } from "../../routes.js";
import {
  announce,
  Button,
  Card,
  CommandLine,
  JobLink,
  Page,
  ProblemNote,
  Safe,
  Skeleton,
  StatusBadge,
} from "../../ui/index.js";
import { BlueprintList, type BlueprintRecord, StageChips } from "./blueprint_list.js";
import { DryRun } from "./dry_run.js";
import { option_names, options_schema, optionsOfJob } from "./options.js";
import { placed } from "./sending.js";
import "./submit.css";

export function SubmitPage() {
  const { job_type } = useParams<{ job_type?: string }>();
  const [{ job }] = useQueryState({ job: "" });
  if (job_type !== undefined) return <SubmitOne key={job_type} job_type={job_type} />;
  return job === "" ? <BlueprintList /> : <LikeJob job_id={job} />;
}

/** Only a job was named: on to its type. */
function LikeJob({ job_id }: { job_id: string }) {
  const [, navigate] = useLocation();
  const [problem, setProblem] = useState<unknown>(null);
  useEffect(() => {
    callText("jobs.get", { job_id }).then((text) => {
      navigate(to.submit((JSON.parse(text) as { job_type: string }).job_type, { job: job_id }), { replace: true });
    }, setProblem);
  }, [job_id, navigate]);
  return (
    <Page title="Submit a job">
      {problem === null ? <Skeleton /> : <ProblemNote error={problem} title="That job cannot be read" />}
    </Page>
  );
}

interface Start {
  parameters: Value;
  options: Value;
  /** Whose they are. */
  job_id: string | null;
}

function SubmitOne({ job_type }: { job_type: string }) {
  const [{ job, parameters }] = useQueryState({ job: "", parameters: "" });
  const { data: blueprint, error } = useGet("blueprints.get", { job_type });
  const { start, problem } = useStart(blueprint, job, parameters);
  const crumbs = [{ href: to.submit(), text: "Submit" }];
  if (blueprint === undefined || start === null) {
    return (
      <Page title={job_type} crumbs={crumbs}>
        <ProblemNote error={error ?? problem} title="This cannot be prepared" />
        {error === null && problem === null && <Skeleton lines={6} />}
      </Page>
    );
  }
  return (
    <Page title={`Submit ${job_type}`} heading={<Safe text={job_type} />} crumbs={crumbs}>
      {blueprint.description !== null && (
        <p className="muted">
          <Safe text={blueprint.description} />
        </p>
      )}
      <StageChips blueprint={blueprint} />
      <SubmitForm key={job + parameters} blueprint={blueprint} start={start} />
    </Page>
  );
}

/** What the form begins with: a job that was submitted before, parameters in the address, or what the schema fixes. */
function useStart(blueprint: BlueprintRecord | undefined, job: string, parameters: string) {
  const [start, setStart] = useState<Start | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  useEffect(() => {
    if (blueprint === undefined) return;
    const schema = blueprint.parameters ?? {};
    if (job !== "") {
      callText("jobs.get", { job_id: job }).then((text) => {
        const told = readValue(text);
        const given = isRecord(told) ? told.parameters : {};
        setStart({
          parameters: given,
          options: optionsOfJob(told),
          job_id: isRecord(told) ? String(told.job_id) : job,
        });
      }, setProblem);
      return;
    }
    const starter = starterOf(schema, schema) ?? {};
    if (parameters === "") {
      setStart({ parameters: starter, options: {}, job_id: null });
      return;
    }
    try {
      const given = readValue(parameters);
      if (!isRecord(given)) throw new SyntaxError("parameters are an object");
      setStart({ parameters: given, options: {}, job_id: null });
    } catch (error) {
      setProblem(new ApiProblem({ detail: `the parameters in the address are no JSON: ${(error as Error).message}` }));
    }
  }, [blueprint, job, parameters]);
  return { start, problem };
}

interface Submitted {
  job_id: string;
  status: string;
  created: boolean;
  resumed: boolean;
}

function SubmitForm({ blueprint, start }: { blueprint: BlueprintRecord; start: Start }) {
  const job_type = blueprint.type;
  const [, navigate] = useLocation();
  const forbidden = useForbidden("submit");
  const [parameters, setParameters] = useState(start.parameters);
  const [options, setOptions] = useState(start.options);
  const [show_all, setShowAll] = useState(false);
  const [busy, setBusy] = useState<"dry" | "real" | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [told, setTold] = useState<WouldSubmit | null>(null);
  const [submitted, setSubmitted] = useState<Submitted | null>(null);
  const schema = blueprint.parameters ?? {};
  const own = useMemo(
    () => [...checkValue(schema, parameters, schema), ...checkValue(options_schema, options, options_schema)],
    [schema, parameters, options],
  );
  const forget = () => {
    setProblem(null);
    setTold(null);
    setSubmitted(null);
  };
  const send = async (dry_run: boolean, with_options = options) => {
    // The first time what is wrong is shown; a reader who insists is answered by the server.
    if (own.length > 0 && !show_all) {
      setShowAll(true);
      announce(`${own.length} ${own.length === 1 ? "problem" : "problems"}`);
      return;
    }
    forget();
    setBusy(dry_run ? "dry" : "real");
    try {
      const body = submitText(parameters, with_options, dry_run);
      const answer = await (
        await request("POST", "/api/jobs/submit/{job_type}", { params: { job_type }, body })
      ).json();
      if (dry_run) {
        setTold(answer as WouldSubmit);
        announce("The dry run is done");
      } else if ((answer as Submitted).created || (answer as Submitted).resumed) {
        announce("Submitted");
        navigate(to.job((answer as Submitted).job_id));
      } else setSubmitted(answer as Submitted);
    } catch (error) {
      setShowAll(true);
      setProblem(error instanceof ApiProblem ? error : new ApiProblem({ detail: String(error) }));
    } finally {
      setBusy(null);
    }
  };
  const where = placed(problem?.problems ?? [], option_names);
  const { cli, curl } = submitLines(pageBase(), job_type, parameters, options);
  return (
    <div className="submit">
      <div className="stack">
        {start.job_id !== null && (
          <div className="note">
            Filled in from job <JobLink id={start.job_id} />. The same parameters are the same job: change them, or
            choose mode force for one more run.
          </div>
        )}
        <Card title="Parameters">
          <SchemaForm
            schema={schema}
            value={parameters}
            onChange={(value) => {
              forget();
              setParameters(value);
            }}
            told={where.parameters}
            show_all={show_all}
            label="parameters"
          />
        </Card>
        <details className="card" open={where.options.length > 0 || undefined}>
          <summary>
            <h2>Options</h2>
            <span className="muted small">mode, priority, labels, deadline, retries, dependencies, webhooks</span>
          </summary>
          <SchemaForm
            schema={options_schema}
            value={options}
            onChange={(value) => {
              forget();
              setOptions(value);
            }}
            told={where.options}
            show_all={show_all}
            label="options"
          />
        </details>
      </div>
      <aside className="stack submit-side" aria-label="What will be sent">
        <Card title="Send it">
          <div className="row">
            <Button busy={busy === "dry"} forbidden={forbidden} onClick={() => void send(true)}>
              Dry run
            </Button>
            <Button kind="primary" busy={busy === "real"} forbidden={forbidden} onClick={() => void send(false)}>
              {own.length > 0 && show_all ? "Submit anyway" : "Submit"}
            </Button>
          </div>
          {own.length > 0 && show_all && problem === null && (
            <div className="note warn" role="status">
              {own.length === 1 ? "One thing is" : `${own.length} things are`} not right: see the fields. The server has
              the last word.
            </div>
          )}
          {problem !== null && (
            <ProblemNote
              error={shownProblem(problem, where.others)}
              title={
                where.parameters.length + where.options.length > 0 ? "Not accepted, see the fields" : "Not accepted"
              }
            />
          )}
          {submitted !== null && (
            <div className="note warn" role="status" data-exists>
              It exists already: <JobLink id={submitted.job_id} /> <StatusBadge status={submitted.status} />. Nothing
              was started.
              <div className="row">
                <Button
                  className="small-button"
                  onClick={() => {
                    const forced = { ...(isRecord(options) ? options : {}), mode: "force" };
                    setOptions(forced);
                    void send(false, forced);
                  }}
                >
                  Run it once more
                </Button>
              </div>
            </div>
          )}
          {told !== null && <DryRun told={told} />}
        </Card>
        <Card title="The same on the command line">
          <CommandLine label="CLI" text={cli} />
          <CommandLine label="curl" text={curl} />
        </Card>
      </aside>
    </div>
  );
}

/** What has no field of its own stays in the note; the rest stands at its fields. */
function shownProblem(problem: ApiProblem, others: ApiProblem["problems"]): ApiProblem {
  const { status, code, message, hint, retry_after_s } = problem;
  const placed_all = problem.problems.length > 0 && others.length === 0;
  return new ApiProblem({
    status,
    code,
    problems: others,
    retry_after_s,
    detail: placed_all
      ? `${problem.problems.length} ${problem.problems.length === 1 ? "problem" : "problems"}`
      : message,
    hint,
  });
}
