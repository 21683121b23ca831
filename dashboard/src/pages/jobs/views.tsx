// Views: filters under a name. A few there always are; the others the tenant keeps, and each is a link that can be sent.
import { useId, useState } from "react";
import { Link } from "wouter";
import { curlLine } from "../../api/commands.js";
import { useGet, useVerb } from "../../api/hooks.js";
import { pageBase } from "../../api/page_base.js";
import { useForbidden } from "../../api/session.js";
import { to } from "../../routes.js";
import { announce, Button, CliAndCurl, Dialog, Input, ProblemNote, Safe } from "../../ui/index.js";

const usual = [
  { name: "All", query: "" },
  { name: "Open", query: "status:queued,processing" },
  { name: "Went wrong today", query: "status:partial_success,failed created:>-1d" },
  { name: "Retrying", query: "is:retrying" },
];

export function Views({ text }: { text: string }) {
  const { data } = useGet("views.list", {}, { when: ({ kind }) => kind.startsWith("view.") });
  const [open, setOpen] = useState<"save" | "delete" | null>(null);
  const forbidden = useForbidden("operate");
  const saved = data?.views ?? [];
  const current = saved.find(({ query }) => query === text);
  const is_usual = usual.some(({ query }) => query === text);
  return (
    <div className="views">
      <nav className="tabs views-tabs" aria-label="Views">
        {[...usual, ...saved].map(({ name, query }) => (
          <Link
            key={name}
            href={to.jobs({ q: query })}
            className={query === text ? "tab current" : "tab"}
            aria-current={query === text ? "page" : undefined}
            title={query === "" ? "Every job" : query}
          >
            <Safe text={name} />
          </Link>
        ))}
      </nav>
      {!is_usual && current === undefined && (
        <Button className="small-button" forbidden={forbidden} onClick={() => setOpen("save")}>
          Save view
        </Button>
      )}
      {current !== undefined && (
        <Button className="small-button" forbidden={forbidden} onClick={() => setOpen("delete")}>
          Delete view
        </Button>
      )}
      {open === "save" && <SaveView text={text} names={saved.map(({ name }) => name)} onClose={() => setOpen(null)} />}
      {open === "delete" && current !== undefined && (
        <DeleteView name={current.name} text={text} onClose={() => setOpen(null)} />
      )}
    </div>
  );
}

function SaveView({ text, names, onClose }: { text: string; names: readonly string[]; onClose(): void }) {
  const [name, setName] = useState("");
  const { run, busy, problem } = useVerb("views.put");
  const form = useId();
  const given = name.trim();
  const save = async () => {
    const done = await run({ view_name: given, query: text });
    if (done === null) return;
    announce(`View ${given} saved`);
    onClose();
  };
  return (
    <Dialog title="Save this view" onClose={onClose}>
      <p>
        Everybody of the tenant sees it.{" "}
        <code>
          <Safe text={text} />
        </code>
      </p>
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault();
          if (given !== "") void save();
        }}
      >
        <Input
          label="Name"
          autoFocus
          maxLength={60}
          value={name}
          onChange={({ target }) => setName(target.value)}
          help={names.includes(given) ? "A view of this name is replaced." : undefined}
        />
      </form>
      <ProblemNote error={problem} />
      <CliAndCurl
        curl={curlLine(pageBase(), {
          method: "PUT",
          path: "/api/views/{name}",
          params: { name: given === "" ? "name" : given },
          body: { query: text },
        })}
      />
      <footer className="dialog-foot row">
        <Button onClick={onClose}>Leave it</Button>
        <Button kind="primary" busy={busy} disabled={given === ""} type="submit" form={form}>
          Save
        </Button>
      </footer>
    </Dialog>
  );
}

function DeleteView({ name, text, onClose }: { name: string; text: string; onClose(): void }) {
  const { run, busy, problem } = useVerb("views.delete");
  return (
    <Dialog title="Delete this view" onClose={onClose}>
      <p>
        <strong>
          <Safe text={name} />
        </strong>{" "}
        is deleted for everybody of the tenant. No job is touched.
      </p>
      <p className="muted">
        <code>
          <Safe text={text} />
        </code>
      </p>
      <ProblemNote error={problem} />
      <CliAndCurl curl={curlLine(pageBase(), { method: "DELETE", path: "/api/views/{name}", params: { name } })} />
      <footer className="dialog-foot row">
        <Button onClick={onClose}>Leave it</Button>
        <Button
          kind="danger"
          busy={busy}
          onClick={async () => {
            if ((await run({ view_name: name })) === null) return;
            announce(`View ${name} deleted`);
            onClose();
          }}
        >
          Delete
        </Button>
      </footer>
    </Dialog>
  );
}
