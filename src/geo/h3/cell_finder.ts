// Which cell a place is in, for millions of places: H3's own projection in plain arithmetic. A place is projected onto the nearest face of
// the icosahedron, where cells are a lattice of hexagons; only the first place of each hexagon, and those so near an edge that rounding
// might decide, are given to H3 itself. So every answer is H3's, at a small part of its price. Pure.
import { cellToLatLng, getPentagons, latLngToCell } from "h3-js";
import { type CellNumber, cellNumber } from "./cell.js";

type Vector = readonly [number, number, number];

/** Distance of neighbouring centres at resolution 0 on the plane that touches a face in its middle. */
const unit_0 = 0.381966011250105;
/** Odd resolutions are turned by this. */
const turn = Math.asin(Math.sqrt(3 / 28));
/** Within this of a face's centre no other face is nearer. */
const surely_nearest = Math.cos((20.9 * Math.PI) / 180);
/** In lattice units and in cosines: what is nearer to an edge than this is H3's to decide. */
const edge_margin = 1e-6;
const face_margin = 1e-9;
const sin60 = Math.sqrt(3) / 2;
const lattice_size = 2 ** 23;

interface Face {
  centre: Vector;
  /** Along the axis to one of its corners, and at a right angle to it. */
  u: Vector;
  v: Vector;
}

const faces: readonly Face[] = facesOf(getPentagons(0).map((cell) => vectorOf(cellToLatLng(cell))));

/** The corners are the centres of the twelve pentagons. */
function facesOf(corners: readonly Vector[]): Face[] {
  const found: Face[] = [];
  const areNear = (a: Vector, b: Vector) => dot(a, b) > 0.4 && dot(a, b) < 0.5;
  corners.forEach((a, i) => {
    corners.slice(i + 1).forEach((b, j) => {
      if (!areNear(a, b)) return;
      for (const c of corners.slice(i + j + 2)) {
        if (!areNear(a, c) || !areNear(b, c)) continue;
        const centre = unit([a[0] + b[0] + c[0], a[1] + b[1] + c[1], a[2] + b[2] + c[2]]);
        const off = dot(a, centre);
        const u = unit([a[0] - off * centre[0], a[1] - off * centre[1], a[2] - off * centre[2]]);
        found.push({ centre, u, v: cross(centre, u) });
      }
    });
  });
  return found;
}

function vectorOf([lat, lon]: readonly [number, number] | number[]): Vector {
  const [phi, lambda] = [(lat! * Math.PI) / 180, (lon! * Math.PI) / 180];
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)];
}

function dot(a: Vector, b: Vector): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function unit(a: Vector): Vector {
  const length = Math.sqrt(dot(a, a));
  return [a[0] / length, a[1] / length, a[2] / length];
}

/** Gives each cell that it meets a number of its own, from 0. */
export class CellFinder {
  readonly cells: CellNumber[] = [];
  private readonly slots = new Map<CellNumber, number>();
  private readonly known = new Map<number, number>();
  private readonly scaled: { centre: Vector; u: Vector; v: Vector }[];
  private face = 0;
  private last_key = -1;
  private last_slot = -1;

  constructor(readonly resolution: number) {
    const scale = 7 ** (resolution / 2) / unit_0;
    const angle = resolution % 2 === 1 ? turn : 0;
    const [cos, sin] = [Math.cos(angle) * scale, Math.sin(angle) * scale];
    const mix = (a: Vector, by_a: number, b: Vector, by_b: number): Vector => [
      a[0] * by_a + b[0] * by_b,
      a[1] * by_a + b[1] * by_b,
      a[2] * by_a + b[2] * by_b,
    ];
    this.scaled = faces.map(({ centre, u, v }) => ({ centre, u: mix(u, cos, v, sin), v: mix(u, -sin, v, cos) }));
  }

  /** The slot of a place as a vector of length 1; `lat` and `lon`, in degrees, are asked for rarely. */
  slotAt(x: number, y: number, z: number, lat: number, lon: number): number {
    let face = this.scaled[this.face]!;
    let near = face.centre[0] * x + face.centre[1] * y + face.centre[2] * z;
    if (near < surely_nearest) {
      let second = -1;
      near = -1;
      for (let i = 0; i < 20; i++) {
        const { centre } = this.scaled[i]!;
        const cosine = centre[0] * x + centre[1] * y + centre[2] * z;
        if (cosine > near) {
          second = near;
          near = cosine;
          this.face = i;
        } else if (cosine > second) second = cosine;
      }
      if (near - second < face_margin) return this.asked(lat, lon);
      face = this.scaled[this.face]!;
    }
    const { u, v } = face;
    const px = (u[0] * x + u[1] * y + u[2] * z) / near;
    const py = (v[0] * x + v[1] * y + v[2] * z) / near;
    // The nearest point of the lattice with the axes 0° and 60°.
    const r = py / sin60;
    const q = px - r / 2;
    let i = Math.round(q);
    let j = Math.round(r);
    const k = Math.round(-q - r);
    const off_i = Math.abs(i - q);
    const off_j = Math.abs(j - r);
    const off_k = Math.abs(k + q + r);
    if (off_i > off_j && off_i > off_k) i = -j - k;
    else if (off_j > off_k) j = -i - k;
    const dx = px - i - j / 2;
    const dy = (py - j * sin60) * sin60;
    const outward = Math.max(Math.abs(dx), Math.abs(dx / 2 + dy), Math.abs(dx / 2 - dy));
    if (0.5 - outward < edge_margin) return this.asked(lat, lon);
    const key = (this.face * lattice_size + i + lattice_size / 2) * lattice_size + j + lattice_size / 2;
    if (key === this.last_key) return this.last_slot;
    let slot = this.known.get(key);
    if (slot === undefined) {
      slot = this.asked(lat, lon);
      this.known.set(key, slot);
    }
    this.last_key = key;
    this.last_slot = slot;
    return slot;
  }

  slotOf(lat: number, lon: number): number {
    const [x, y, z] = vectorOf([lat, lon]);
    return this.slotAt(x, y, z, lat, lon);
  }

  private asked(lat: number, lon: number): number {
    const cell = cellNumber(latLngToCell(lat, lon, this.resolution));
    let slot = this.slots.get(cell);
    if (slot === undefined) {
      slot = this.cells.length;
      this.slots.set(cell, slot);
      this.cells.push(cell);
    }
    return slot;
  }
}
