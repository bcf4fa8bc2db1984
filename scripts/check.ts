import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { runCommand } from "../local/command-line";

const USAGE = `npm run check [-- --static]

Runs all static checks of CI, then the tests. Stops at the first failure.

  --static  all but the tests`;
const STATIC_STEPS = [
  "check:format",
  "lint",
  "types",
  "check:imports",
  "check:budgets",
  "check:diction",
];

await runCommand(async () => {
  const { values } = parseArgs({
    options: { static: { type: "boolean" }, help: { type: "boolean" } },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  for (const step of values.static ? STATIC_STEPS : [...STATIC_STEPS, "test"]) {
    const startedAt = performance.now();
    const { status } = spawnSync("npm", ["run", "--silent", step], {
      stdio: "inherit",
      shell: process.platform === "win32",
    });
    if (status !== 0) {
      console.error(`✗ ${step} failed`);
      return status ?? 1;
    }
    console.log(`✓ ${step} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
  }
  return 0;
});
