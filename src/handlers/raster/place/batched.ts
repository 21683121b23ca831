// Transformations that are asked for at the same time become one question to the engine: a program starts once for all of them.
import type { Point, PointTransform } from "../../../geo/bounds.js";

export function batched(transform: PointTransform): PointTransform {
  let waiting: Point[] = [];
  let answer: Promise<(Point | null)[]> | null = null;
  return (points) => {
    const from = waiting.length;
    waiting.push(...points);
    // At the end of this turn, when everybody who asks has asked.
    answer ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      const all = waiting;
      [waiting, answer] = [[], null];
      return transform(all);
    });
    return answer.then((placed) => placed.slice(from, from + points.length));
  };
}
