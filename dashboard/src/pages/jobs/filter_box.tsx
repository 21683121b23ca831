// The filter: one line of text with completion, and what is wrong with it below. `/` leads here.
import { useEffect, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { FilterProblem } from "../../../../src/core/shown/job_filter.js";
import { useGet } from "../../api/hooks.js";
import { announce, IconButton, Safe, useKeys } from "../../ui/index.js";
import { type Completion, complete } from "./completion.js";

const PAUSE_MS = 350;

interface FilterBoxProps {
  text: string;
  problems: readonly FilterProblem[];
  /** `typing`: not yet meant as a step one could go back to. */
  onChange(text: string, how: { typing: boolean }): void;
}

export function FilterBox({ text, problems, onChange }: FilterBoxProps) {
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const [draft, setDraft] = useState(text);
  const [focused, setFocused] = useState(false);
  const [offered, setOffered] = useState<Completion | null>(null);
  const [at, setAt] = useState(-1);
  const [typing, setTyping] = useState(false);
  const pending = useRef<ReturnType<typeof setTimeout> | null>(null);
  const { data: known } = useGet("jobs.facets", {}, { enabled: focused });
  // What was chosen elsewhere, such as a chip or the back button, is what stands here; what is being typed stays.
  useEffect(() => {
    if (pending.current === null) setDraft(text);
  }, [text]);
  useEffect(() => () => void (pending.current !== null && clearTimeout(pending.current)), []);
  useKeys([{ keys: "/", what: "Write a filter", run: () => input.current?.focus() }]);

  const look = (value: string, caret: number, asked = false) => {
    // Behind a finished term nothing is offered unasked: it would lie above what the filter has just found.
    const is_between = value.trim() !== "" && /\s$|^$/.test(value.slice(0, caret));
    setOffered(is_between && !asked ? null : complete(value, caret, known ?? { types: [], labels: [] }));
    setAt(-1);
  };
  // What was seen of types and labels may come after the first letters.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it has come
  useEffect(() => {
    if (known !== undefined && document.activeElement === input.current)
      look(draft, input.current?.selectionStart ?? draft.length);
  }, [known]);
  const apply = (value: string, is_typing: boolean) => {
    if (pending.current !== null) clearTimeout(pending.current);
    pending.current = null;
    if (!is_typing) setTyping(false);
    onChange(value, { typing: is_typing });
  };
  const type = (value: string, caret: number) => {
    setDraft(value);
    setTyping(true);
    look(value, caret);
    if (pending.current !== null) clearTimeout(pending.current);
    pending.current = setTimeout(() => apply(value, true), PAUSE_MS);
  };
  const choose = (option: Completion["options"][number]) => {
    if (offered === null) return;
    const value = draft.slice(0, offered.from) + option.text + draft.slice(offered.to);
    const caret = offered.from + option.text.length;
    // At once: a letter that is typed meanwhile would find the caret before it.
    flushSync(() => type(value, caret));
    input.current?.focus();
    input.current?.setSelectionRange(caret, caret);
  };
  const shown = focused ? offered : null;
  const visible_problems = problems.filter(
    ({ from, to }) => !typing || input.current === null || !isBeingWritten(input.current, from, to),
  );

  return (
    <search className="filter">
      <div className="filter-line">
        <label htmlFor={id} className="sr-only">
          Filter jobs
        </label>
        <input
          ref={input}
          id={id}
          className="text-input filter-input mono"
          type="text"
          role="combobox"
          aria-expanded={shown !== null}
          aria-controls={`${id}-options`}
          aria-activedescendant={shown !== null && at >= 0 ? `${id}-${at}` : undefined}
          aria-describedby={visible_problems.length > 0 ? `${id}-problems` : undefined}
          aria-invalid={visible_problems.length > 0 || undefined}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          maxLength={2000}
          placeholder="status:failed created:>-1d, or any words"
          value={draft}
          onChange={({ target }) => type(target.value, target.selectionStart ?? target.value.length)}
          onFocus={() => {
            setFocused(true);
            look(draft, input.current?.selectionStart ?? draft.length);
          }}
          onBlur={() => {
            setFocused(false);
            setTyping(false);
            if (pending.current !== null) apply(draft, true);
          }}
          onClick={() => look(draft, input.current?.selectionStart ?? draft.length)}
          onKeyDown={(event) => {
            const options = shown?.options ?? [];
            if (event.key === "ArrowDown" && options.length === 0) {
              look(draft, input.current?.selectionStart ?? draft.length, true);
            } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && options.length > 0) {
              event.preventDefault();
              const next = event.key === "ArrowDown" ? at + 1 : at < 0 ? options.length - 1 : at - 1;
              setAt(next >= options.length ? -1 : next);
            } else if ((event.key === "Enter" || event.key === "Tab") && at >= 0 && options[at] !== undefined) {
              event.preventDefault();
              choose(options[at]);
            } else if (event.key === "Enter") {
              setOffered(null);
              apply(draft, false);
              announce("Filter applied");
            } else if (event.key === "Escape") {
              event.preventDefault();
              if (shown !== null) setOffered(null);
              else input.current?.blur();
            }
          }}
        />
        {draft !== "" && (
          <IconButton
            label="Clear the filter"
            className="filter-clear"
            onClick={() => {
              setDraft("");
              setOffered(null);
              apply("", false);
              input.current?.focus();
            }}
          >
            ✕
          </IconButton>
        )}
        <div
          id={`${id}-options`}
          role="listbox"
          aria-label="What could follow"
          className="filter-options"
          hidden={shown === null}
        >
          {shown?.options.map((option, place) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
            <div
              key={option.text}
              id={`${id}-${place}`}
              role="option"
              tabIndex={-1}
              aria-selected={place === at}
              className="filter-option"
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(option)}
            >
              <span className="mono">
                <Safe text={option.text.trim()} />
              </span>
              <span className="muted small">{option.about}</span>
            </div>
          ))}
        </div>
      </div>
      {visible_problems.length > 0 && (
        <ul id={`${id}-problems`} className="filter-problems">
          {visible_problems.map(({ from, to, problem, fix }) => (
            <li key={`${from} ${problem}`}>
              <code>
                <Safe text={text.slice(from, Math.min(to, from + 40))} />
              </code>{" "}
              <Safe text={`${problem}. ${fix}`} />
            </li>
          ))}
        </ul>
      )}
    </search>
  );
}

/** Nobody is told that `stat` is not known while they write `status:`. */
function isBeingWritten(input: HTMLInputElement, from: number, to: number): boolean {
  const caret = input.selectionStart ?? -1;
  return caret >= from && caret === to;
}
