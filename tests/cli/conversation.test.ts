import { describe, expect, it } from "vitest";
import { again, type Conversation, nextTurn } from "../../cli/conversation";
import { asCommand, complete } from "../../cli/slash-commands";

const conversation = (more: Partial<Conversation> = {}): Conversation => ({
  team: { request: { config: "demo" }, source: { name: "demo", text: null }, described: "demo" },
  connection: { server: "http://127.0.0.1:8787" },
  limits: { timeout_seconds: 60 },
  output: { form: "answer", file: null, verbose: false },
  session: null,
  latest: null,
  ...more,
});
const SESSION = "session_01jd";

describe("what is asked next", () => {
  it("is a new session's first turn, with team and limits", () => {
    expect(nextTurn(conversation(), "q")).toEqual({ run: { question: "q", config: "demo", timeout_seconds: 60 } });
  });
  it("is the next turn of the session, which has its team already", () => {
    expect(nextTurn(conversation({ session: SESSION }), "q")).toEqual({
      next: { sessionId: SESSION, body: { question: "q", timeout_seconds: 60 } },
    });
  });
});

describe("the last question again", () => {
  it.each([
    { name: "is nothing before there was one", given: {}, what: null },
    {
      name: "is a new session for a first question",
      given: { session: SESSION, latest: { question: "q", parent: null, turn: 1 } },
      what: { run: { question: "q", config: "demo", timeout_seconds: 60 } },
    },
    {
      name: "follows the turn it followed before",
      given: { session: SESSION, latest: { question: "q", parent: 2, turn: 5 } },
      what: { next: { sessionId: SESSION, body: { question: "q", parent_turn: 2, timeout_seconds: 60 } } },
    },
  ])("$name", ({ given, what }) => {
    expect(again(conversation(given))).toEqual(what);
  });
});

describe("what is typed", () => {
  it.each([
    { typed: "/help", command: { name: "help", argument: "" } },
    { typed: "/show 2 ", command: { name: "show", argument: "2" } },
    { typed: "/Config teams/my team.yaml", command: { name: "config", argument: "teams/my team.yaml" } },
    { typed: "/etc/passwd: what is it?", command: null },
    { typed: "//show is a word", command: null },
    { typed: "why is /help there?", command: null },
    { typed: "/help\nand more", command: null },
    { typed: "/", command: null },
  ])("$typed is the command $command", ({ typed, command }) => {
    expect(asCommand(typed)).toEqual(command);
  });
  it.each([
    { line: "/s", found: ["/status", "/show", "/sessions"] },
    { line: "so", found: [] },
  ])("$line is completed to $found", ({ line, found }) => {
    expect(complete(line)).toEqual([found, line]);
  });
});
