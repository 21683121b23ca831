// Fault points: nothing unless armed, and armed from outside only with words that exist.
import { spawnSync } from "node:child_process";
import { afterEach, expect, test } from "vitest";
import { armFault, disarmFaults, fault } from "../src/fault.js";
import { plainScript } from "./plain_code.js";

afterEach(() => disarmFaults());

test("a place that is not armed does nothing, and one that is does what it was told", async () => {
  expect(fault("here")).toBeUndefined();
  let times = 0;
  const disarm = armFault("here", async () => {
    times++;
    throw new Error("told so");
  });
  await expect(fault("here")).rejects.toThrow("told so");
  expect(fault("elsewhere")).toBeUndefined();
  disarm();
  expect(fault("here")).toBeUndefined();
  expect(times).toBe(1);
});

test("disarming an action that was replaced leaves the new one armed", () => {
  const disarm = armFault("here", () => {});
  let called = false;
  armFault("here", () => {
    called = true;
  });
  disarm();
  fault("here");
  expect(called).toBe(true);
});

const module = plainScript(new URL("../src/fault.ts", import.meta.url));

function inChild(setting: string, code: string) {
  const script = `import { fault } from ${JSON.stringify(module)};\n${code}`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    env: { ...process.env, FANFOLD_FAULTS: setting },
    encoding: "utf8",
  });
}

test("a child process can be killed at a place, at its n-th passing", () => {
  const child = inChild(
    "here:kill9@3",
    'for (let n = 1; n < 9; n++) { process.stdout.write(String(n)); await fault("here"); }',
  );
  expect(child).toMatchObject({ signal: "SIGKILL", stdout: "123" });
});

test("an error can be thrown there, and an action that does not exist is refused at the start", () => {
  expect(inChild("a:error, b:exit", 'await fault("a")').stderr).toContain("fault a");
  expect(inChild("a:error, b:exit", 'await fault("b")').status).toBe(70);
  expect(inChild("a:explode", "").stderr).toMatch(
    /"a:explode" is not name:action; actions are kill9, exit, hang, error/,
  );
});
