import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { repeatedTurn, type Conversation, nextTurn } from "../../../cli/conversation/conversation";
import { parseCommand, complete, perform } from "../../../cli/conversation/slash-commands";
import { nobody } from "../commands/terminal";

const conversation = (more: Partial<Conversation> = {}): Conversation => ({
  team: { request: { config: "demo" }, source: { name: "demo", text: null }, description: "demo" },
  connection: { server: "http://127.0.0.1:8787" },
  limits: { timeout_seconds: 60 },
  output: { form: "answer", file: null, verbose: false },
  session: null,
  latest: null,
  attachments: [],
  ...more,
});
const SESSION = "session_01jd";

describe("the next question", () => {
  it("is a new session's first turn, with team and limits", () => {
    expect(nextTurn(conversation(), "q")).toEqual({
      run: { question: "q", config: "demo", timeout_seconds: 60 },
    });
  });
  it("is the next turn of the session, which already has its team", () => {
    expect(nextTurn(conversation({ session: SESSION }), "q")).toEqual({
      next: { sessionId: SESSION, body: { question: "q", timeout_seconds: 60 } },
    });
  });
});

describe("repeating the last question", () => {
  it.each([
    { name: "does nothing before the first question", given: {}, what: null },
    {
      name: "starts a new session for a first question",
      given: { session: SESSION, latest: { question: "q", parent: null, turn: 1, attachments: [] } },
      what: { run: { question: "q", config: "demo", timeout_seconds: 60 } },
    },
    {
      name: "starts at the same parent turn as before",
      given: { session: SESSION, latest: { question: "q", parent: 2, turn: 5, attachments: [] } },
      what: {
        next: { sessionId: SESSION, body: { question: "q", parent_turn: 2, timeout_seconds: 60 } },
      },
    },
  ])("$name", ({ given, what }) => {
    expect(repeatedTurn(conversation(given))).toEqual(what);
  });
});

describe("an attached file", () => {
  const [own, teams] = ["own.png", "team.png"].map(
    (name) => ({ type: "file", name, data: "eA==" }) as const,
  );
  const team = { ...conversation().team, attachments: teams ? [teams] : [] };
  const text = { type: "text", text: "q" };
  const attachments = own ? [own] : [];

  it("is sent with the first question, after the files of the team", () => {
    const asked = nextTurn(conversation({ team, attachments }), "q");
    expect(asked).toMatchObject({
      run: { question: [text, { name: "team.png" }, { name: "own.png" }] },
    });
  });
  it("is sent with a later question, without the files of the team", () => {
    const asked = nextTurn(conversation({ team, session: SESSION, attachments }), "q");
    expect(asked).toMatchObject({ next: { body: { question: [text, { name: "own.png" }] } } });
  });
  it.each([null, 2])("is sent again with a repeated question (after turn %s)", (parent) => {
    const latest = { question: "q", parent, turn: 5, attachments };
    expect(JSON.stringify(repeatedTurn(conversation({ team, session: SESSION, latest })))).toContain(
      '"name":"own.png"',
    );
  });
});

describe("/file", () => {
  const cwd = mkdtempSync(path.join(tmpdir(), "along-"));
  writeFileSync(path.join(cwd, "a.txt"), "ash");
  const said: string[] = [];
  const io = { ...nobody(), cwd, stderr: { write: (text: string) => said.push(text) } };
  const asked = conversation();

  it("attaches a file to the next question, once by each name, and none without a path", async () => {
    await perform({ name: "file", argument: "a.txt" }, asked, io);
    await perform({ name: "file", argument: "a.txt" }, asked, io);
    expect(asked.attachments).toEqual([{ type: "file", name: "a.txt", data: "YXNo" }]);
    expect(said.at(-1)).toBe("attached  a.txt\n");
    await expect(perform({ name: "file", argument: "b.txt" }, asked, io)).rejects.toThrow(
      "Cannot attach b.txt",
    );
    expect(asked.attachments).toHaveLength(1);
    await perform({ name: "file", argument: "" }, asked, io);
    expect(asked.attachments).toEqual([]);
  });
});

describe("typed text", () => {
  it.each([
    { typed: "/help", command: { name: "help", argument: "" } },
    { typed: "/show 2 ", command: { name: "show", argument: "2" } },
    {
      typed: "/Config teams/my team.yaml",
      command: { name: "config", argument: "teams/my team.yaml" },
    },
    { typed: "/etc/passwd: what is it?", command: null },
    { typed: "//show is a word", command: null },
    { typed: "why is /help there?", command: null },
    { typed: "/help\nand more", command: null },
    { typed: "/", command: null },
  ])("$typed is the command $command", ({ typed, command }) => {
    expect(parseCommand(typed)).toEqual(command);
  });
  it.each([
    { line: "/s", found: ["/status", "/show", "/sessions"] },
    { line: "so", found: [] },
  ])("$line is completed to $found", ({ line, found }) => {
    expect(complete(line)).toEqual([found, line]);
  });
});
