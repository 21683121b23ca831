// Signing in: with a key, or by a link that works once. What follows is a whole new page, so that nothing of the person who was signed in
// before is left in memory.
import { type FormEvent, useEffect, useRef, useState } from "react";
import { ApiProblem, call } from "../../api/call.js";
import { tellOtherTabs } from "../../api/other_tabs.js";
import { Button } from "../../ui/button.js";
import { CommandLine } from "../../ui/command.js";
import { Input } from "../../ui/form.js";
import { Skeleton } from "../../ui/note.js";
import { useDocumentTitle } from "../../ui/page.js";
import { nextAddress } from "./next.js";
import "./sign_in.css";

async function signIn(body: { key: string } | { code: string }, next: string | null): Promise<void> {
  await call("sessions.open", body);
  tellOtherTabs();
  window.location.replace(nextAddress(next, document.baseURI));
}

/** A code works once, and an effect may run twice. */
const tried = new Map<string, Promise<void>>();

function signInByCode(code: string, next: string | null): Promise<void> {
  const known = tried.get(code) ?? signIn({ code }, next);
  tried.set(code, known);
  return known;
}

/** Behind the #, so that neither a proxy nor a server ever sees it on the way to this page. */
function codeHere(): string | null {
  return new URLSearchParams(window.location.hash.slice(1)).get("code");
}

export function SignInPage() {
  useDocumentTitle("Sign in");
  const [code, setCode] = useState(codeHere);
  const [next] = useState(() => new URLSearchParams(window.location.search).get("next"));
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const form = useRef<HTMLFormElement>(null);

  // A link that is pasted into this very page loads nothing anew.
  useEffect(() => {
    const look = () => setCode((known) => codeHere() ?? known);
    window.addEventListener("hashchange", look);
    return () => window.removeEventListener("hashchange", look);
  }, []);

  useEffect(() => {
    if (code === null) return;
    // Used or not, a code has no business in the history.
    const clean = new URL("sign-in", document.baseURI);
    if (next !== null) clean.searchParams.set("next", next);
    window.history.replaceState(null, "", clean);
    signInByCode(code, next).catch((error: unknown) => {
      setCode(null);
      setProblem(wordsOf(error, "code"));
    });
  }, [code, next]);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    // Password managers fill in what React does not hear of.
    const typed = (form.current?.elements.namedItem("key") as HTMLInputElement | null)?.value ?? key;
    if (busy) return;
    if (typed.trim() === "") {
      setProblem("Type or paste a key first.");
      return;
    }
    setBusy(true);
    setProblem(null);
    try {
      await signIn({ key: typed.trim() }, next);
    } catch (error) {
      setProblem(wordsOf(error, "key"));
      setBusy(false);
    }
  };

  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <header className="sign-in-head">
          <img src={new URL("icon.svg", document.baseURI).href} alt="" width="36" height="36" />
          <h1>{code === null ? "Sign in to Fanfold" : "Signing in"}</h1>
        </header>
        {code !== null ? (
          <Skeleton lines={2} />
        ) : (
          <>
            <form ref={form} className="stack" onSubmit={submit} noValidate>
              {/* Password managers keep a secret together with a name. */}
              <input
                className="sr-only"
                name="username"
                autoComplete="username"
                value="fanfold"
                readOnly
                tabIndex={-1}
                aria-hidden="true"
              />
              <Input
                label="API key"
                name="key"
                type="password"
                autoComplete="current-password"
                autoCapitalize="off"
                autoFocus
                required
                placeholder="ff_live_…"
                value={key}
                onChange={({ target }) => setKey(target.value)}
                help="You act for the tenant of the key, with what the key may do."
              />
              {problem !== null && (
                <div className="note danger" role="alert">
                  {problem}
                </div>
              )}
              <Button kind="primary" type="submit" busy={busy}>
                Sign in
              </Button>
            </form>
            <section className="sign-in-help stack" aria-label="Without a key">
              <p className="muted small">No key yet? Where the service runs, this makes one and shows it once:</p>
              <CommandLine text="fanfold keys create me --scope all" />
              <p className="muted small">Or get a link that signs in once:</p>
              <CommandLine text="fanfold dashboard" />
            </section>
          </>
        )}
      </div>
    </main>
  );
}

function wordsOf(error: unknown, what: "key" | "code"): string {
  if (!(error instanceof ApiProblem)) return "That did not work. Try again.";
  if (error.status === 401 && what === "code") {
    return "This link signs in no more: it was used, or is older than ten minutes. Get another, or sign in with a key.";
  }
  if (error.status === 401)
    return "This key is not valid. It may be mistyped, revoked or expired. A key looks like ff_live_….";
  if (error.status === 429) {
    return `Too many tries from your address. Try again in ${Math.ceil(error.retry_after_s ?? 1)} s.`;
  }
  return `That did not work: ${error.message}${error.hint === undefined ? "." : `; ${error.hint}.`}`;
}
