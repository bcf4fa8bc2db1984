import { spawnSync } from "node:child_process";

/** `npm run check [-- --static]`: everything that CI demands of a change, the tests last. Stops at the first that fails. */
const STATIC = ["check:format", "lint", "types", "check:imports", "check:budgets"];
const steps = process.argv.includes("--static") ? STATIC : [...STATIC, "test"];

for (const step of steps) {
  const startedAt = performance.now();
  const { status } = spawnSync("npm", ["run", "--silent", step], { stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) {
    console.error(`✗ ${step} failed`);
    process.exit(status ?? 1);
  }
  console.log(`✓ ${step} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
}
