import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { badInputsTable } from "./scripts/checks/bad-inputs-table.ts";
import { TEST_SEALING_KEYS } from "./tests/builders/sealing-keys.ts";
import { sampleTable } from "./tests/config/sample-table.ts";
import { contractTable } from "./tests/contracts/contract-table.ts";
import { METERED, writeMeteredShell } from "./local/bundle/shell/write.ts";
import { faultTable } from "./tests/contracts/faults/fault-table.ts";

/** `x.test.ts` is pure and runs in Node; the other names say what a file needs. */
const UNIT = "{tests,proof,scripts}/**/*.test.ts";
/** Files that leave timers, servers or spies behind, so each has a process of its own. */
const APART = [
  "{proof/{simulation,planted-bugs},tests/{durable-objects,d1,tools,contracts}}/**/*.test.ts",
];
const WORKERS = "{tests,proof}/**/*.workers.test.ts";
const PROCESS = "{tests,proof}/**/*.process.test.ts";
/** The one run of a real service that `npm test` holds. */
const DEMO = "tests/e2e/demo.process.test.ts";
/** Files that hold the service to times: beside others they would measure those. */
const TIMED = [
  "tests/e2e/{abort,costly-calls,recovery,revocation}.process.test.ts",
  "tests/tools/shell/endless.process.test.ts",
];
/** Tests wait half of their time, those of a real service most of it, so more of them run side by side than there are cores. */
const WORKERS_AT_ONCE = 4;
/** Campaigns: `npm run proof` runs them, in a size that proof/counts.ts sets. */
const PROOF = "proof/**/*.proof.test.ts";
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
  "tests/durable-objects/session/files/agent-files.workers.test.ts",
  "tests/durable-objects/session/files/given-contexts.workers.test.ts",
  "tests/durable-objects/session/files/r2-files.workers.test.ts",
  "tests/tools/shell/run-command.workers.test.ts",
];

/**
 * What a test file imports goes to workerd in one message of 32 MiB at most once another file has been there before it, and maps back to
 * the sources of dependencies, which nobody steps into, were half of that.
 */
const unmapped: NonNullable<TestProjectInlineConfiguration["plugins"]>[number] = {
  name: "dependencies-without-maps",
  enforce: "post",
  transform: (code: string, id: string) =>
    id.includes("/node_modules/") ? { code, map: { mappings: "" } } : null,
};

// As in the service, whose build does the same (`[build]` and `[alias]` in wrangler.toml).
writeMeteredShell(import.meta.dirname);
const resolve = { alias: { "just-bash/browser": `${import.meta.dirname}/${METERED}` } };

/**
 * Tests in Node. Without `isolate` a worker loads modules once and not once for each file: half the processor time. Connections that one
 * file has left open are closed before the next file, which may serve on the same port.
 */
const unit = (
  name: string,
  { isolate, ...files }: { include: string[]; exclude: string[]; isolate: boolean },
): TestProjectInlineConfiguration => ({
  resolve,
  test: {
    name,
    ...files,
    isolate,
    setupFiles: ["tests/close-connections.ts"],
    // Property tests run thousands of schedules, on machines with two slow cores too.
    testTimeout: 60_000,
    expect: EXPECT,
  },
});

/** What the set-up of tests in workerd provides: addresses that tools may have. */
const TOOL_SERVERS = [
  ...[
    "toolServerUrl",
    "askingServerUrl",
    "holdingServerUrl",
    "unsupportedSchemaUrl",
    "mediaServerUrl",
  ],
  ...["rotatingServerUrl", "rotatingIssuer", "providersUrl", "hostileHeadersUrl"],
];

/** Tests that run in workerd, with the bindings of the service. */
const inWorkerd = (
  name: string,
  files: { include: string[]; exclude: string[] },
): TestProjectInlineConfiguration => ({
  resolve,
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
          // Tool servers need their exact origins; nothing listens at the last.
          ALLOWED_TOOL_ORIGINS: [
            ...TOOL_SERVERS.map((name) => new URL(inject<string>(name)).origin),
            "http://127.0.0.1:9",
          ].join(),
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

/** Tests that start a real runtime, so many files at once; each project after those of a smaller `order`. */
const realService = (
  name: string,
  {
    order,
    lanes = 1,
    ...files
  }: { include: string[]; exclude: string[]; order: number; lanes?: number },
): TestProjectInlineConfiguration => ({
  resolve,
  test: {
    name,
    ...files,
    maxWorkers: lanes,
    sequence: { groupOrder: order },
    globalSetup: ["tests/service-bundle-setup.ts"],
    // The message of a campaign names all that it found: often only the end of a log is kept.
    chaiConfig: { truncateThreshold: 1_200 },
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: EXPECT,
  },
});

export default defineConfig({
  test: {
    // Twice the cores: half of what tests do is to wait.
    maxWorkers: WORKERS_AT_ONCE,
    // Names of tests tell the whole input, with a finding's id at the end; the default cuts a row's value after 40 characters.
    taskTitleValueFormatTruncate: 200,
    chaiConfig: { truncateThreshold: 200 }, // the same for values in messages
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
      realService("demo", { include: [DEMO], exclude: [], order: 0, lanes: WORKERS_AT_ONCE }),
      unit("unit", {
        include: [UNIT],
        exclude: [WORKERS, PROCESS, PROOF, ...APART],
        isolate: false,
      }),
      unit("unit-apart", { include: APART, exclude: [WORKERS, PROCESS, PROOF], isolate: true }),
      inWorkerd("workers", { include: [WORKERS], exclude: WITH_SHELL }),
      ...WITH_SHELL.map((file, nth) =>
        inWorkerd(`workers-shell-${nth + 1}`, { include: [file], exclude: [] }),
      ),
      realService("process", {
        include: [PROCESS],
        exclude: [DEMO, ...TIMED],
        order: 2,
        lanes: WORKERS_AT_ONCE,
      }),
      realService("process-timed", { include: TIMED, exclude: [], order: 3 }),
      realService("proof", { include: [PROOF], exclude: [], order: 4 }),
    ],
  },
});
