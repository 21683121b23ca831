import type { ButtonHTMLAttributes, ReactNode } from "react";

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "disabled"> {
  kind?: "primary" | "plain" | "danger";
  busy?: boolean;
  disabled?: boolean | undefined;
  /** Why it cannot be used; it can still be reached, so that everybody is told. */
  forbidden?: string | null | undefined;
  children: ReactNode;
}

export function Button({
  kind = "plain",
  busy = false,
  disabled,
  forbidden,
  children,
  onClick,
  className,
  ...rest
}: ButtonProps) {
  const off = disabled === true || busy || (forbidden ?? null) !== null;
  return (
    <button
      type="button"
      {...rest}
      className={`button ${kind}${className === undefined ? "" : ` ${className}`}`}
      aria-disabled={off || undefined}
      aria-busy={busy || undefined}
      title={forbidden ?? rest.title}
      onClick={(event) => {
        if (off) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {busy && <span className="spinner" aria-hidden="true" />}
      {children}
    </button>
  );
}

/** Only a sign: its label is read to a reader who does not see it. */
export function IconButton({ label, children, ...rest }: { label: string } & Omit<ButtonProps, "kind">) {
  return (
    <Button
      {...rest}
      className={`icon${rest.className === undefined ? "" : ` ${rest.className}`}`}
      aria-label={label}
      title={rest.title ?? label}
    >
      {children}
    </Button>
  );
}
