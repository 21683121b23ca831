// Which features are shown: a filter in CQL2, typed, or put together of a column, a comparison and a value.
import { useState } from "react";
import { Button, Field, Input, Select } from "../../ui/index.js";
import { comparisonsOf, comparisonText, withCondition } from "./filter_text.js";
import type { WholeLayer } from "./layer_page.js";

interface Props {
  layer: WholeLayer;
  filter: string;
  problem: string | null;
  onFilter(filter: string): void;
}

export function FilterForm({ layer, filter, problem, onFilter }: Props) {
  const [column, setColumn] = useState(layer.columns[0]?.name ?? "");
  const [how, setHow] = useState("");
  const [value, setValue] = useState("");
  const type = layer.columns.find(({ name }) => name === column)?.type ?? "string";
  const comparisons = comparisonsOf(type);
  const comparison = comparisons.find((one) => one.value === how) ?? comparisons[0]!;
  const condition = column === "" ? null : comparisonText(column, type, comparison, value);
  const kind = type === "date" ? "date" : type === "datetime" ? "datetime-local" : "text";
  return (
    <div className="layers-find">
      <Field label="Filter" problem={problem}>
        {(ids) => (
          <textarea
            {...ids}
            rows={filter.length > 90 ? 3 : 1}
            spellCheck={false}
            placeholder="name LIKE 'A%' AND people > 1000"
            value={filter}
            onChange={({ target }) => onFilter(target.value.replaceAll("\n", " "))}
          />
        )}
      </Field>
      {filter !== "" && <Button onClick={() => onFilter("")}>Clear</Button>}
      {layer.columns.length > 0 && (
        <form
          className="layers-condition"
          aria-label="Add a condition"
          onSubmit={(event) => {
            event.preventDefault();
            if (condition === null) return;
            onFilter(withCondition(filter, condition));
            setValue("");
          }}
        >
          <Select
            label="Column"
            value={column}
            onChange={({ target }) => setColumn(target.value)}
            options={layer.columns.map(({ name }) => ({ value: name, text: name }))}
          />
          <Select
            label="Comparison"
            value={comparison.value}
            onChange={({ target }) => setHow(target.value)}
            options={comparisons.map((one) => ({ value: one.value, text: one.text }))}
          />
          {comparison.takes !== null && (
            <Input label="Value" type={kind} value={value} onChange={({ target }) => setValue(target.value)} />
          )}
          <Button type="submit" forbidden={condition === null ? "Give a value that the column can have." : null}>
            Add
          </Button>
        </form>
      )}
    </div>
  );
}
