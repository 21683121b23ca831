// A window above the page: the browser's own dialog, which keeps the focus and closes by Escape.
import { type ReactNode, useEffect, useId, useRef } from "react";
import { IconButton } from "./button.js";

interface DialogProps {
  title: ReactNode;
  onClose(): void;
  children: ReactNode;
  wide?: boolean;
}

export function Dialog({ title, onClose, children, wide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const shown = dialog.current;
    if (shown !== null && !shown.open) shown.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={wide ? "dialog wide" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header className="dialog-head">
        <h2 id={id}>{title}</h2>
        <IconButton label="Close" className="ends" onClick={onClose}>
          ✕
        </IconButton>
      </header>
      <div className="dialog-body stack">{children}</div>
    </dialog>
  );
}
