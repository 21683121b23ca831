// What a button does, for the terminal: to copy.
import { useState } from "react";
import { announce } from "./announce.js";
import { IconButton } from "./button.js";

/** Also where the page is not served by https, and browsers keep the clipboard from scripts. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "sr-only";
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const [done, setDone] = useState(false);
  return (
    <IconButton
      label={label}
      className="copy"
      onClick={async () => {
        const copied = await copyText(text);
        setDone(copied);
        announce(copied ? "Copied" : "The browser does not allow copying");
        setTimeout(() => setDone(false), 1500);
      }}
    >
      <svg
        width="14"
        height="14"
        viewBox="0 0 16 16"
        aria-hidden="true"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.6"
      >
        {done ? <path d="M2.5 8.5l3.5 3.5l7.5-8" /> : <path d="M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8Z" />}
      </svg>
    </IconButton>
  );
}

export function CommandLine({ text, label }: { text: string; label?: string }) {
  return (
    <div className="command">
      {label !== undefined && <span className="command-label">{label}</span>}
      <code>{text}</code>
      <Copy text={text} label={`Copy the ${label ?? "command"}`} />
    </div>
  );
}

export function CliAndCurl({ cli, curl }: { cli?: string | null | undefined; curl: string }) {
  return (
    <details className="cli-and-curl">
      <summary className="muted">The same on the command line</summary>
      <div className="stack">
        {cli !== undefined && cli !== null && <CommandLine label="CLI" text={cli} />}
        <CommandLine label="curl" text={curl} />
      </div>
    </details>
  );
}
