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
      {done ? "✓" : <CopySign />}
    </IconButton>
  );
}

/** Drawn: few fonts have a sign for it. */
function CopySign() {
  return (
    <svg
      width="14"
      height="14"
      viewBox="0 0 14 14"
      fill="none"
      stroke="currentcolor"
      strokeWidth="1.4"
      aria-hidden="true"
    >
      <rect x="4.7" y="4.7" width="7.6" height="7.6" rx="1.4" />
      <path d="M9.3 2.6V2.4a1 1 0 0 0-1-1H2.4a1 1 0 0 0-1 1v5.9a1 1 0 0 0 1 1h.2" />
    </svg>
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
      <summary>The same on the command line</summary>
      <div className="stack">
        {cli !== undefined && cli !== null && <CommandLine label="CLI" text={cli} />}
        <CommandLine label="curl" text={curl} />
      </div>
    </details>
  );
}
