import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { examine } from "../../../cli/commands/doctor";
import { Service } from "../service";

const NO_KEY = {
  pointer: "/agents/0/backend",
  detail: "OpenAI needs a key: set OPENAI_API_KEY.",
  code: "key_not_set",
};
const INVALID_TYPE = {
  pointer: "/agents/0/backend",
  detail: "Unknown backend type.",
  code: "unknown_key",
};
const team = (name: string, fields: object) => ({
  name,
  title: "",
  agents: [],
  default: false,
  runnable: true,
  missing: [],
  ...fields,
});
const demo = (missing: object[]) =>
  team("demo", { default: true, runnable: missing.length === 0, missing });

let home = "";
let project = "";
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "doctor-"));
  project = path.join(home, "project");
  await mkdir(path.join(project, ".massgen"), { recursive: true });
  await writeFile(path.join(project, ".massgen/config.yaml"), "agents: []\n");
});
afterAll(() => rm(home, { recursive: true }));

type Answers = { teams?: object[]; verdict?: object };

/** The finding of `doctor` about the config, and whether any finding is an error. */
async function findings(cwd: string, { teams = [], verdict = {} }: Answers) {
  const body = (value: object) => ({ status: 200, body: value });
  await using service = await Service.start({
    events: [],
    answers: {
      "/healthz": body({ status: "ok", version: "1.0.0" }),
      "/api/sessions?limit=1": body({ data: [] }),
      "/api/configs": body({ data: teams }),
      "/api/configs/validate": body({
        runnable: false,
        errors: [],
        refusals: [],
        warnings: [],
        ...verdict,
      }),
    },
  });
  const connection = {
    server: service.url,
    origins: { server: "--server", key: "none" },
  } as Parameters<typeof examine>[0];
  const allFindings = await examine(connection, { cwd, home });
  const config = allFindings.find(({ subject }) => subject === "config");
  return {
    state: config?.state,
    text: config?.text,
    isBad: allFindings.some(({ state }) => state === "bad"),
  };
}

describe("doctor with a healthy service (A33)", () => {
  it("reports no error if keys are missing, and names the missing key", async () => {
    expect(await findings(home, { teams: [demo([NO_KEY])] })).toEqual({
      state: "note",
      text:
        "no config here; the default team, demo, cannot run yet. OpenAI needs a key: set OPENAI_API_KEY. " +
        "The service is healthy, and can answer once a provider's key is set.",
      isBad: false,
    });
  });
  it("names the teams that are ready if the default team is not", async () => {
    const { text } = await findings(home, {
      teams: [demo([NO_KEY]), team("one-provider", {}), team("fast", {})],
    });
    expect(text).toContain("Ready now: --config one-provider, --config fast.");
  });
  it("reports an error if the default team lacks more than keys", async () => {
    expect(await findings(home, { teams: [demo([NO_KEY, INVALID_TYPE])] })).toMatchObject({
      state: "bad",
      isBad: true,
    });
  });
  it("accepts a config that lacks only keys", async () => {
    const { state, text, isBad } = await findings(project, { verdict: { refusals: [NO_KEY] } });
    expect([state, isBad]).toEqual(["note", false]);
    expect(text).toMatch(/config\.yaml is valid, but cannot run yet\. OpenAI needs a key/);
  });
  it("reports an error for an invalid config", async () => {
    expect(
      await findings(project, { verdict: { errors: [INVALID_TYPE], refusals: [NO_KEY] } }),
    ).toMatchObject({ state: "bad" });
  });
});
