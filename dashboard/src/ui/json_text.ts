// JSON as text, taken apart without losing anything: numbers stay the characters they are, keys keep their order and may be anything
// ("__proto__", the same twice). Pure.

export interface JsonNode {
  kind: "object" | "array" | "text" | "number" | "word";
  /** null: the whole. */
  key: string | number | null;
  /** What a scalar says: the text itself, or the characters of a number or word. */
  says: string;
  children: readonly JsonNode[];
  parent: JsonNode | null;
  /** Where it is in the text. */
  from: number;
  to: number;
}

const number_pattern = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const word_pattern = /true|false|null/y;
const space_pattern = /[ \t\n\r]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a text in JSON holds none
const text_pattern = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;

/** Throws SyntaxError where it is no JSON. */
export function readJson(text: string): JsonNode {
  let at = 0;
  const match = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) return null;
    at = pattern.lastIndex;
    return found[0];
  };
  const refuse = (): never => {
    throw new SyntaxError(`no JSON at character ${at}`);
  };
  const expect = (character: string) => {
    match(space_pattern);
    if (text[at] !== character) refuse();
    at += 1;
  };
  const value = (key: JsonNode["key"], parent: JsonNode | null): JsonNode => {
    match(space_pattern);
    const node: JsonNode = { kind: "word", key, says: "", children: [], parent, from: at, to: at };
    const first = text[at];
    if (first === "{" || first === "[") {
      node.kind = first === "{" ? "object" : "array";
      node.children = members(node, first === "{");
    } else if (first === '"') {
      node.kind = "text";
      node.says = JSON.parse(match(text_pattern) ?? refuse()) as string;
    } else {
      const word = match(word_pattern);
      node.kind = word === null ? "number" : "word";
      node.says = word ?? match(number_pattern) ?? refuse();
    }
    node.to = at;
    return node;
  };
  const members = (parent: JsonNode, named: boolean): JsonNode[] => {
    const found: JsonNode[] = [];
    const end = named ? "}" : "]";
    at += 1;
    match(space_pattern);
    if (text[at] === end) {
      at += 1;
      return found;
    }
    for (;;) {
      let key: string | number = found.length;
      if (named) {
        match(space_pattern);
        key = JSON.parse(match(text_pattern) ?? refuse()) as string;
        expect(":");
      }
      found.push(value(key, parent));
      match(space_pattern);
      if (text[at] === end) break;
      expect(",");
    }
    at += 1;
    return found;
  };
  const root = value(null, null);
  match(space_pattern);
  if (at !== text.length) refuse();
  return root;
}

/** The members of an object as the text they are, by key. */
export function memberTexts(text: string): Map<string, string> {
  const { kind, children } = readJson(text);
  if (kind !== "object") return new Map();
  return new Map(children.map(({ key, from, to }) => [String(key), text.slice(from, to)]));
}

/** As jsonpath writes it: $.bands[3]."a key". */
export function pathOf(node: JsonNode): string {
  if (node.parent === null) return "$";
  const { key } = node;
  const step =
    typeof key === "number" ? `[${key}]` : /^[A-Za-z_]\w*$/.test(key!) ? `.${key}` : `.${JSON.stringify(key)}`;
  return pathOf(node.parent) + step;
}

export interface JsonRow {
  node: JsonNode;
  depth: number;
  open: boolean;
}

export function isBranch({ children }: JsonNode): boolean {
  return children.length > 0;
}

/** What is seen: everything below open nodes, in order. */
export function shownRows(root: JsonNode, isOpen: (node: JsonNode, depth: number) => boolean): JsonRow[] {
  const rows: JsonRow[] = [];
  const add = (node: JsonNode, depth: number) => {
    const open = isBranch(node) && isOpen(node, depth);
    rows.push({ node, depth, open });
    if (open) for (const child of node.children) add(child, depth + 1);
  };
  add(root, 0);
  return rows;
}

/** Nodes whose key or text holds the words, in order, at most so many. */
export function findNodes(root: JsonNode, words: string, most = 1000): JsonNode[] {
  const wanted = words.toLowerCase();
  const found: JsonNode[] = [];
  const look = (node: JsonNode) => {
    if (found.length >= most) return;
    const key = typeof node.key === "string" ? node.key.toLowerCase() : "";
    if (key.includes(wanted) || node.says.toLowerCase().includes(wanted)) found.push(node);
    for (const child of node.children) look(child);
  };
  if (wanted !== "") look(root);
  return found;
}

/** Indented for people, every scalar as it was written. */
export function indented(text: string, node: JsonNode = readJson(text), depth = 0): string {
  if (!isBranch(node)) return text.slice(node.from, node.to);
  const inside = "  ".repeat(depth + 1);
  const parts = node.children.map((child) => {
    const key = typeof child.key === "string" ? `${JSON.stringify(child.key)}: ` : "";
    return `${inside}${key}${indented(text, child, depth + 1)}`;
  });
  const [start, end] = node.kind === "object" ? ["{", "}"] : ["[", "]"];
  return `${start}\n${parts.join(",\n")}\n${"  ".repeat(depth)}${end}`;
}
