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

/** A user in the home folder who allows everything. */
const userIo = () => ({ ...ioWithoutUser(home), confirm: async () => true });

describe("another team", () => {
  it("of a config that names a folder gets that folder's context, and the folders of --with stay", async () => {
    await using server = await ContextsServer.start();
    for (const folder of ["site", "docs"]) {
      await mkdir(path.join(home, folder));
      await writeFile(path.join(home, folder, "a.txt"), folder);
    }
    const text = "orchestrator:\n  context_paths: [{path: ./site, permission: write}]\n";
    await writeFile(path.join(home, "team.yaml"), text);
    const requested = [{ typed: "./docs", permission: "write" as const }];
    const conversation = conversationAt(server.url, { session: SESSION, requested });
    await perform({ name: "config", argument: "team.yaml" }, conversation, userIo());
    const docs = { typed: "./docs", name: "docs", permission: "write" };
    expect(conversation).toMatchObject({
      team: { request: { config_yaml: text.replace("./site", '"site"') } },
      limits: { timeout_seconds: 60, contexts: [{ name: "docs", permission: "write" }] },
      session: null,
    });
    expect(conversation.folders).toEqual(
      expect.arrayContaining([docs, { typed: "./site", name: "site", permission: "write" }]),
    );
    await perform({ name: "model", argument: "gpt-5.4" }, conversation, userIo());
    expect(conversation.folders).toEqual([docs]);
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
