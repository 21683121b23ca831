// Which page is shown. Each is loaded when it is first asked for.
import { type ComponentType, lazy, Suspense, useEffect, useState } from "react";
import { Link, Route, Router, Switch, useLocation } from "wouter";
import { ApiProblem, request, whenSignedOut } from "./api/call.js";
import { whenSignInChanges } from "./api/other_tabs.js";
import { type Session, SessionContext } from "./api/session.js";
import { ErrorFence } from "./error_fence.js";
import { Frame } from "./frame.js";
import { startLive } from "./live/live.js";
import { base_path, to } from "./routes.js";
import { Empty, ProblemNote, Skeleton } from "./ui/note.js";
import { Page } from "./ui/page.js";

type AnyPage = ComponentType<Record<string, never>>;

/** A page folder exports its pages by name. */
const folders = import.meta.glob<Record<string, AnyPage>>("./pages/*/index.ts");

function page(folder: string, name: string): AnyPage {
  return lazy(async () => {
    const shown = (await folders[`./pages/${folder}/index.ts`]?.())?.[name];
    if (shown === undefined) throw new Error(`there is no ${name} in pages/${folder}`);
    return { default: shown };
  });
}

const SignInPage = page("sign_in", "SignInPage");

/** Parameters of a path are read with useParams of wouter. */
const pages: readonly { path: string; shown: AnyPage }[] = [
  { path: "/", shown: page("jobs", "JobsPage") },
  { path: "/jobs", shown: page("jobs", "JobsPage") },
  { path: "/jobs/:job_id/:tab?", shown: page("job", "JobPage") },
  { path: "/groups/:group_id?", shown: page("groups", "GroupsPage") },
  { path: "/requests", shown: page("requests", "RequestsPage") },
  { path: "/requests/new", shown: page("requests", "AskPage") },
  { path: "/requests/:request_id/:tab?", shown: page("requests", "RequestPage") },
  { path: "/datasets", shown: page("datasets", "DatasetsPage") },
  { path: "/datasets/resource", shown: page("datasets", "ResourcePage") },
  { path: "/connectors", shown: page("connectors", "ConnectorsPage") },
  { path: "/tasks", shown: page("task", "TasksPage") },
  { path: "/tasks/:task_id", shown: page("task", "TaskPage") },
  { path: "/workers", shown: page("workers", "WorkersPage") },
  { path: "/queues", shown: page("queues", "QueuesPage") },
  { path: "/health", shown: page("health", "HealthPage") },
  { path: "/schedules/:name?", shown: page("schedules", "SchedulesPage") },
  { path: "/webhooks/:endpoint_id?", shown: page("webhooks", "WebhooksPage") },
  { path: "/keys", shown: page("keys", "KeysPage") },
  { path: "/limits", shown: page("limits", "LimitsPage") },
  { path: "/audit", shown: page("audit", "AuditPage") },
  { path: "/submit/:job_type?", shown: page("submit", "SubmitPage") },
  { path: "/layers", shown: page("layers", "LayersPage") },
  { path: "/layers/:layer_id/:tab?", shown: page("layers", "LayerPage") },
  { path: "/catalog", shown: page("catalog", "CatalogPage") },
  { path: "/catalog/:collection_id", shown: page("catalog", "CollectionPage") },
  { path: "/catalog/:collection_id/:item_id", shown: page("catalog", "ItemPage") },
];

export function App() {
  return (
    <Router base={base_path}>
      <Switch>
        <Route path="/sign-in">
          <Suspense fallback={<Skeleton />}>
            <SignInPage />
          </Suspense>
        </Route>
        <Route>
          <SignedIn />
        </Route>
      </Switch>
    </Router>
  );
}

function SignedIn() {
  const [session, setSession] = useState<Session | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [path, navigate] = useLocation();
  useEffect(() => whenSignInChanges(() => window.location.reload()), []);
  useEffect(() => {
    const leave = () => {
      const here = window.location.pathname.slice(base_path.length) + window.location.search;
      navigate(to.signIn(here === "/" ? undefined : here), { replace: true });
    };
    whenSignedOut(leave);
    request("GET", "/api/session")
      .then((response) => response.json() as Promise<Session>)
      .then((found) => {
        startLive(`${found.tenant_id}/${found.actor}`);
        setSession(found);
      })
      .catch((error) => (error instanceof ApiProblem && error.status === 401 ? leave() : setProblem(error)));
  }, [navigate]);
  if (problem !== null) return <ProblemNote error={problem} title="The dashboard cannot start" />;
  if (session === null) return <Skeleton />;
  return (
    <SessionContext value={session}>
      <Frame>
        <ErrorFence key={path}>
          <Suspense fallback={<Skeleton lines={6} />}>
            <Switch>
              {pages.map(({ path: one, shown: Shown }) => (
                <Route key={one} path={one}>
                  <Shown />
                </Route>
              ))}
              <Route>
                <Page title="Nothing here">
                  <Empty title="There is no such page">
                    <Link href={to.jobs()}>To the jobs</Link>
                  </Empty>
                </Page>
              </Route>
            </Switch>
          </Suspense>
        </ErrorFence>
      </Frame>
    </SessionContext>
  );
}
