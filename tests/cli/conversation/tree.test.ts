import { describe, expect, it } from "vitest";
import { runLinks } from "../../../src/protocol/paths";
import { SESSION } from "../../protocol/builders";
import { problem } from "../service";
import { startConversation, turnsPath } from "./terminal-user";

const HEAD = `/api/sessions/${SESSION}/head`;
const entry = (turn: number, parent: number | null) => ({
  ...{ turn, parent_turn: parent, status: "completed", question_preview: `Question ${turn}` },
  ...{ started_at: 1_800_000_000, ended_at: 1_800_000_012, cost_usd: 0.5, cost_usd_known: 0.5 },
});
const TURNS = [entry(1, null), entry(2, 1), entry(3, 2)];
const turnFacts = (turn: number, parent: number | null) => ({
  ...{ session_id: SESSION, turn, status: "completed", parent_turn: parent },
  ...{ question: `Question ${turn}`, answer: "Yes.", winner: null },
  usage: { input_tokens: 1, output_tokens: 1 },
});
const ok = (body: unknown) => ({ status: 200, body });
/** The answers of a service whose session has this head. Its next turn is followed as turn 1. */
const sessionWith = (head: number, parent: number | null) => ({
  [`/api/sessions/${SESSION}`]: ok({ turns: TURNS, head }),
  [`${turnsPath}?limit=1000`]: ok({ object: "list", data: TURNS, has_more: false, head }),
  [`${turnsPath}/${head}`]: ok(turnFacts(head, parent)),
  [HEAD]: ok({ session_id: SESSION, head: parent }),
  [turnsPath]: {
    status: 202,
    body: { session_id: SESSION, turn: 1, status: "running", links: runLinks(SESSION, 1) },
  },
});
const SHARED = { typed: "./site", name: "site", permission: "write" } as const;

/** What a user sees who continues the session and types these lines, and what was posted. */
async function typed(
  lines: readonly string[],
  {
    head = 3,
    parent = 2,
    from = null,
    answers = {},
  }: {
    head?: number;
    parent?: number | null;
    from?: number | null;
    answers?: Record<string, { status: number; body: unknown }>;
  } = {},
) {
  await using stage = await startConversation(
    { answers: { ...sessionWith(head, parent), ...answers } },
    { continuation: { session: SESSION, from }, folders: [SHARED] },
  );
  for (const [nth, line] of [...lines, "/quit"].entries())
    await stage.user.typeAtPrompt(`${line}\r`, nth + 1);
  await stage.user.exitCode();
  const posts = stage.service.requests.filter(({ method }) => method === "POST");
  return {
    screen: stage.user.screenText,
    posts: posts.map(({ path, body }) => [path, JSON.parse(body)]),
  };
}

describe("the tree in a conversation", () => {
  it("continues after the head, which the service knows", async () => {
    expect((await typed([], { head: 2, parent: 1 })).screen).toContain("after turn 2: Question 2");
  });

  it.each([
    { name: "the head", from: null, marked: "* 3" },
    { name: "the turn that --from chose", from: 2, marked: "* 2" },
  ])("/turns marks $name", async ({ from, marked }) => {
    const { screen } = await typed(["/turns"], { from });
    expect(screen.split("\n").filter((line) => line.startsWith("*"))).toEqual([
      expect.stringContaining(marked),
    ]);
  });

  it("/undo moves the head to the parent and prints the pull", async () => {
    const { screen, posts } = await typed(["/undo"]);
    expect(posts).toEqual([[HEAD, { turn: 2 }]]);
    expect(screen).toContain("The next question follows turn 2. No file was changed.");
    expect(screen).toContain(`pull ./site --session ${SESSION} --turn 2 --apply`);
  });

  it("/continue-from moves the head to the turn and prints the pull", async () => {
    const { screen, posts } = await typed(["/continue-from 2", "And then?"]);
    expect(posts).toEqual([
      [HEAD, { turn: 2 }],
      [turnsPath, { question: "And then?", on_busy: "queue" }],
    ]);
    expect(screen).toContain(`pull ./site --session ${SESSION} --turn 2 --apply`);
  });

  it.each(["/continue-from", "/continue-from x", "/retry x"])("%s does nothing", async (line) => {
    const { screen, posts } = await typed([line]);
    expect([screen.includes("Turns are numbers from 1: /"), posts]).toEqual([true, []]);
  });

  it("/undo after --from goes back from that turn, and the next question follows the head", async () => {
    const { posts } = await typed(["/undo", "And then?"], { from: 2 });
    expect(posts).toEqual([
      [HEAD, { turn: 1 }],
      [turnsPath, { question: "And then?", on_busy: "queue" }],
    ]);
  });

  it("/undo says that nothing comes before turn 1", async () => {
    const { screen, posts } = await typed(["/undo"], { head: 1, parent: null });
    expect([screen.includes("There is no turn before turn 1."), posts]).toEqual([true, []]);
  });

  it("/undo explains that a turn is running", async () => {
    const detail = "Turn 3 is running. Wait until it ends, or cancel it.";
    const refusal = problem(409, { title: "Turn running", code: "turn_running", detail });
    const { screen } = await typed(["/undo"], { answers: { [HEAD]: refusal } });
    expect([screen.includes(detail), screen.includes("The next question")]).toEqual([true, false]);
  });

  it.each([
    { name: "/branch asks after the turn", line: "/branch 2 Why not?", parent_turn: 2 },
    { name: "a question follows the head", line: "Why not?", parent_turn: undefined },
  ])("$name", async ({ line, parent_turn }) => {
    const { posts } = await typed([line]);
    const body = {
      ...{ question: "Why not?", on_busy: "queue" },
      ...(parent_turn !== undefined && { parent_turn }),
    };
    expect(posts).toEqual([[turnsPath, body]]);
  });

  it.each(["/branch", "/branch 2", "/branch why not?"])("%s asks nothing", async (line) => {
    const { screen, posts } = await typed([line]);
    expect([screen.includes("Name a turn and write the question"), posts]).toEqual([true, []]);
  });

  it.each([
    { name: "repeats the turn that asked the last question", typedLine: "/retry", turn: 1 },
    { name: "repeats a turn that it names", typedLine: "/retry 3", turn: 3 },
  ])("/retry $name", async ({ typedLine, turn }) => {
    const { posts } = await typed(["Why not?", typedLine]);
    expect(posts).toEqual([
      [turnsPath, { question: "Why not?", on_busy: "queue" }],
      [turnsPath, { repeat_turn: turn, on_busy: "queue" }],
    ]);
  });

  it("/retry after a refusal follows the same turn", async () => {
    const refusal = problem(409, { title: "Turn running", code: "turn_running", detail: "Wait." });
    const { posts } = await typed(["Why?", "/retry"], { answers: { [turnsPath]: refusal } });
    expect(posts).toEqual([
      [turnsPath, { question: "Why?", on_busy: "queue" }],
      [turnsPath, { question: "Why?", parent_turn: 3, on_busy: "queue" }],
    ]);
  });

  it("/help fits into 80 columns", async () => {
    const { screen } = await typed(["/help"]);
    const lines = screen.split("\n").filter((line) => line.startsWith("  "));
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });
});
