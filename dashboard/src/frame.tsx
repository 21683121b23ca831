// Around every page: where one can go, whether what is shown is live, and who is signed in.
import { type ReactNode, useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import { signOut, useForbidden, useSession } from "./api/session.js";
import { useLive } from "./live/live.js";
import { to } from "./routes.js";
import { chooseTheme, type ThemeChoice, useThemeChoice } from "./theme/theme.js";
import { Announcer } from "./ui/announce.js";
import { Button, IconButton } from "./ui/button.js";
import { KeyHelp, useKeys } from "./ui/keys.js";
import { relativeTime, Safe, useNow } from "./ui/text.js";

interface MenuEntry {
  text: string;
  href: string;
  keys?: string;
}

const groups: { title: string; places: MenuEntry[] }[] = [
  {
    title: "Work",
    places: [
      { text: "Jobs", href: to.jobs(), keys: "g j" },
      { text: "Groups", href: to.groups() },
      { text: "Submit", href: to.submit(), keys: "g n" },
      { text: "Requests", href: to.requests(), keys: "g r" },
      { text: "Datasets", href: to.datasets(), keys: "g d" },
      { text: "Catalogue", href: to.catalog(), keys: "g c" },
      { text: "Layers", href: to.layers(), keys: "g l" },
      { text: "Schedules", href: to.schedules(), keys: "g s" },
    ],
  },
  {
    title: "Running it",
    places: [
      { text: "Workers", href: to.workers(), keys: "g w" },
      { text: "Queues", href: to.queues(), keys: "g q" },
      { text: "Health", href: to.health(), keys: "g h" },
    ],
  },
  {
    title: "Around it",
    places: [
      { text: "Connectors", href: to.connectors() },
      { text: "Webhooks", href: to.webhooks() },
      { text: "Keys", href: to.keys() },
      { text: "Limits", href: to.limits() },
      { text: "Audit", href: to.audit() },
    ],
  },
];

export function Frame({ children }: { children: ReactNode }) {
  const session = useSession();
  const [path, navigate] = useLocation();
  const [open, setOpen] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes when the page changes
  useEffect(() => setOpen(false), [path]);
  const all = groups.flatMap(({ places }) => places);
  useKeys(
    all.flatMap(({ text, href, keys }) =>
      keys === undefined ? [] : [{ keys, what: `Go to ${text.toLowerCase()}`, run: () => navigate(href) }],
    ),
  );
  return (
    <div className="frame">
      <a className="skip" href="#content">
        To the content
      </a>
      <header className="top">
        <IconButton
          label={open ? "Close the menu" : "Open the menu"}
          className="menu-button"
          aria-expanded={open}
          aria-controls="menu"
          onClick={() => setOpen(!open)}
        >
          ☰
        </IconButton>
        <Link href={to.jobs()} className="brand">
          <img src={new URL("icon.svg", document.baseURI).href} alt="" width="22" height="22" />
          Fanfold
        </Link>
        <LiveMark />
      </header>
      <nav id="menu" className={open ? "side open" : "side"} aria-label="Pages">
        {groups.map(({ title, places }) => (
          <div key={title} className="side-group">
            <h2>{title}</h2>
            <ul>
              {places.map(({ text, href }) => {
                const is_here = path === href || path.startsWith(`${href}/`) || (href === to.jobs() && path === "/");
                return (
                  <li key={href}>
                    <Link href={href} className={is_here ? "here" : ""} aria-current={is_here ? "page" : undefined}>
                      {text}
                    </Link>
                  </li>
                );
              })}
            </ul>
          </div>
        ))}
        <div className="side-foot">
          <div className="who" title={`Tenant ${session.tenant_id}, ${session.actor}`}>
            <strong>
              <Safe text={session.tenant_name ?? session.tenant_id} limit={60} />
            </strong>
            <span className="muted small">
              {session.key_name === null ? (
                <Safe text={session.actor} limit={60} />
              ) : (
                <>
                  with the key <Safe text={session.key_name} limit={60} />
                </>
              )}
            </span>
          </div>
          <ThemeSwitch />
          <Button onClick={() => void signOut()}>Sign out</Button>
          <div className="side-links muted small">
            <span title={`Fanfold ${session.version}`}>{session.version}</span>
            <span className="nowrap">
              <kbd>?</kbd> keys
            </span>
            <a href={new URL("api/docs", document.baseURI).href}>API</a>
          </div>
        </div>
      </nav>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <Announcer />
      <KeyHelp />
    </div>
  );
}

const live_words = {
  live: "Live",
  paused: "Paused",
  stale: "Stale",
  connecting: "Connecting",
  signed_out: "Signed out",
  forbidden: "Not live",
};

function LiveMark() {
  const { state, since, toggle } = useLive();
  const missing = useForbidden("read");
  const now = useNow();
  if (state === "forbidden") {
    const why = missing ?? "The server does not let this page follow what happens.";
    return (
      <span className="live ends" data-state={state} title={why}>
        <span className="live-dot" aria-hidden="true" />
        {missing === null ? live_words.forbidden : "Not live: no scope read"}
        <span className="sr-only">. {why}</span>
      </span>
    );
  }
  const how = state === "live" || state === "connecting" ? "" : ` ${relativeTime(since, now).replace(" ago", "")}`;
  return (
    <button
      type="button"
      className="live ends"
      data-state={state}
      onClick={toggle}
      title={state === "paused" ? "Go on showing what happens" : "Stop showing what happens"}
      aria-label={`${live_words[state]}${how}. ${state === "paused" ? "Go on" : "Pause"}`}
    >
      <span className="live-dot" aria-hidden="true" />
      {live_words[state]}
      {how}
    </button>
  );
}

function ThemeSwitch() {
  const choice = useThemeChoice();
  const choices: { value: ThemeChoice; text: string }[] = [
    { value: "system", text: "System colours" },
    { value: "light", text: "Light" },
    { value: "dark", text: "Dark" },
  ];
  return (
    <label className="theme-switch">
      <span className="sr-only">Colours</span>
      <select value={choice} onChange={({ target }) => chooseTheme(target.value as ThemeChoice)}>
        {choices.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
