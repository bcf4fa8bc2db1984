import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Conversation } from "../../../cli/conversation/conversation";
import { perform } from "../../../cli/conversation/slash-commands";
import { hashOf } from "../../../cli/contexts/scan";
import { SESSION } from "../../protocol/builders";
import { ContextsServer } from "../asking/contexts-server";
import { ioWithoutUser } from "../commands/terminal";
import { Service } from "../service";

let home = "";
beforeEach(async () => {
  home = await realpath(await mkdtemp(path.join(tmpdir(), "talk-files-")));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const conversationAt = (server: string, fields: Partial<Conversation> = {}): Conversation => ({
  team: { request: {}, source: { name: "team", text: null }, description: "team" },
  connection: { server },
  limits: { timeout_seconds: 60 },
  output: { form: "answer", file: null, verbose: false },
  session: null,
  from: null,
  latest: null,
  attachments: [],
  requested: [],
  folders: [],
  winner: null,
  waiting: [],
  typed: null,
  refused: null,
  aside: null,
  ...fields,
});

/** A user in the home folder who answers questions so, and what the user was asked and shown. */
function userIo(answer = true) {
  const asked: string[] = [];
  let screen = "";
  const write = (text: string | Uint8Array) => {
    screen += String(text);
  };
  const confirm = async (question: string) => {
    asked.push(question);
    return answer;
  };
  return { ...ioWithoutUser(home), stderr: { write }, confirm, asked, shown: () => screen };
}

const AGENTS = "agents: [{id: ann, backend: {type: openai, model: gpt-5-mini}}]\n";
const TEXT = `${AGENTS}orchestrator:\n  context_paths: [{path: ./site, permission: write}]\n`;
const DOCS = { typed: "./docs", name: "docs", permission: "write" } as const;
const SITE = { typed: "./site", name: "site", permission: "write" } as const;

/** A config that names the folder `site`, beside the folder `docs`. */
async function writeTeam(text = TEXT): Promise<void> {
  for (const folder of ["site", "docs"]) {
    await mkdir(path.join(home, folder));
    await writeFile(path.join(home, folder, "a.txt"), folder);
  }
  await writeFile(path.join(home, "team.yaml"), text);
}
const USE_TEAM = { name: "config", argument: "team.yaml" };

describe("another team before the first question", () => {
  it("of a config that names a folder gets that folder's context, and the folders of --with stay", async () => {
    await using server = await ContextsServer.start();
    await writeTeam();
    const requested = [{ typed: "./docs", permission: "write" as const }];
    const conversation = conversationAt(server.url, { requested });
    await perform(USE_TEAM, conversation, userIo());
    expect(conversation).toMatchObject({
      team: { request: { config_yaml: TEXT.replace("./site", '"site"') } },
      limits: { timeout_seconds: 60, contexts: [{ name: "docs", permission: "write" }] },
      session: null,
    });
    expect(conversation).not.toHaveProperty("teamOfNext");
    expect(conversation.folders).toEqual(expect.arrayContaining([DOCS, SITE]));
    await perform({ name: "model", argument: "gpt-5.4" }, conversation, userIo());
    expect(conversation.folders).toEqual([DOCS]);
  });
});

describe("another team in a session", () => {
  const requested = [{ typed: "./docs", permission: "write" as const }];
  const limits = { contexts: [{ name: "docs", permission: "write" as const }] };

  it("is brought by the next question of the same session, once the user allows its folder", async () => {
    await using server = await ContextsServer.start();
    await writeTeam();
    const fields = { session: SESSION, requested, limits, folders: [DOCS] };
    const conversation = conversationAt(server.url, fields);
    const io = userIo();
    await perform(USE_TEAM, conversation, io);
    expect(io.asked).toEqual([expect.stringContaining(path.join(home, "site"))]);
    expect(server.pushes.map(({ name }) => name)).toEqual(["site"]);
    const team = { request: { config_yaml: TEXT.replace("./site", '"site"') } };
    expect(conversation).toMatchObject({ session: SESSION, team, teamOfNext: team, limits });
    expect(conversation.folders).toEqual([DOCS, SITE]);
    expect(io.shown()).toContain("team     team.yaml: ann (gpt-5-mini)\nIt answers from the next");
  });

  it("gets a folder of --with without a question, because the session has it", async () => {
    await using server = await ContextsServer.start();
    await writeTeam(TEXT.replace("./site", "./docs"));
    const conversation = conversationAt(server.url, { session: SESSION, requested, limits });
    const io = userIo();
    await perform(USE_TEAM, conversation, io);
    expect([io.asked, server.pushes.map(({ name }) => name)]).toEqual([[], ["docs"]]);
  });

  it("asks about a folder of --with that was given to another session", async () => {
    await using server = await ContextsServer.start();
    await writeTeam(TEXT.replace("./site", "./docs"));
    const aside = { grants: limits, folders: [DOCS] };
    const conversation = conversationAt(server.url, { session: SESSION, requested, aside });
    const io = userIo(false);
    await expect(perform(USE_TEAM, conversation, io)).rejects.toThrow("Nothing was sent");
    expect([io.asked.length, server.pushes]).toEqual([1, []]);
    expect(conversation).not.toHaveProperty("teamOfNext");
  });

  it("is not chosen if the service refuses its config: nothing is pushed", async () => {
    await using server = await ContextsServer.start();
    await writeTeam(TEXT.replace("type: openai", "type: no-such-backend"));
    const conversation = conversationAt(server.url, { session: SESSION });
    const io = userIo();
    const before = { ...conversation };
    await expect(perform(USE_TEAM, conversation, io)).rejects.toThrow(
      /The team stays as it was\.\n[\s\S]*no-such-backend/,
    );
    expect([conversation, io.asked, server.pushes]).toEqual([before, [], []]);
  });

  it("is asked without the options that were for the team before, and says so", async () => {
    await using server = await ContextsServer.start();
    await writeTeam(AGENTS);
    const overrides = { agents: ["bob"], quick: true };
    const conversation = conversationAt(server.url, { session: SESSION, limits: { overrides } });
    const io = userIo();
    await perform(USE_TEAM, conversation, io);
    expect(conversation.limits).toEqual({});
    expect(io.shown()).toContain("These options no longer apply: only bob; quick\n");
  });

  it("answers the first question of the next new session too", async () => {
    await using server = await ContextsServer.start();
    await writeTeam(AGENTS);
    const conversation = conversationAt(server.url, { session: SESSION });
    await perform(USE_TEAM, conversation, userIo());
    await perform({ name: "new", argument: "" }, conversation, userIo());
    expect(conversation).toMatchObject({
      session: null,
      team: { request: { config_yaml: AGENTS } },
    });
    expect(conversation).not.toHaveProperty("teamOfNext");
  });
});

describe("/save", () => {
  const TURN = `/api/sessions/${SESSION}/turns/1`;
  it("keeps files that the user changed with --skip-conflicts, as its refusal says", async () => {
    const file = (name: string) => ({ path: name, sha256: hashOf(Buffer.from("new")), size: 3 });
    await using service = await Service.start({
      events: [],
      answers: {
        [`${TURN}/files`]: {
          status: 200,
          body: {
            object: "list",
            label: "agent1.final",
            attempt: 1,
            data: [file("a.txt"), file("b.txt")],
          },
        },
        [`${TURN}/files/a.txt`]: { status: 200, type: "text/plain", body: "new" },
        [`${TURN}/files/b.txt`]: { status: 200, type: "text/plain", body: "new" },
      },
    });
    await mkdir(path.join(home, "my out"));
    await writeFile(path.join(home, "my out/a.txt"), "mine");
    const conversation = conversationAt(service.url, { session: SESSION });
    const save = (argument: string) => perform({ name: "save", argument }, conversation, userIo());
    await expect(save("my out")).rejects.toThrow("--skip-conflicts");
    await save("my out --skip-conflicts");
    const contents = ["a.txt", "b.txt"].map((name) =>
      readFile(path.join(home, "my out", name), "utf8"),
    );
    expect(await Promise.all(contents)).toEqual(["mine", "new"]);
  });
});
