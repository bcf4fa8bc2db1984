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
const written = () => readFile(path.join(cwd, ".massgen/config.yaml"), "utf8").catch(() => null);

const YAML = "# yaml-language-server: $schema=../team.schema.json\n# Two of a kind.\nagents: []\n";
const COPY = "# Two of a kind.\nagents: []\n";
const list = {
  data: [
    { name: "demo", title: "Three models", runnable: false, missing: [{ detail: "No key." }] },
    { name: "pair", title: "Two of a kind\x1b[2J", runnable: true },
  ],
};
const answers = {
  "/api/configs": { status: 200, body: list },
  "/api/configs/pair": { status: 200, type: "application/yaml", body: YAML },
};
const DOWN = "\x1b[B";

describe("massgen-edge config init", () => {
  it("copies a team of the service, without the schema comment of the original", async () => {
    await using service = await Service.start({ events: [], answers });
    const ran = await runAt({ cwd }, "config", "init", "--team", "pair", "--server", service.url);
    expect([ran.code, ran.stdout, await written()]).toEqual([
      0,
      "Wrote .massgen/config.yaml. Check it: npm run ask -- config validate\n",
      COPY,
    ]);
  });

  it("offers the teams of the service, with their titles and whether they can run there", async () => {
    await using service = await Service.start({ events: [], answers });
    const keys = [["models of my own", `${DOWN}\r`]] as const;
    const ran = await runAt({ cwd, keys }, "config", "init", "--server", service.url);
    expect(ran.screen).toContain("demo (not available) (Three models)");
    expect([ran.code, await written()]).toEqual([0, COPY]);
  });

  it("accepts models instead", async () => {
    await using service = await Service.start({ events: [], answers });
    const keys = [
      ["models of my own", `${DOWN}${DOWN}\r`],
      ["Separate them", "gpt-6.1-terra\r"],
    ] as const;
    const ran = await runAt({ cwd, keys }, "config", "init", "--server", service.url);
    expect([ran.code, await written()]).toEqual([
      0,
      expect.stringContaining("model: gpt-6.1-terra\n"),
    ]);
  });

  it("asks for models if no service answers", async () => {
    await using service = await Service.start({
      events: [],
      answers: { "/api/configs": problem(503, {}) },
    });
    const keys = [["Separate them", "gpt-6.1-terra\r"]] as const;
    const ran = await runAt({ cwd, keys }, "config", "init", "--server", service.url);
    expect(ran.screen).toContain(
      `The teams of ${service.url} are not available now. Name models instead.\n`,
    );
    expect([ran.code, await written()]).toEqual([
      0,
      expect.stringContaining("model: gpt-6.1-terra\n"),
    ]);
  });

  it("keeps an existing config, before it asks anything", async () => {
    await using service = await Service.start({ events: [], answers });
    await runAt({ cwd }, "config", "init", "--model", "gpt-6.1-terra");
    const before = await written();
    await expect(
      runAt({ cwd, keys: [] }, "config", "init", "--server", service.url),
    ).rejects.toMatchObject({
      exitCode: 1,
      message: "Cannot write .massgen/config.yaml: it already exists; --force overwrites it.",
    });
    expect([await written(), service.requests]).toEqual([before, []]);
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
    expect([forced.code, await written()]).toEqual([0, COPY]);
  });

  it.each([
    { name: "an unknown team", args: ["--team", "nope"], says: "Check the id and the server." },
    {
      name: "a team and models at once",
      args: ["--team", "pair", "--model", "m"],
      says: "Either --team, or --model",
    },
    {
      name: "neither, without a terminal",
      args: [],
      says: "Name its models, or a team of the service: ",
    },
  ])("writes nothing for $name", async ({ args, says }) => {
    await using service = await Service.start({ events: [], answers });
    const run = runAt({ cwd }, "config", "init", ...args, "--server", service.url);
    await expect(run).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining(says),
    });
    expect(await written()).toBe(null);
  });
});
