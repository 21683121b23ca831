// Where somebody goes who has signed in: where they wanted to go, as far as that is a page of ours. A link with another's address in it
// leads to the jobs. Pure.

/** `next`: a path below the base, as /jobs?status=failed. `base`: the page's base address, with a slash at its end. */
export function nextAddress(next: string | null, base: string): string {
  const first = new URL("jobs", base).href;
  // Two slashes, or a backslash in place of one, would begin the name of another host.
  const path = /^\/(?![/\\])(.+)/s.exec(next ?? "")?.[1];
  if (path === undefined || !URL.canParse(path, base)) return first;
  const { origin, pathname, href } = new URL(path, base);
  const home = new URL(base);
  const is_ours = origin === home.origin && pathname.startsWith(home.pathname);
  return is_ours && pathname !== `${home.pathname}sign-in` ? href : first;
}
