import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { badInputsTable } from "./scripts/checks/bad-inputs-table.ts";
import { LongestFirst } from "./tests/longest-first.ts";
import { TEST_SEALING_KEYS } from "./tests/builders/sealing-keys.ts";
import { sampleTable } from "./tests/config/sample-table.ts";
import { contractTable } from "./tests/contracts/contract-table.ts";
import { METERED, writeMeteredShell } from "./local/bundle/shell/write.ts";
import { faultTable } from "./tests/contracts/faults/fault-table.ts";

/** `x.test.ts` is pure and runs in Node; the other names say what a file needs. */
const UNIT = "{tests,proof,scripts}/**/*.test.ts";
/** Files that leave timers, servers or spies behind. Each runs in its own process. */
const APART = [
  "{proof/{simulation,planted-bugs},tests/{durable-objects,d1,tools,contracts}}/**/*.test.ts",
];
/**
 * Unit tests that take half of the time: megabytes of input, every case of a wire format, or many
 * simulated sessions. `npm test` leaves them out; `npm run test:more` and CI run them.
 */
const LONG = [
  "tests/contracts/**/*.test.ts",
  "tests/tools/shell/{large-inputs,costly-commands}.test.ts",
  "tests/tools/files/costly-patterns.test.ts",
  "tests/tools/mcp/hostile-replies.test.ts",
  "tests/durable-objects/session/files/large-workspace.test.ts",
  "tests/local/shell-bundle.test.ts",
  "tests/cli/contexts/{both-sides,histories}.test.ts",
  "proof/simulation/{engine,internal-errors,outside,outside-files,outside-replies,outside-tree}.test.ts",
];
const WORKERS = "{tests,proof}/**/*.workers.test.ts";
const PROCESS = "{tests,proof}/**/*.process.test.ts";
/** The only test of a real service in `npm test`. */
const DEMO = "tests/e2e/demo.process.test.ts";
/** Tests of time limits, which mostly wait. They run only beside one another. */
const WAITING = ["tests/e2e/{abort,recovery,revocation}.process.test.ts"];
/** Tests of responses while the processor is busy. They run alone: others would distort them. */
const BUSY = [
  "tests/e2e/costly-calls.process.test.ts",
  "tests/tools/shell/endless.process.test.ts",
];
/** More workers than cores, because tests wait for at least half of their time. */
const WORKERS_AT_ONCE = 4;
/** Campaigns. `npm run proof` runs them; proof/counts.ts sets their sizes. */
const PROOF = "proof/**/*.proof.test.ts";
/** Packages, also those of `proof/bench/peers`. Some contain their own tests. */
const PACKAGES = "**/node_modules/**";
const LOCAL_VARS = {
  OPEN_ACCESS: "loopback",
  ALLOWED_ORIGINS: "http://127.0.0.1:*,http://localhost:*",
  SEALING_KEYS: TEST_SEALING_KEYS,
};
/** Awaited values appear within milliseconds; the limit tolerates a stalled machine. */
const EXPECT = { poll: { timeout: 10_000 } };
const REPORT = process.env["TEST_REPORT"];
/**
 * Drops the source maps of dependencies. From the second test file on, all imports of a file go to
 * workerd in one message of at most 32 MiB, and these maps were half of it.
 */
const unmapped: NonNullable<TestProjectInlineConfiguration["plugins"]>[number] = {
  name: "dependencies-without-maps",
  enforce: "post",
  transform: (code: string, id: string) =>
    id.includes("/node_modules/") ? { code, map: { mappings: "" } } : null,
};

// The build of the service does the same (local/bundle/worker-build.ts).
writeMeteredShell(import.meta.dirname);
const resolve = { alias: { "just-bash/browser": `${import.meta.dirname}/${METERED}` } };

/**
 * Tests in Node. Without `isolate`, a worker loads each module once for all files, which halves the
 * processor time. Open connections are closed between files, because ports may be reused.
 */
const unit = (
  name: string,
  { include, exclude, isolate }: { include: string[]; exclude: string[]; isolate: boolean },
): TestProjectInlineConfiguration => ({
  resolve,
  test: {
    name,
    include,
    exclude: [...exclude, PACKAGES],
    isolate,
    setupFiles: ["tests/close-connections.ts"],
    // Property tests run thousands of schedules, on machines with two slow cores too.
    testTimeout: 60_000,
    expect: EXPECT,
  },
});

/** Addresses of tool servers, provided by the set-up of tests in workerd. */
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
const workers: TestProjectInlineConfiguration = {
  resolve,
  plugins: [
    unmapped,
    cloudflareTest(async ({ inject }) => ({
      main: "./src/worker.ts",
      wrangler: { configPath: "./wrangler.toml" },
      // Override the developer's .dev.vars, so that tests are the same on every machine.
      miniflare: {
        // Only tests of JavaScript use it: wrangler.toml does not bind it.
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
    name: "workers",
    isolate: false,
    include: [WORKERS],
    setupFiles: ["tests/workers-setup.ts"],
    globalSetup: ["tests/simulated-providers-setup.ts", "tests/tools/mcp/tool-server-setup.ts"],
    // The longest tests take 8 to 20 s on a busy machine; the limit only ends hanging tests.
    testTimeout: 60_000,
    expect: EXPECT,
  },
};

/** Tests that start a real runtime, `lanes` files at a time. Projects run by ascending `order`. */
const realService = (
  name: string,
  {
    include,
    exclude,
    order,
    lanes = 1,
  }: { include: string[]; exclude: string[]; order: number; lanes?: number },
): TestProjectInlineConfiguration => ({
  resolve,
  test: {
    name,
    include,
    exclude: [...exclude, PACKAGES],
    maxWorkers: lanes,
    sequence: { groupOrder: order },
    globalSetup: ["tests/service-bundle-setup.ts"],
    // Messages of campaigns list all findings, because often only the end of a log is stored.
    chaiConfig: { truncateThreshold: 1_200 },
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: EXPECT,
  },
});

export default defineConfig({
  test: {
    maxWorkers: WORKERS_AT_ONCE,
    sequence: { sequencer: LongestFirst },
    // Test names contain the whole input and a finding's id. The default cuts values at 40
    // characters.
    taskTitleValueFormatTruncate: 200,
    chaiConfig: { truncateThreshold: 200 }, // the same for values in messages
    // CI counts the executed tests from this report.
    reporters: [
      contractTable,
      faultTable,
      sampleTable,
      badInputsTable,
      ...(REPORT ? [["json", { outputFile: REPORT }] satisfies [string, object]] : []),
      "default", // last: failures and counts appear below the tables
    ],
    projects: [
      realService("demo", { include: [DEMO], exclude: [], order: 0, lanes: WORKERS_AT_ONCE }),
      unit("unit", {
        include: [UNIT],
        exclude: [WORKERS, PROCESS, PROOF, ...APART, ...LONG],
        isolate: false,
      }),
      unit("unit-apart", {
        include: APART,
        exclude: [WORKERS, PROCESS, PROOF, ...LONG],
        isolate: true,
      }),
      unit("long", { include: LONG, exclude: [WORKERS, PROCESS, PROOF], isolate: true }),
      workers,
      realService("process", {
        include: [PROCESS],
        exclude: [DEMO, ...WAITING, ...BUSY],
        order: 2,
        lanes: WORKERS_AT_ONCE,
      }),
      realService("process-waiting", { include: WAITING, exclude: [], order: 3, lanes: 3 }),
      realService("process-busy", { include: BUSY, exclude: [], order: 4 }),
      realService("proof", { include: [PROOF], exclude: [], order: 5 }),
    ],
  },
});
