// Stands where jiti is in a child of a test: typescript.mjs finds every module of the project as JavaScript. Isolated handlers from real
// TypeScript are what test/cli/node_versions.test.ts runs, with the built program.
export const createJiti = () => ({ import: (url: string): Promise<unknown> => import(url) });
