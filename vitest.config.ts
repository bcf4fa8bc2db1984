import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { badInputsTable } from "./tests/api/bad-inputs-table.ts";
import { TEST_SEALING_KEYS } from "./tests/builders/sealing-keys.ts";
import { sampleTable } from "./tests/config/sample-table.ts";
import { contractTable } from "./tests/contracts/contract-table.ts";
import { faultTable } from "./tests/contracts/faults/fault-table.ts";

/** `x.test.ts` is pure and runs in Node; the name of the others says what they need. */
const WORKERS = "tests/**/*.workers.test.ts";
const PROCESS = "tests/**/*.process.test.ts";
const LOCAL_VARS = {
  OPEN_ACCESS: "loopback",
  ALLOWED_ORIGINS: "http://127.0.0.1:*,http://localhost:*",
  SEALING_KEYS: TEST_SEALING_KEYS,
};
/** What is awaited comes within milliseconds; a machine that stalls must not make a test fail. */
const EXPECT = { poll: { timeout: 10_000 } };
const REPORT = process.env["TEST_REPORT"];
/** Those that load the shell, each a project of its own: what they load besides would go to workerd in that one message, too. */
const WITH_SHELL = [
  "tests/durable-objects/agent-files.workers.test.ts",
  "tests/durable-objects/given-contexts.workers.test.ts",
  "tests/tools/shell/run-command.workers.test.ts",
];

/**
 * What a test file imports goes to workerd in one message of 32 MiB at most once another file has been there before it, and maps back to
 * the sources of dependencies, which nobody steps into, were half of that.
 */
const unmapped: NonNullable<TestProjectInlineConfiguration["plugins"]>[number] = {
  name: "dependencies-without-maps",
  enforce: "post",
  transform: (code: string, id: string) => (id.includes("/node_modules/") ? { code, map: { mappings: "" } } : null),
};

/** Tests that run in workerd, with the bindings of the service. */
const inWorkerd = (name: string, files: { include: string[]; exclude: string[] }): TestProjectInlineConfiguration => ({
  plugins: [
    unmapped,
    cloudflareTest(async ({ inject }) => ({
      wrangler: { configPath: "./wrangler.toml" },
      // These win over a developer's own .dev.vars, so that tests mean the same everywhere.
      miniflare: {
        // No binding of wrangler.toml, and without `JAVASCRIPT` no agent's tool: only tests of it look for it.
        workerLoaders: { LOADER: {} },
        bindings: {
          ...LOCAL_VARS,
          MAX_READERS: "40", // few enough for a test to reach
          TOOL_SECRETS: `BOX_REFRESH=${inject<string>("rotatingIssuer")}`,
          BOX_REFRESH: "the-first-refresh-token",
          VLLM_BASE_URL: inject<string>("providersUrl"),
          TEST_MIGRATIONS: await readD1Migrations("migrations"),
        },
      },
    })),
  ],
  test: {
    name,
    ...files,
    setupFiles: ["tests/workers-setup.ts"],
    globalSetup: ["tests/simulated-providers-setup.ts", "tests/tools/mcp/tool-server-setup.ts"],
    // The longest take 8 to 20 s where there is other work; this only guards against hanging.
    testTimeout: 60_000,
    expect: EXPECT,
  },
});

export default defineConfig({
  test: {
    // Names of tests tell the whole input; the default cuts a row's value after 40 characters.
    chaiConfig: { truncateThreshold: 200 },
    // CI counts from a report what really ran.
    reporters: [
      contractTable,
      faultTable,
      sampleTable,
      badInputsTable,
      ...(REPORT ? [["json", { outputFile: REPORT }] satisfies [string, object]] : []),
      "default", // last, so that what failed and the counts stand below the tables
    ],
    projects: [
      {
        test: {
          name: "unit",
          include: ["tests/**/*.test.ts"],
          exclude: [WORKERS, PROCESS],
          // Property tests run thousands of schedules, on machines with two slow cores too.
          testTimeout: 60_000,
          expect: EXPECT,
        },
      },
      inWorkerd("workers", { include: [WORKERS], exclude: WITH_SHELL }),
      ...WITH_SHELL.map((file, nth) => inWorkerd(`workers-shell-${nth + 1}`, { include: [file], exclude: [] })),
      {
        test: {
          name: "process",
          include: [PROCESS],
          // Each starts a real runtime: side by side they would only measure one another.
          fileParallelism: false,
          // What a campaign found wrong is told in the message itself: of a log often only the end is kept.
          chaiConfig: { truncateThreshold: 1_200 },
          testTimeout: 300_000,
          hookTimeout: 120_000,
          expect: EXPECT,
        },
      },
    ],
  },
});
