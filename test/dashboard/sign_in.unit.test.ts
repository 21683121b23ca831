import { expect, test } from "vitest";
import { nextAddress } from "../../dashboard/src/pages/sign_in/next.js";

const base = "https://maps.example/fold/";

test("who has signed in goes where they wanted to go", () => {
  expect(nextAddress("/jobs?status=failed&q=a%20b", base)).toBe(`${base}jobs?status=failed&q=a%20b`);
  expect(nextAddress("/tasks/12-0", base)).toBe(`${base}tasks/12-0`);
  expect(nextAddress(null, base)).toBe(`${base}jobs`);
  expect(nextAddress("/", base)).toBe(`${base}jobs`);
  expect(nextAddress("/jobs", "http://localhost:8080/")).toBe("http://localhost:8080/jobs");
});

test("and to no other host, outside of the base path, nor round in a circle", () => {
  const elsewhere = [
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "evil.example",
    "javascript:alert(1)",
    "/javascript:alert(1)",
    "data:text/html,x",
    "/https://evil.example/",
    "/../other",
    "/..%2f",
    "",
    "/sign-in",
    "/sign-in?next=/sign-in",
    "https://maps.example.evil.example/fold/jobs",
    "/\n//evil.example",
    " //evil",
  ];
  for (const next of elsewhere) {
    const { origin, pathname, protocol } = new URL(nextAddress(next, base));
    expect({ next, origin, protocol }).toEqual({ next, origin: "https://maps.example", protocol: "https:" });
    expect(pathname.startsWith("/fold/"), `${next} leads to ${pathname}`).toBe(true);
    expect(pathname).not.toBe("/fold/sign-in");
  }
});
