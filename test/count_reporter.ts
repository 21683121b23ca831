// The last line of a run, alone on its line and the same whatever the version of the test runner: CI reads it.
import type { Reporter, TestModule } from "vitest/node";

export class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0;
    let failed = errors.length;
    for (const module of modules) {
      // A file that could not even be loaded has no tests to count.
      if (!module.ok() && [...module.children.allTests("failed")].length === 0) failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") passed++;
        else if (state === "failed") failed++;
      }
    }
    process.once("exit", (code) => {
      // What goes wrong before the first test or after the last one shows only here.
      if (failed === 0 && code !== 0) failed = 1;
      process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
    });
  }
}
