export function normalFilter(filter: unknown): unknown {
  return filter;
}
