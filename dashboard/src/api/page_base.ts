/** The address under which this page and the API are served, for commands that are run elsewhere: https://host/fanfold. */
export function pageBase(): string {
  return new URL(".", document.baseURI).href.replace(/\/$/, "");
}
