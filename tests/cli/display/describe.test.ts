import type { FileAccess } from "../../../src/protocol/events/file";
import { describe, expect, it } from "vitest";
import { eventLine } from "../../../cli/display/turn-lines";
import { paint } from "../../../cli/terminal/output";
import { turnOf } from "../../../src/protocol/view";
import * as b from "../../protocol/builders";
import { base } from "./shown-turn";

describe("the line of an event", () => {
  const lineOf = (body: b.Body, before: b.Body[] = base) => {
    const events = b.log([...before, body]);
    const event = events.at(-1);
    const turn = turnOf(b.view(events));
    const line = event && turn && eventLine(event, turn);
    return line ? paint(line, { width: 200, color: false }) : null;
  };
  const access = (
    refused: string | null,
    operation: "read" | "write" | "delete" = "write",
    path = "/peers/agent2/a",
  ) => ({ operation, path, refused });
  const accessed = (accesses: FileAccess[]): b.Body => ({
    type: "files.accessed",
    attempt: 1,
    agent: "anna",
    round: 1,
    tool_call: "t",
    name: "run_command",
    accesses,
  });
  const inRound = { attempt: 1, agent: "anna", round: 1 };
  it.each<{ body: b.Body; line: string | null }>([
    {
      body: b.roundStarted("anna", 2, ["agent2.1"]),
      line: "00:00  anna starts round 2 with agent2.1",
    },
    {
      body: b.answered("anna", "agent1.1", 1, "12345"),
      line: "00:00  anna answers: agent1.1 (5 characters)",
    },
    {
      body: b.voted("anna", "agent2.1", 1, "it is\nclear"),
      line: "00:00  anna votes for agent2.1: it is clear",
    },
    {
      body: b.voteStale("anna", "agent2.1", ["agent2.2"]),
      line: "00:00  anna's vote for agent2.1 ignored: agent2.2 arrived meanwhile",
    },
    {
      body: b.votesCleared("agent2.2", ["anna", "agent2.1"]),
      line: "00:00  new answer agent2.2: anna's vote no longer counts",
    },
    { body: b.votesCleared("agent2.2"), line: null },
    {
      body: b.injected("anna", ["agent2.2"]),
      line: "00:00  anna is shown agent2.2 while it works",
    },
    {
      body: b.injected("anna", ["agent2.2"], "reopened"),
      line: "00:00  anna is shown agent2.2 and decides again",
    },
    {
      body: b.callFailed("anna", "c1", b.START + 1_300),
      line: "00:00  anna: model error (The model is overloaded), retrying in 1.0 s",
    },
    { body: b.agentFailed("anna"), line: "00:00  anna drops out: It cannot go on." },
    {
      body: {
        type: "answer.refused",
        ...inRound,
        tool_call: "t",
        code: "empty_answer",
        message: "It is empty.",
      },
      line: "00:00  anna's answer was rejected: It is empty.",
    },
    {
      body: { type: "tool.unknown", ...inRound, tool_call: "t", name: "send_mail" },
      line: "00:00  anna send_mail: result unknown",
    },
    {
      body: {
        type: "files.accessed",
        ...inRound,
        tool_call: "t",
        name: "write_file",
        accesses: [access("read_only")],
      },
      line: "00:00  anna may not write /peers/agent2/a",
    },
    {
      body: {
        type: "files.accessed",
        ...inRound,
        tool_call: "t",
        name: "read_file",
        accesses: [access("not_found"), access(null, "read")],
      },
      line: null,
    },
    {
      body: accessed([access(null, "write", "/workspace/site/index.html")]),
      line: "00:00  anna writes site/index.html",
    },
    {
      body: accessed([
        access(null, "read", "/workspace/a"),
        access(null, "write", "/contexts/site/b"),
        access(null, "write", "/workspace/c"),
        { ...access(null, "write", "/workspace/src/"), files: 20 },
        access(null, "delete", "/workspace/d"),
      ]),
      line: "00:00  anna writes /contexts/site/b and 21 others, deletes d",
    },
    {
      body: accessed([{ ...access(null, "write", "/workspace/src/"), files: 20 }]),
      line: "00:00  anna writes 20 files in src/",
    },
    {
      body: accessed([
        access(null, "write", "/workspace/docs"),
        access(null, "write", "/workspace/docs/a.md"),
      ]),
      line: "00:00  anna writes docs/a.md",
    },
    {
      body: accessed([access("not_kept", "write", "/workspace/a")]),
      line: null,
    },
    {
      body: { type: "tool.started", ...inRound, tool_call: "t", name: "write_file" },
      line: null,
    },
    {
      body: { type: "tool.started", ...inRound, tool_call: "t", name: "run_command" },
      line: "00:00  anna uses run_command",
    },
    {
      body: b.progressed("anna", 4),
      line: "00:00  anna mcp__box__ask: 4 of 10 (https://box.example.com)",
    },
    {
      body: b.progressed("anna", 4, "reads", null),
      line: "00:00  anna mcp__box__ask: 4, reads (https://box.example.com)",
    },
    {
      body: b.settled("anna", "agent1.1"),
      line: "00:00  settled: agent1.1 wins, 2 of 2 votes, unanimous",
    },
    { body: b.presenting("anna", "agent1.1"), line: "00:00  anna presents the final answer" },
    { body: b.completed("anna", "x"), line: "00:00  turn 1 completed" },
    { body: b.failed("anna"), line: "00:00  turn 1 failed: No agent gave an answer." },
    { body: b.delta("anna", { call: "c", offset: 0, text: "x" }), line: null },
  ])("$body.type: $line", ({ body, line }) => {
    expect(lineOf(body)).toBe(line);
  });
});

describe("D18 the request of a tool server to a person", () => {
  it("is shown as text with its origin; a refused address is replaced by the reason", () => {
    const events = b.log([...base, b.inputRequired("anna")]);
    const [event, turn] = [events.at(-1), turnOf(b.view(events))];
    const line = event && turn ? eventLine(event, turn) : null;
    expect(paint(line ?? [], { width: 1_000, color: false })).toBe(
      "00:00  anna: mcp__box__ask of https://box.example.com asks a person to fill in a form: Your password?; to open " +
        "https://pay.example.com/x: Pay; to open an address that is not shown (its scheme is javascript, and only https is " +
        "shown): Open this; something else: sampling/createMessage. No person is asked",
    );
  });
});
