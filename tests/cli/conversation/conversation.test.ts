import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import {
  repeatedTurn,
  type Conversation,
  nextTurn,
  noteAccepted,
} from "../../../cli/conversation/conversation";
import { parseCommand, complete, perform } from "../../../cli/conversation/slash-commands";
import { ioWithoutUser } from "../commands/terminal";

const conversation = (fields: Partial<Conversation> = {}): Conversation => ({
  team: { request: { config: "demo" }, source: { name: "demo", text: null }, description: "demo" },
  connection: { server: "http://127.0.0.1:8787" },
  limits: { timeout_seconds: 60 },
  output: { form: "answer", file: null, verbose: false },
  session: null,
  from: null,
  latest: null,
  attachments: [],
  requested: [],
  folders: [],
  winner: null,
  refused: null,
  waiting: [],
  typed: null,
  aside: null,
  ...fields,
});
const SESSION = "session_01jd";

describe("the next question", () => {
  it("is a new session's first turn, with team and limits", () => {
    expect(nextTurn(conversation(), "q")).toEqual({
      run: { question: "q", config: "demo", timeout_seconds: 60 },
    });
  });
  it("follows the turn that the user chose", () => {
    expect(nextTurn(conversation({ session: SESSION, from: 2 }), "q")).toEqual({
      next: {
        sessionId: SESSION,
        body: { question: "q", parent_turn: 2, timeout_seconds: 60 },
      },
    });
  });
  it("names the side that wins conflicts, but not as the first question of a session", () => {
    expect(nextTurn(conversation({ session: SESSION, winner: "turn" }), "q")).toMatchObject({
      next: { body: { context_conflicts: "turn" } },
    });
    expect(nextTurn(conversation({ winner: "turn" }), "q")).toEqual(nextTurn(conversation(), "q"));
  });
  it("is the next turn of the session, which already has its team", () => {
    expect(nextTurn(conversation({ session: SESSION }), "q")).toEqual({
      next: { sessionId: SESSION, body: { question: "q", timeout_seconds: 60 } },
    });
  });
});

describe("another team for the next question", () => {
  const request = { config: "reviewers" };
  const file = { type: "file", name: "rules.txt", data: "eA==" } as const;
  const teamOfNext = { ...conversation().team, request, attachments: [file] };
  const own = { type: "file", name: "own.txt", data: "eA==" } as const;

  it("is sent with the next question of the session, with its attachments", () => {
    const target = nextTurn(
      conversation({ session: SESSION, teamOfNext, attachments: [own] }),
      "q",
    );
    expect(target).toEqual({
      next: {
        sessionId: SESSION,
        body: {
          question: [{ type: "text", text: "q" }, file, own],
          ...request,
          timeout_seconds: 60,
        },
      },
    });
  });

  it("is no longer sent once a question has brought it", () => {
    const talk = conversation({ session: SESSION, teamOfNext });
    noteAccepted(talk, { ...request });
    expect(talk.teamOfNext).toBe(teamOfNext);
    noteAccepted(talk, request);
    expect(nextTurn(talk, "q")).toEqual({
      next: { sessionId: SESSION, body: { question: "q", timeout_seconds: 60 } },
    });
  });
});

describe("the repetition of the last question", () => {
  it.each([
    { name: "does nothing before the first question", state: {}, expected: null },
    {
      name: "starts a new session if the session was not created",
      state: { latest: { question: "q", parent: null, turn: null, attachments: [] } },
      expected: { run: { question: "q", config: "demo", timeout_seconds: 60 } },
    },
    {
      name: "names the turn that asked it, also if it was the first of its session",
      state: {
        session: SESSION,
        latest: { question: "q", parent: null, turn: 1, attachments: [] },
      },
      expected: { next: { sessionId: SESSION, body: { repeat_turn: 1, timeout_seconds: 60 } } },
    },
    {
      name: "sends a question that was refused after the same turn",
      state: {
        session: SESSION,
        latest: { question: "q", parent: 2, turn: null, attachments: [] },
      },
      expected: {
        next: { sessionId: SESSION, body: { question: "q", parent_turn: 2, timeout_seconds: 60 } },
      },
    },
    {
      name: "leaves the contexts to the repeated turn",
      state: {
        session: SESSION,
        limits: { contexts: [{ name: "site" }] },
        latest: { question: "q", parent: 2, turn: 5, attachments: [] },
      },
      expected: { next: { sessionId: SESSION, body: { repeat_turn: 5 } } },
    },
  ])("$name", ({ state, expected }) => {
    expect(repeatedTurn(conversation(state))).toEqual(expected);
  });
});

