import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/** `x.test.ts` is pure and runs in Node; the name of the others says what they need. */
const WORKERS = "tests/**/*.workers.test.ts";
const PROCESS = "tests/**/*.process.test.ts";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["tests/**/*.test.ts"],
          exclude: [WORKERS, PROCESS],
          // Property tests run thousands of schedules, on machines with two slow cores too.
          testTimeout: 60_000,
        },
      },
      {
        plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.toml" } })],
        test: { name: "workers", include: [WORKERS], testTimeout: 30_000 },
      },
      {
        test: {
          name: "process",
          include: [PROCESS],
          // Each starts a real runtime: side by side they would only measure one another.
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
