import { describe, expect, it } from "vitest";
import { readFileSync } from "node:fs";
import { firstDeployPlan, type Inventory, nextCommands, EMPTY_ACCOUNT, planInWords } from "./plan";
import { targetOf } from "./target";
import { withNames } from "./named-config";
import { addressIn, bucketsIn, isWorkerMissing, type Reply } from "./replies";
import { parseSavedSecrets, savedSecretsText } from "./saved-secrets";
import { failed } from "./recorded-account";
import { firstDeployArguments } from "./arguments";

const BOUND = { d1_databases: [{ binding: "DB" }], r2_buckets: [{ binding: "BUCKET" }] };
const target = targetOf({ name: "massgen-edge", ...BOUND });
/** The planned steps for an account that has these resources. */
const stepsFor = (
  inventory: Partial<Inventory>,
  providerKeys: string[] = [],
  deployTarget = target,
) =>
  firstDeployPlan(
    { target: deployTarget, tenant: "main", providerKeys },
    { ...EMPTY_ACCOUNT, ...inventory },
  ).map((step) => ("name" in step ? `${step.type} ${step.name}` : step.type));
const UPLOAD = ["deploy", "migrate"];
const SECRETS = ["put_secret MASTER_KEY", "put_secret SEALING_KEYS"];
const KEY_AND_LOGIN = ["make_key", "log_in"];

