// One of a few, side by side.
import type { ReactNode } from "react";
import { Button } from "./button.js";

interface Choice<Value extends string> {
  value: Value;
  text: string;
  title?: string;
  /** Why it cannot be chosen. */
  forbidden?: string | null;
}

interface SegmentsProps<Value extends string> {
  label: string;
  choices: readonly Choice<Value>[];
  current: Value;
  onChoose(value: Value): void;
  /** More buttons at the end. */
  children?: ReactNode;
}

export function Segments<Value extends string>({ label, choices, current, onChoose, children }: SegmentsProps<Value>) {
  return (
    <fieldset className="segments">
      <legend>{label}</legend>
      {choices.map(({ value, text, ...rest }) => (
        <Button key={value} aria-pressed={value === current} onClick={() => onChoose(value)} {...rest}>
          {text}
        </Button>
      ))}
      {children}
    </fieldset>
  );
}
