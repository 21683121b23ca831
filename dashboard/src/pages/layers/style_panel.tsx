// How the layer is drawn: in one colour or by a column. What is chosen here is in the page's address, and can be kept for everybody.
import type { LayerStyle } from "../../../../src/core/api/layers.js";
import { useVerb } from "../../api/hooks.js";
import { useForbidden } from "../../api/session.js";
import { announce, Button, Field, ProblemNote, Safe, Select } from "../../ui/index.js";
import type { WholeLayer } from "./layer_page.js";
import {
  class_counts,
  legendOf,
  no_choice,
  paletteOf,
  palettes,
  type StyleChoice,
  usual,
  usual_colour,
  waysOf,
} from "./style_classes.js";

interface Props {
  layer: WholeLayer;
  /** As it is drawn now. */
  style: LayerStyle | null;
  choice: StyleChoice;
  is_chosen: boolean;
  onChoice(choice: Partial<StyleChoice>): void;
  sampled: boolean;
}

export function StylePanel({ layer, style, choice, is_chosen, onChoice, sampled }: Props) {
  const verb = useVerb("layers.set_style");
  const forbidden = useForbidden("submit");
  const by = is_chosen ? choice.by : ((layer.style as LayerStyle | null)?.column ?? "");
  const type = layer.columns.find(({ name }) => name === by)?.type ?? null;
  const ways = type === null ? [] : waysOf(type);
  const how =
    is_chosen && choice.how !== "" ? choice.how : style?.kind === "categories" ? "categories" : (ways[0]?.value ?? "");
  const palette = style?.kind === "steps" ? paletteOf(style) : choice.palette || "viridis";
  const keep = async (kept: LayerStyle | null) => {
    const done = await verb.run({ layer_id: layer.name, style: kept });
    if (done === null) return;
    onChoice(no_choice);
    announce(kept === null ? "The layer has no style of its own now" : "The style is kept for everybody");
  };
  return (
    <section className="layers-style" aria-label="Style">
      <div className="layers-style-fields">
        <Select
          label="Colour by"
          value={by}
          onChange={({ target }) =>
            onChoice({ ...no_choice, by: target.value, ...(target.value === "" ? { colour: usual_colour } : {}) })
          }
          options={[
            { value: "", text: "one colour" },
            ...layer.columns.filter((one) => one.type !== "json").map(({ name }) => ({ value: name, text: name })),
          ]}
        />
        {ways.length > 1 && (
          <Select
            label="With"
            value={how}
            onChange={({ target }) => onChoice({ by, how: target.value })}
            options={ways}
          />
        )}
        {type !== null && how !== "categories" && (
          <>
            <Select
              label="Steps"
              value={String(
                is_chosen && choice.classes !== "" ? choice.classes : (style?.classes.length ?? usual.classes),
              )}
              onChange={({ target }) => onChoice({ by, how, classes: target.value })}
              options={[...new Set([...class_counts, style?.classes.length ?? usual.classes])]
                .toSorted((a, b) => a - b)
                .map((n) => ({ value: String(n), text: String(n) }))}
            />
            <Select
              label="Palette"
              value={palette ?? ""}
              onChange={({ target }) => onChoice({ by, how, palette: target.value })}
              options={[
                ...(palette === null ? [{ value: "", text: "its own colours" }] : []),
                ...Object.keys(palettes).map((value) => ({ value, text: value })),
              ]}
            />
          </>
        )}
        {by === "" && (
          <Field label="Colour">
            {(ids) => (
              <input
                {...ids}
                type="color"
                value={style?.colour ?? usual_colour}
                onChange={({ target }) => onChoice({ by: "", colour: target.value })}
              />
            )}
          </Field>
        )}
        <Slider
          label="Opacity"
          value={style?.opacity ?? usual.opacity}
          from={0.1}
          to={1}
          step={0.1}
          onValue={(opacity) => onChoice({ by, opacity })}
        />
        <Slider
          label="Width"
          value={style?.width ?? usual.width}
          from={0.5}
          to={8}
          step={0.5}
          onValue={(width) => onChoice({ by, width })}
        />
      </div>
      {style !== null && legendOf(style).length > 0 && (
        <ul className="layers-legend" aria-label={`Colours by ${by}`}>
          {legendOf(style).map(({ colour, text }) => (
            <li key={text}>
              <span className="layers-swatch" style={{ background: colour }} aria-hidden="true" />
              <Safe text={text} limit={60} />
            </li>
          ))}
        </ul>
      )}
      {sampled && is_chosen && <p className="muted small">The steps are those of a part of the features.</p>}
      {type === null && by !== "" && (
        <p className="note warn">The layer has no column {by} any more, so it is drawn in one colour.</p>
      )}
      <ProblemNote error={verb.problem} title="The style was not kept" />
      {is_chosen && (
        <div className="row">
          <Button
            kind="primary"
            busy={verb.busy}
            forbidden={forbidden}
            disabled={style === null}
            onClick={() => void keep(style)}
          >
            Keep it for everybody
          </Button>
          <Button onClick={() => onChoice(no_choice)}>As it was</Button>
        </div>
      )}
      {!is_chosen && layer.style !== null && (
        <div className="row">
          <span className="muted small">This is how everybody sees it.</span>
          <Button className="small-button" busy={verb.busy} forbidden={forbidden} onClick={() => void keep(null)}>
            Remove the style
          </Button>
        </div>
      )}
    </section>
  );
}

interface SliderProps {
  label: string;
  value: number;
  from: number;
  to: number;
  step: number;
  onValue(value: string): void;
}

function Slider({ label, value, from, to, step, onValue }: SliderProps) {
  return (
    <Field label={label}>
      {(ids) => (
        <input
          {...ids}
          type="range"
          min={from}
          max={to}
          step={step}
          value={value}
          onChange={({ target }) => onValue(target.value)}
        />
      )}
    </Field>
  );
}
