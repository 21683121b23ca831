// Mapbox Vector Tile 2.1, written: for databases whose PostGIS makes none. Features come in the tile's own whole numbers, y down, already cut.
// It is our own, because the format is a page and the library at hand takes a property called "constructor" for one it has seen. Pure.

export interface MvtFeature {
  id: number | string;
  geometry: { type: string; coordinates?: unknown; geometries?: unknown };
  properties: Record<string, unknown>;
}

type Position = readonly [number, number];

/** One layer; nothing of it when no feature is left to draw. */
export function writeMvt(name: string, extent: number, features: readonly MvtFeature[]): Uint8Array {
  const keys = new Map<string, number>();
  const values = new Map<string, { number: number; bytes: Bytes }>();
  const layer = new Bytes();
  layer.field(15, 2).text(1, name);
  let drawn = 0;
  for (const { id, geometry, properties } of features) {
    for (const { type, commands } of commandsOf(geometry)) {
      const tags = new Bytes();
      for (const [key, value] of Object.entries(properties)) {
        const bytes = encoded(value);
        if (bytes === null) continue;
        const known = bytes.join();
        if (!keys.has(key)) keys.set(key, keys.size);
        if (!values.has(known)) values.set(known, { number: values.size, bytes });
        tags.varint(keys.get(key)!).varint(values.get(known)!.number);
      }
      const feature = new Bytes();
      // Ids are numbers from zero up.
      if (/^\d{1,15}$/.test(String(id))) feature.field(1, Number(id));
      layer.inside(2, feature.inside(2, tags).field(3, type).inside(4, commands));
      drawn++;
    }
  }
  if (drawn === 0) return new Uint8Array();
  for (const key of keys.keys()) layer.text(3, key);
  for (const { bytes } of values.values()) layer.inside(4, bytes);
  return new Bytes().inside(3, layer.field(5, extent)).whole();
}

/** A collection is drawn as what is in it. */
function commandsOf(geometry: MvtFeature["geometry"]): { type: 1 | 2 | 3; commands: Bytes }[] {
  const { type, coordinates, geometries } = geometry;
  if (type === "GeometryCollection") return (geometries as MvtFeature["geometry"][]).flatMap(commandsOf);
  const is_many = type.startsWith("Multi");
  const parts = (is_many ? coordinates : [coordinates]) as unknown[];
  const pen = new Pen();
  if (/Point$/.test(type)) pen.points(parts as Position[]);
  else if (/LineString$/.test(type)) for (const part of parts as Position[][]) pen.line(part);
  else for (const rings of parts as Position[][][]) pen.polygon(rings);
  return pen.is_empty
    ? []
    : [{ type: /Point$/.test(type) ? 1 : /LineString$/.test(type) ? 2 : 3, commands: pen.commands }];
}

const MOVE = 1;
const LINE = 2;
const CLOSE = 7;

class Pen {
  readonly commands = new Bytes();
  is_empty = true;
  #x = 0;
  #y = 0;

  points(positions: readonly Position[]): void {
    if (positions.length === 0) return;
    this.#command(MOVE, positions.length);
    for (const position of positions) this.#to(position);
  }

  line(given: readonly Position[]): void {
    const positions = withoutRepeats(given);
    if (positions.length < 2) return;
    this.#command(MOVE, 1);
    this.#to(positions[0]!);
    this.#command(LINE, positions.length - 1);
    for (const position of positions.slice(1)) this.#to(position);
  }

  /** Outer rings have a positive area where y points down, inner ones a negative one. */
  polygon(rings: readonly (readonly Position[])[]): void {
    for (const [place, given] of rings.entries()) {
      const ring = withoutRepeats(given);
      if (ring.length > 1 && same(ring[0]!, ring.at(-1)!)) ring.pop();
      const area = areaOf(ring);
      if (ring.length < 3 || area === 0) {
        if (place === 0) return;
        continue;
      }
      if (area > 0 !== (place === 0)) ring.reverse();
      this.line(ring);
      this.#command(CLOSE, 1);
    }
  }

  #command(what: number, count: number): void {
    this.is_empty = false;
    this.commands.varint(count * 8 + what);
  }

  #to([x, y]: Position): void {
    this.commands.varint(zigzag(x - this.#x)).varint(zigzag(y - this.#y));
    this.#x = x;
    this.#y = y;
  }
}

function withoutRepeats(positions: readonly Position[]): Position[] {
  return positions.filter((one, place) => place === 0 || !same(one, positions[place - 1]!));
}

function same(a: Position, b: Position): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

function areaOf(ring: readonly Position[]): number {
  return ring.reduce((sum, [x, y], place) => {
    const [next_x, next_y] = ring[(place + 1) % ring.length]!;
    return sum + x * next_y - next_x * y;
  }, 0);
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

/** As PostGIS has it: texts, numbers, booleans; anything else as JSON. What is absent is no property. */
function encoded(value: unknown): Bytes | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "boolean") return new Bytes().field(7, value ? 1 : 0);
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value)) return new Bytes().double(3, value);
    return value < 0 ? new Bytes().field(6, zigzag(value)) : new Bytes().field(5, value);
  }
  return new Bytes().text(1, typeof value === "string" ? value : JSON.stringify(value));
}

const encoder = new TextEncoder();

/** Grows as it is written. */
class Bytes {
  #bytes = new Uint8Array(64);
  #length = 0;

  /** Not beyond 2^53, and so not by shifting. */
  varint(value: number): this {
    this.#room(10);
    let left = value;
    while (left > 127) {
      this.#bytes[this.#length++] = (left % 128) | 128;
      left = Math.floor(left / 128);
    }
    this.#bytes[this.#length++] = left;
    return this;
  }

  field(number: number, value: number): this {
    return this.varint(number * 8).varint(value);
  }

  double(number: number, value: number): this {
    this.varint(number * 8 + 1).#room(8);
    new DataView(this.#bytes.buffer).setFloat64(this.#length, value, true);
    this.#length += 8;
    return this;
  }

  text(number: number, value: string): this {
    return this.#raw(number, encoder.encode(value));
  }

  inside(number: number, other: Bytes): this {
    return this.#raw(number, other.whole());
  }

  whole(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** For comparing. */
  join(): string {
    return this.whole().join();
  }

  #raw(number: number, bytes: Uint8Array): this {
    this.varint(number * 8 + 2)
      .varint(bytes.length)
      .#room(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
    return this;
  }

  #room(more: number): this {
    if (this.#length + more <= this.#bytes.length) return this;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    grown.set(this.whole());
    this.#bytes = grown;
    return this;
  }
}
