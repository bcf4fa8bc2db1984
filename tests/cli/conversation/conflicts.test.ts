import { describe, expect, it } from "vitest";
import * as b from "../../protocol/builders";
import { problem, type Service, type ServiceOptions } from "../service";
import { secondTurn, startConversation, turnsPath } from "./terminal-user";

describe("a question that conflicts refuse", () => {
  const refusal = problem(409, {
    title: "Conflict",
    code: "context_conflicts",
    conflicts: [{ context: "site", path: "a.txt", turn: "a".repeat(64), upload: null }],
  });
  /** The bodies of the requests for next turns. */
  const turnsOf = (service: Service) =>
    service.requests
      .filter(({ method, path }) => method === "POST" && path === turnsPath)
      .map(({ body }) => JSON.parse(body));

  it("is asked again once by /conflicts with the side that wins", async () => {
    const answers: NonNullable<ServiceOptions["answers"]> = { [turnsPath]: refusal };
    await using stage = await startConversation({ answers });
    const { user, service } = stage;
    await user.typeAtPrompt("why?\r", 1);
    await user.typeAtPrompt("/conflicts turn\r", 2);
    await user.waitForText("No question was refused because of conflicts.");
    await user.typeAtPrompt("and then?\r", 3);
    await user.waitForText("changed the same files. The question was not sent to the team.\n");
    await user.waitForText("To keep the pushed files:  /conflicts upload\n");
    await user.waitForText("To decide file by file, in another terminal:\n");
    await user.typeAtPrompt("/conflicts mine\r", 4);
    await user.waitForText("Name the side that wins: /conflicts turn, or /conflicts upload");
    answers[turnsPath] = secondTurn;
    await user.typeAtPrompt("/conflicts upload\r", 5);
    await user.typeAtPrompt("more?\r", 6);
    await user.typeAtPrompt("/conflicts turn\r", 7);
    await user.typeAtPrompt("/quit\r", 8);
    await user.exitCode();
    expect(turnsOf(service)).toEqual([
      { question: "and then?", on_busy: "queue" },
      { question: "and then?", context_conflicts: "upload", on_busy: "queue" },
      { question: "more?", on_busy: "queue" },
    ]);
  });

  it("is not lost: the next question still follows the turn before it, and /retry repeats it", async () => {
    const answers: NonNullable<ServiceOptions["answers"]> = { [turnsPath]: refusal };
    await using stage = await startConversation({ answers });
    const { user, service } = stage;
    await user.typeAtPrompt("why?\r", 1);
    await user.typeAtPrompt("and then?\r", 2);
    await user.typeAtPrompt("other?\r", 3);
    await user.typeAtPrompt("/retry\r", 4);
    await user.typeAtPrompt("/quit\r", 5);
    await user.exitCode();
    expect(turnsOf(service)).toEqual([
      { question: "and then?", on_busy: "queue" },
      { question: "other?", on_busy: "queue" },
      { question: "other?", parent_turn: 1, on_busy: "queue" },
    ]);
  });
});

describe("a conversation about shared folders", () => {
  it("sends the side of --conflicts with one question only, and prints the pull command after each turn", async () => {
    const facts = { turns: [{ turn: 1 }] };
    const turn = {
      ...{ session_id: b.SESSION, turn: 1, status: "completed", question: "why?" },
      ...{ answer: "so", winner: null, usage: { input_tokens: 0, output_tokens: 0 } },
    };
    await using stage = await startConversation(
      {
        answers: {
          [turnsPath]: secondTurn,
          [`/api/sessions/${b.SESSION}`]: { status: 200, body: facts },
          [`${turnsPath}/1`]: { status: 200, body: turn },
        },
      },
      {
        continuation: { session: b.SESSION, from: null },
        winner: "turn",
        folders: [
          { typed: "./site", name: "site", permission: "write" },
          { typed: "./docs", name: "docs", permission: "read" },
        ],
      },
    );
    const { user, service } = stage;
    await user.typeAtPrompt("one?\r", 1);
    await user.typeAtPrompt("two?\r", 2);
    await user.typeAtPrompt("/quit\r", 3);
    await user.exitCode();
    const posts = service.requests.filter(({ method }) => method === "POST");
    expect(posts.map(({ body }) => JSON.parse(body))).toEqual([
      { question: "one?", context_conflicts: "turn", on_busy: "queue" },
      { question: "two?", on_busy: "queue" },
    ]);
    const pull = `pull    npm run ask -- pull ./site --session ${b.SESSION} --turn 1 --apply --server ${service.url}\n`;
    expect(user.screenText.split(pull)).toHaveLength(3);
    expect(user.screenText).not.toContain("pull ./docs");
  });
});
