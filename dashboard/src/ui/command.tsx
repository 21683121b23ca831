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

/** Drawn: many systems have no letter for it. */
function CopySign() {
  return (
    <svg
      width="13"
      height="13"
      viewBox="0 0 16 16"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
    >
      <rect x="5.5" y="5.5" width="9" height="9" rx="1.5" />
      <path d="M10.5 3V2.5a1 1 0 0 0-1-1h-7a1 1 0 0 0-1 1v7a1 1 0 0 0 1 1H3" />
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