describe("the plan of a first deployment", () => {
  it.each<{ name: string; inventory: Partial<Inventory>; steps: string[] }>([
    {
      name: "creates everything in an empty account",
      inventory: {},
      steps: [
        "create_database massgen-edge-db",
        "create_bucket massgen-edge-bucket",
        ...UPLOAD,
        ...SECRETS,
        ...KEY_AND_LOGIN,
      ],
    },
    {
      name: "does not create an existing database again",
      inventory: { databases: ["other", "massgen-edge-db"] },
      steps: ["create_bucket massgen-edge-bucket", ...UPLOAD, ...SECRETS, ...KEY_AND_LOGIN],
    },
    {
      name: "does not create an existing bucket again",
      inventory: { buckets: ["massgen-edge-bucket"] },
      steps: ["create_database massgen-edge-db", ...UPLOAD, ...SECRETS, ...KEY_AND_LOGIN],
    },
    {
      name: "creates no database and no bucket for an existing Worker",
      inventory: { secrets: [] },
      steps: [...UPLOAD, ...SECRETS, ...KEY_AND_LOGIN],
    },
    {
      name: "does not replace an existing secret",
      inventory: { secrets: ["MASTER_KEY"] },
      steps: [...UPLOAD, "put_secret SEALING_KEYS", ...KEY_AND_LOGIN],
    },
  ])("$name", ({ inventory, steps }) => {
    expect(stepsFor(inventory)).toEqual(steps);
  });

  it("copies only the provider keys that the Worker lacks", () => {
    const inventory = { secrets: ["MASTER_KEY", "SEALING_KEYS", "OPENAI_API_KEY"] };
    expect(stepsFor(inventory, ["OPENAI_API_KEY", "XAI_API_KEY"])).toEqual([
      ...UPLOAD,
      "put_secret XAI_API_KEY",
      ...KEY_AND_LOGIN,
    ]);
  });

  it("creates no database if the configuration has a database id", () => {
    const named = targetOf({
      name: "massgen-edge",
      d1_databases: [{ binding: "DB", database_id: "an-id" }],
      r2_buckets: [{ binding: "BUCKET", bucket_name: "files" }],
    });
    expect(stepsFor({}, [], named)).toEqual([
      "create_bucket files",
      ...UPLOAD,
      ...SECRETS,
      ...KEY_AND_LOGIN,
    ]);
  });

  it("is described by a dry run", () => {
    const words = planInWords(
      firstDeployPlan({ target, tenant: "main", providerKeys: [] }, EMPTY_ACCOUNT),
    );
    expect(words.slice(1, 4)).toEqual([
      "  1. create the D1 database massgen-edge-db",
      "  2. create the R2 bucket massgen-edge-bucket",
      "  3. upload the Worker massgen-edge",
    ]);
  });

  it.each([
    { secrets: [], next: [/secret put OPENAI_API_KEY$/, /--config one-provider "/] },
    { secrets: ["OPENAI_API_KEY"], next: [/--config one-provider "/] },
    {
      secrets: ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"],
      next: [/^npm run ask -- "/],
    },
  ])("suggests a question that can be answered after the secrets $secrets", ({ secrets, next }) => {
    expect(nextCommands(secrets)).toEqual(next.map((command) => expect.stringMatching(command)));
  });
});

describe("the configuration of the first upload", () => {
  const toml = readFileSync("wrangler.toml", "utf8");

  it("is wrangler.toml with the names of database and bucket", () => {
    const named = withNames(toml, target, null);
    expect(named).toMatch(
      /^\[\[d1_databases\]\]\ndatabase_name = "massgen-edge-db"\nbinding = "DB"$/m,
    );
    expect(named).toMatch(
      /^\[\[r2_buckets\]\]\nbucket_name = "massgen-edge-bucket"\nbinding = "BUCKET"$/m,
    );
    expect(named.split("\n")).toHaveLength(toml.split("\n").length + 2);
  });

  it("names only the resources of the chosen environment", () => {
    const two = `${toml}\n[[env.test.d1_databases]]\nbinding = "DB"\n[[env.test.r2_buckets]]\nbinding = "BUCKET"\n`;
    const named = withNames(two, targetOf({ name: "massgen-edge-test", ...BOUND }), "test");
    expect(named.startsWith(toml)).toBe(true);
    expect(named).toContain('[[env.test.d1_databases]]\ndatabase_name = "massgen-edge-test-db"');
  });

  it("is refused without the tables", () => {
    expect(() => withNames('name = "x"', target, null)).toThrow(
      'database_name = "massgen-edge-db"',
    );
  });

  it("of `npm run deploy` has no names, because names would move local storage", () => {
    expect(toml).not.toMatch(/^(database_name|database_id|bucket_name)/m);
  });
});

describe("wrangler's replies", () => {
  const reply = (stdout: string): Reply => ({ code: 0, stdout, stderr: "" });

  it("contain the buckets, with and without colours", () => {
    const listed =
      "Listing buckets...\n\u001b[37mname:\u001b[39m           \u001b[90mone\u001b[39m";
    expect(bucketsIn(reply(`${listed}\ncreation_date:  today\n\nname:  two\n`))).toEqual([
      "one",
      "two",
    ]);
  });

  it.each([
    {
      stdout: "Deployed massgen-edge triggers (1 sec)\n  https://massgen-edge.acme.workers.dev\n",
      address: "https://massgen-edge.acme.workers.dev",
    },
    { stdout: "  ai.example.com (custom domain)\n", address: "https://ai.example.com" },
    { stdout: "No targets deployed for massgen-edge (1 sec)\n", address: null },
  ])("contain the address $address", ({ stdout, address }) => {
    expect(addressIn(reply(stdout))).toBe(address);
  });

  it("of a missing Worker differ from other failures", () => {
    expect(isWorkerMissing(failed('Worker "a-test" (env: test) not found.'))).toBe(true);
    expect(isWorkerMissing(failed("Authentication error [code: 10000]"))).toBe(false);
  });
});

it("saved secrets are the same after they are written and read", () => {
  const secrets = { MASTER_KEY: "ab+/cd==", SEALING_KEYS: "1:xyz=", FIRST_KEY: "mge_a_b" };
  expect(parseSavedSecrets(savedSecretsText(secrets))).toEqual(secrets);
});

describe("the arguments of a first deployment", () => {
  it("have defaults", () => {
    expect(firstDeployArguments(["--first"])).toEqual({
      help: false,
      dryRun: false,
      tenant: "main",
      withProviderKeys: true,
      env: null,
      config: "wrangler.toml",
    });
  });

  it.each([
    ["--tenant", "local"],
    ["--config", "wrangler.jsonc"],
    ["--name", "other"],
  ])("are refused: %s %s", (...args) => {
    expect(() => firstDeployArguments(["--first", ...args])).toThrow();
  });
});
