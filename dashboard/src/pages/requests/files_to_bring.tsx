// Files of this machine that are brought along: chosen, or dropped here.
import { useId, useState } from "react";
import { Button, Safe } from "../../ui/index.js";
import { bytesText } from "../catalog/files.js";

export function FilesToBring({ files, onFiles }: { files: readonly File[]; onFiles(files: readonly File[]): void }) {
  const id = useId();
  const [over, setOver] = useState(false);
  const add = (some: FileList | null) => {
    const chosen = [...(some ?? [])];
    if (chosen.length === 0) return;
    const names = new Set(chosen.map(({ name }) => name));
    onFiles([...files.filter(({ name }) => !names.has(name)), ...chosen]);
  };
  return (
    <div className="field">
      <label htmlFor={id}>Files to bring along</label>
      <section
        className={over ? "ask-drop over" : "ask-drop"}
        aria-label="Drop files here"
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          add(event.dataTransfer.files);
        }}
      >
        <input
          id={id}
          type="file"
          multiple
          onChange={({ target }) => {
            add(target.files);
            // The same file may be chosen again after it was taken out.
            target.value = "";
          }}
        />
        <ul>
          {files.map((file) => (
            <li key={file.name}>
              <Safe text={file.name} limit={120} /> <span className="muted small">{bytesText(file.size)}</span>
              <Button
                className="small-button"
                onClick={() => onFiles(files.filter((one) => one !== file))}
                aria-label={`Leave ${file.name} out`}
              >
                ✕
              </Button>
            </li>
          ))}
        </ul>
      </section>
      <div className="help">
        They go into the zone bronze first, in parts, when you ask; a dry run sends nothing of them.
      </div>
    </div>
  );
}
