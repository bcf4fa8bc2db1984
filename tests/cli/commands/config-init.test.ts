import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { problem, Service } from "../service";
import { runAt } from "./terminal";

let cwd = "";
beforeEach(async () => {
  cwd = await mkdtemp(path.join(tmpdir(), "init-"));
});
afterEach(() => rm(cwd, { recursive: true }));
const readConfig = () => readFile(path.join(cwd, ".massgen/config.yaml"), "utf8").catch(() => null);

const YAML = "# yaml-language-server: $schema=../team.schema.json\n# Two of a kind.\nagents: []\n";
const COPY = "# Two of a kind.\nagents: []\n";
const configList = {
  data: [
    { name: "demo", title: "Three models", runnable: false, missing: [{ detail: "No key." }] },
    { name: "pair", title: "Two of a kind\x1b[2J", runnable: true },
  ],
};
const answers = {
  "/api/configs": { status: 200, body: configList },
  "/api/configs/pair": { status: 200, type: "application/yaml", body: YAML },
};
const DOWN = "\x1b[B";

describe("massgen-edge config init", () => {
  it("copies an included team, without the original's schema comment", async () => {
    await using service = await Service.start({ events: [], answers });
    const result = await runAt(
      { cwd },
      "config",
      "init",
      "--team",
      "pair",
      "--server",
      service.url,
    );
    expect([result.code, result.stdout, await readConfig()]).toEqual([
      0,
      expect.stringMatching(/\.massgen\/config\.yaml.* npm run ask -- config validate\n$/),
      COPY,
    ]);
  });

  it("lists the included teams with their titles, and marks teams that cannot run", async () => {
    await using service = await Service.start({ events: [], answers });
    const keys = [["models of my own", `${DOWN}\r`]] as const;
    const result = await runAt({ cwd, keys }, "config", "init", "--server", service.url);
    expect(result.screen).toMatch(/demo .*not available.*Three models/);
    expect([result.code, await readConfig()]).toEqual([0, COPY]);
  });

  it("writes a team of the models that the user enters", async () => {
    await using service = await Service.start({ events: [], answers });
    const keys = [
      ["models of my own", `${DOWN}${DOWN}\r`],
      ["Separate them", "gpt-6.1-terra\r"],
    ] as const;
    const result = await runAt({ cwd, keys }, "config", "init", "--server", service.url);
    expect([result.code, await readConfig()]).toEqual([
      0,
      expect.stringContaining("model: gpt-6.1-terra\n"),
    ]);
  });

  it("asks for models if the service is unavailable", async () => {
    await using service = await Service.start({
      events: [],
      answers: { "/api/configs": problem(503, {}) },
    });
    const keys = [["Separate them", "gpt-6.1-terra\r"]] as const;
    const result = await runAt({ cwd, keys }, "config", "init", "--server", service.url);
    expect(result.screen).toContain(service.url);
    expect([result.code, await readConfig()]).toEqual([
      0,
      expect.stringContaining("model: gpt-6.1-terra\n"),
    ]);
  });

  it("refuses to overwrite an existing config, before any question or request", async () => {
    await using service = await Service.start({ events: [], answers });
    await runAt({ cwd }, "config", "init", "--model", "gpt-6.1-terra");
    const before = await readConfig();
    await expect(
      runAt({ cwd, keys: [] }, "config", "init", "--server", service.url),
    ).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(/\.massgen\/config\.yaml.*--force/),
    });
    expect([await readConfig(), service.requests]).toEqual([before, []]);
    const forced = await runAt(
      { cwd },
      "config",
      "init",
      "--team",
      "pair",
      "--force",
      "--server",
      service.url,
    );
    expect([forced.code, await readConfig()]).toEqual([0, COPY]);
  });

  it.each([
    { name: "an unknown team", args: ["--team", "nope"], remedy: "Check" },
    {
      name: "a team and models at once",
      args: ["--team", "pair", "--model", "m"],
      remedy: "either --team, or --model",
    },
    {
      name: "neither a team nor models, without a terminal",
      args: [],
      remedy: "config init --team <name>",
    },
  ])("writes nothing for $name, and names the remedy", async ({ args, remedy }) => {
    await using service = await Service.start({ events: [], answers });
    const run = runAt({ cwd }, "config", "init", ...args, "--server", service.url);
    await expect(run).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining(remedy),
    });
    expect(await readConfig()).toBe(null);
  });
});
