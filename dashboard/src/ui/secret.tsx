// A secret that is shown once: to be copied now.
import { Copy } from "./command.js";

export function SecretOnce({ text, what }: { text: string; what: string }) {
  return (
    <div className="note warn" role="status">
      <p>
        <strong>Copy {what} now.</strong> It is shown this once and kept nowhere in a form that could be read again.
      </p>
      <div className="command">
        <code data-secret>{text}</code>
        <Copy text={text} label={`Copy ${what}`} />
      </div>
    </div>
  );
}