describe("an attached file", () => {
  const [ownFile, teamFile] = ["own.png", "team.png"].map(
    (name) => ({ type: "file", name, data: "eA==" }) as const,
  );
  const team = { ...conversation().team, attachments: teamFile ? [teamFile] : [] };
  const text = { type: "text", text: "q" };
  const attachments = ownFile ? [ownFile] : [];

  it("is sent with the first question, after the files of the team", () => {
    const target = nextTurn(conversation({ team, attachments }), "q");
    expect(target).toMatchObject({
      run: { question: [text, { name: "team.png" }, { name: "own.png" }] },
    });
  });
  it("is sent with a later question, without the files of the team", () => {
    const target = nextTurn(conversation({ team, session: SESSION, attachments }), "q");
    expect(target).toMatchObject({ next: { body: { question: [text, { name: "own.png" }] } } });
  });
  it.each([null, 2])("is sent again with a refused question (after turn %s)", (parent) => {
    const latest = { question: "q", parent, turn: null, attachments };
    expect(
      JSON.stringify(repeatedTurn(conversation({ team, session: SESSION, latest }))),
    ).toContain('"name":"own.png"');
  });
});

describe("/file", () => {
  const cwd = mkdtempSync(path.join(tmpdir(), "along-"));
  writeFileSync(path.join(cwd, "a.txt"), "ash");
  const printed: string[] = [];
  const io = { ...ioWithoutUser(), cwd, stderr: { write: (text: string) => printed.push(text) } };
  const target = conversation();

  it("attaches a file only once to the next question, and removes all files without a path", async () => {
    await perform({ name: "file", argument: "a.txt" }, target, io);
    await perform({ name: "file", argument: "a.txt" }, target, io);
    expect(target.attachments).toEqual([{ type: "file", name: "a.txt", data: "YXNo" }]);
    expect(printed.at(-1)).toBe("attached  a.txt\n");
    await expect(perform({ name: "file", argument: "b.txt" }, target, io)).rejects.toThrow(
      "Cannot attach b.txt",
    );
    expect(target.attachments).toHaveLength(1);
    await perform({ name: "file", argument: "" }, target, io);
    expect(target.attachments).toEqual([]);
  });
});

describe("a command without arguments", () => {
  it.each(["undo", "cancel", "compact", "turns", "new", "status"])(
    "/%s refuses an argument, so that nothing happens that the user did not mean",
    async (name) => {
      await expect(
        perform({ name, argument: "2" }, conversation(), ioWithoutUser()),
      ).rejects.toThrow(`/${name} takes no argument, but has 2. Nothing was done.`);
    },
  );
});

describe("an entry", () => {
  it.each([
    { entry: "/help", command: { name: "help", argument: "" } },
    { entry: "/show 2 ", command: { name: "show", argument: "2" } },
    {
      entry: "/Config teams/my team.yaml",
      command: { name: "config", argument: "teams/my team.yaml" },
    },
    { entry: "/etc/passwd: what is it?", command: null },
    { entry: "//show is a word", command: null },
    { entry: "why is /help there?", command: null },
    { entry: "/help\nand more", command: null },
    {
      entry: "/branch 2 One\ntwo",
      command: { name: "branch", argument: "2 One\ntwo" },
    },
    { entry: "/interrupt One\ntwo", command: { name: "interrupt", argument: "One\ntwo" } },
    { entry: "/usr/bin\nwhat is it?", command: null },
    { entry: "/usr x\nwhat is it?", command: null },
    { entry: "/", command: null },
  ])("$entry is parsed as the command $command", ({ entry, command }) => {
    expect(parseCommand(entry)).toEqual(command);
  });
  it.each([
    { line: "/s", completions: ["/status", "/show", "/save", "/sessions"] },
    { line: "so", completions: [] },
  ])("$line is completed to $completions", ({ line, completions }) => {
    expect(complete(line)).toEqual([completions, line]);
  });
});
