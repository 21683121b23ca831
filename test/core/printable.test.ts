import { describe, expect, test } from "vitest";
import { bytes, rate, seconds } from "../../src/cli/terminal/figures.js";
import { printable, printableJson, truncate } from "../../src/core/values/printable.js";

describe("text from jobs on the screen", () => {
  test("escape sequences are shown, not obeyed", () => {
    expect(printable("\u001b[2Jgone\u001b]0;title\u0007")).toBe("\\x1b[2Jgone\\x1b]0;title\\x07");
    expect(printable("\u009b31m")).toBe("\\x9b31m");
  });

  test("a label cannot start a new line or overwrite the one it is on", () => {
    expect(printable("ok\r\nfake line\tx\b")).toBe("ok\\r\\nfake line\\tx\\x08");
  });

  test("marks that reverse or hide text are shown", () => {
    expect(printable("abc\u202egnp.exe")).toBe("abc\\u202egnp.exe");
    expect(printable("a\u200bb\u2066c\ufeffd")).toBe("a\\u200bb\\u2066c\\ufeffd");
  });

  test("half a surrogate pair is shown, a whole one is kept", () => {
    expect(printable("\ud83d x \u{1f600}")).toBe("\\ud83d x \u{1f600}");
  });

  test("letters of every script stay as they are", () => {
    expect(printable("Grüße, 世界, مرحبا, e\u0301")).toBe("Grüße, 世界, مرحبا, e\u0301");
  });

  test("a long text is cut between characters and says so", () => {
    expect(printable("x".repeat(1_000_000), 10)).toBe(`${"x".repeat(9)}…`);
    expect(truncate("\u{1f600}".repeat(5), 3)).toBe("\u{1f600}\u{1f600}…");
    expect(truncate("abc", 0)).toBe("");
  });
});

describe("figures", () => {
  test("durations are short at every size", () => {
    expect([0.04, 9.9, 10, 59.4, 59.6, 61, 3599, 3700, 200_000, Number.NaN].map(seconds)).toEqual([
      "0.0s", "9.9s", "10s", "59s", "1m00s", "1m01s", "59m59s", "1h01m", "2d7h", "?",
    ]); // biome-ignore format: one row
  });

  test("rates and sizes choose their unit", () => {
    expect([1234.4, 9.96, 0.5, 0.01].map(rate)).toEqual(["1,234/s", "10.0/s", "0.5/s", "0.6/min"]);
    expect([0, 999, 1000, 1_234_567, 999_999, 5e15].map(bytes)).toEqual([
      "0 B",
      "999 B",
      "1.00 kB",
      "1.23 MB",
      "1.00 MB",
      "5.00 PB",
    ]);
  });
});

test("JSON on the screen says the same without anything that a terminal obeys", () => {
  const document = { "a\u009b31m": ["\u202egnp.exe", "\u001b[2J", "é 世界 \u{1f600}", "\u2028"] };
  const text = printableJson(document);
  expect(text).toBe('{"a\\u009b31m":["\\u202egnp.exe","\\u001b[2J","é 世界 \u{1f600}","\\u2028"]}');
  expect(JSON.parse(text)).toEqual(document);
});
