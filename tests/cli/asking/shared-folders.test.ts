import { mkdtemp, mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { shareFolders, toWithFolder } from "../../../cli/asking/shared-folders";
import type { TeamChoice } from "../../../cli/asking/team-choice";
import { ioWithoutUser } from "../commands/terminal";
import { ContractService, hashOfText } from "../contexts/contract-service";

let home = "";
let site = "";
let service: ContractService;
beforeEach(async () => {
  service = await new ContractService().start();
  home = await realpath(await mkdtemp(path.join(tmpdir(), "shared-")));
  site = path.join(home, "site");
  await mkdir(site);
  await writeFile(path.join(site, "a.txt"), "a");
  hashOfText("a");
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

const teamOf = (text: string | null): TeamChoice => ({
  request: text === null ? {} : { config_yaml: text },
  source: { name: "team.yaml", text },
  description: "team.yaml",
});
const CONFIG = "orchestrator:\n  context_paths: [{path: ., permission: write}]\n";
const RENAMED = CONFIG.replace("path: .", 'path: "site"');

/** Shares folders as a user who answers each question with `answer`; `null`: without a terminal. */
async function share(text: string | null, given: readonly string[], answer: boolean | null) {
  const questions: string[] = [];
  const io = {
    ...ioWithoutUser(site),
    home,
    ...(answer === null
      ? {}
      : {
          confirm: async (message: string) => {
            questions.push(message);
            return answer;
          },
        }),
  };
  const requested = given.map(toWithFolder);
  const connection = { server: service.url };
  const sharing = await shareFolders({ team: teamOf(text), requested }, connection, io);
  return { ...sharing, questions };
}

describe("a config that names a folder of this machine", () => {
  it("is sent with the context's name after the user allowed the absolute path, and asks only once", async () => {
    const first = await share(CONFIG, [], true);
    expect(first.questions).toEqual([expect.stringContaining(`  ${site} (write)\n`)]);
    expect(first.team.request.config_yaml).toBe(RENAMED);
    expect([first.contexts, first.folders]).toEqual([
      [],
      [{ typed: ".", name: "site", permission: "write" }],
    ]);
    expect(service.versions).toHaveLength(1);
    const second = await share(CONFIG, [], true);
    expect([second.questions, second.team.request.config_yaml]).toEqual([[], RENAMED]);
  });

  it("asks again once its text has changed, because another person may have changed it", async () => {
    await share(CONFIG, [], true);
    expect((await share(`# new\n${CONFIG}`, [], true)).questions).toHaveLength(1);
  });

  it.each([
    { name: "if the user refuses", answer: false, message: "Nothing was sent" },
    { name: "without a terminal", answer: null, message: "To send them, add --with " },
  ])("is refused $name, and nothing is pushed", async ({ answer, message }) => {
    await expect(share(CONFIG, [], answer)).rejects.toThrow(message);
    expect(service.versions).toEqual([]);
  });

  it("is allowed by --with for this folder, and keeps its own permission", async () => {
    const shared = await share(CONFIG, ["."], null);
    expect([shared.team.request.config_yaml, shared.contexts]).toEqual([RENAMED, []]);
  });

  it("names a folder that does not exist: the message has the path", async () => {
    await expect(share(CONFIG.replace("path: .", "path: ./none"), [], true)).rejects.toThrow(
      "team.yaml names ./none in context_paths, and there is no such folder here.",
    );
  });
});

describe("--with", () => {
  it("pushes the folder and grants its context: to read, or to write if the user says so", async () => {
    expect((await share(null, ["../site"], null)).contexts).toEqual([
      { name: "site", permission: "read" },
    ]);
    expect((await share(null, ["../site:write"], null)).contexts).toEqual([
      { name: "site", permission: "write" },
    ]);
    expect(service.versions).toHaveLength(1);
    const note = JSON.parse(await readFile(path.join(site, ".massgen-edge/context.json"), "utf8"));
    expect(note).toMatchObject({ server: service.url, name: "site" });
  });

  it("pushes an empty folder that the team may fill", async () => {
    await mkdir(path.join(home, "empty/site"), { recursive: true });
    expect((await share(null, ["../empty/site:write"], null)).contexts).toHaveLength(1);
    await mkdir(path.join(home, "other/site"), { recursive: true });
    await expect(share(null, ["../other/site"], null)).rejects.toThrow("no files to push");
  });
});
