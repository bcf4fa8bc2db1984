import { abortAllDurableObjects } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import {
  contentsMark,
  finalText,
  type Orders,
  ordersText,
  type ReadTurn,
  stalledText,
} from "../../../simulated/providers/tree-models";
import type { WireEvent } from "../../../src/protocol/events";
import { eventsPath, follow, post, request, type Run, start, teamOf } from "./session-client";

/**
 * Conversations with failed, cancelled and completed turns in their branches, with real tables. The
 * model says in its texts which earlier turns and which files it was shown.
 */

/** How each turn ends. Each writes the file `turn_N.txt`, with contents that name the turn. */
type End = "completed" | "failed" | "cancelled" | "rejected once";

const fileOf = (turn: number): string => `/workspace/turn_${turn}.txt`;
const edits = (turn: number) => [{ path: fileOf(turn), contents: contentsMark(turn) }];
const ordersOf = (turn: number, end: End): Orders => ({
  id: turn,
  ends: end === "cancelled" ? "stalled" : end === "failed" ? "failed" : "completed",
  reads: Array.from({ length: turn - 1 }, (_, nth) => fileOf(nth + 1)),
  answer: [],
  final: edits(turn),
  rejected: end === "rejected once" ? [{ path: "/workspace/rejected.txt", contents: "no" }] : null,
});

/** A single agent with files and a shell, which may reject one final text. */
function team(): Record<string, unknown> {
  const config = teamOf(["chronicler"]);
  const agents = (config["agents"] as { backend: object }[]).map((agent) => ({
    ...agent,
    backend: { ...agent.backend, enable_mcp_command_line: true },
  }));
  return { ...config, agents, orchestrator: { coordination: { max_orchestration_restarts: 1 } } };
}

type PlayedTurn = Run & { events: readonly WireEvent[] };

/** Plays a turn to its end; cancels it in the middle of its presentation if the end says so. */
async function play(
  session: Run | null,
  turn: number,
  end: End,
  more: object = {},
): Promise<PlayedTurn> {
  const question = ordersText(ordersOf(turn, end));
  const run =
    session === null
      ? await start(team(), { question, ...more })
      : await ask(session, question, more);
  expect(run.turn).toBe(turn);
  if (end === "cancelled") await cancelMidway(run);
  const { events } = await follow(run);
  const expected = { failed: "failed", cancelled: "cancelled" }[end as string] ?? "completed";
  expect(events.at(-1)?.type).toBe(`turn.${expected}`);
  return { ...run, events };
}

async function ask({ session_id }: Run, question: string, more: object): Promise<Run> {
  const response = await post(`/api/sessions/${session_id}/turns`, { question, ...more });
  if (response.status !== 202) throw new Error(await response.text());
  return response.json<Run>();
}

/** Cancels a turn once the log has the first piece of its final text. */
async function cancelMidway(run: Run): Promise<void> {
  const path = `${eventsPath(run)}?limit=1000&detail=full`;
  const log = async () => (await request(path, { headers: { accept: "application/json" } })).text();
  await vi.waitUntil(async () => (await log()).includes("Unfi"), { timeout: 20_000 });
  await post(`/api/sessions/${run.session_id}/cancel`);
}

const finalOf = ({ events }: PlayedTurn): string =>
  events.flatMap((event) => (event.type === "turn.completed" ? [event.answer] : [])).join();

/** A turn as later turns must read it; `null` if it must be left out. */
function asEarlier(played: PlayedTurn, turn: number, end: End): ReadTurn | null {
  if (end === "failed") return null;
  const last = played.events.at(-1);
  if (last?.type !== "turn.cancelled")
    return { id: turn, reply: finalOf(played), isUnfinished: false, tools: [] };
  const { text } = last.partial;
  expect(stalledText({ id: turn }).startsWith(text ?? "?")).toBe(true);
  const tools = [...(turn > 1 ? ["run_command"] : []), "write_file"];
  return { id: turn, reply: text, isUnfinished: true, tools };
}

async function filesOf({ session_id, turn }: Run): Promise<string[]> {
  const response = await request(`/api/sessions/${session_id}/turns/${turn}/files`);
  const { data } = await response.json<{ data: { path: string }[] }>();
  return data.map(({ path }) => path);
}

describe("the last turn of a branch", () => {
  it.each<{
    name: string;
    /** The turns before it; `from` names a parent other than the turn before. */
    before: readonly (End | { from: number; ends: End })[];
    parent?: number;
    /** The earlier turns that it reads. */
    history: readonly number[];
    /** The turns whose files it begins with. */
    files: readonly number[];
  }>([
    {
      name: "reads a completed turn, and begins with its files",
      before: ["completed"],
      history: [1],
      files: [1],
    },
    {
      name: "does not read a failed turn, and begins with the files before it",
      before: ["completed", "failed"],
      history: [1],
      files: [1],
    },
    {
      name: "reads a cancelled turn as unfinished, and begins with the files before it",
      before: ["completed", "cancelled"],
      history: [1, 2],
      files: [1],
    },
    {
      name: "begins with the files of the last completed turn before a cancelled and a failed turn",
      before: ["completed", "completed", "cancelled", "failed"],
      history: [1, 2, 3],
      files: [1, 2],
    },
    {
      name: "also if the failed turn was before the cancelled one, and both were first",
      before: ["failed", "cancelled"],
      history: [2],
      files: [],
    },
    {
      name: "neither reads nor begins with the files of another branch",
      before: ["completed", "completed", { from: 1, ends: "completed" }],
      history: [1, 3],
      files: [1, 3],
    },
    {
      name: "may continue a failed turn of another branch",
      before: ["completed", "failed", { from: 1, ends: "completed" }],
      parent: 2,
      history: [1],
      files: [1],
    },
    {
      name: "may continue a cancelled turn of another branch",
      before: ["completed", "cancelled", { from: 1, ends: "completed" }],
      parent: 2,
      history: [1, 2],
      files: [1],
    },
    {
      name: "does not begin with the files of a rejected attempt",
      before: ["rejected once", "cancelled"],
      history: [1, 2],
      files: [1],
    },
  ])("$name", async ({ before, parent, history, files }) => {
    let session: PlayedTurn | null = null;
    const earlier = new Map<number, ReadTurn | null>();
    for (const [nth, step] of before.entries()) {
      const turn = nth + 1;
      const { ends, from } = typeof step === "string" ? { ends: step, from: null } : step;
      session = await play(session, turn, ends, from === null ? {} : { parent_turn: from });
      earlier.set(turn, asEarlier(session, turn, ends));
    }
    if (session === null) throw new Error("a row needs turns before the last one");
    // The rest must come from the tables.
    await abortAllDurableObjects();
    const turn = before.length + 1;
    const last = await play(
      session,
      turn,
      "completed",
      parent === undefined ? {} : { parent_turn: parent },
    );
    const read = history.map((number) => earlier.get(number) ?? null);
    const shown = read.filter((one) => one !== null);
    expect(shown).toHaveLength(history.length);
    const marks = Array.from({ length: turn - 1 }, (_, nth) =>
      files.includes(nth + 1) ? contentsMark(nth + 1) : "none",
    );
    const expected = finalText({ id: turn, attempt: 1 }, { history: shown, reads: marks });
    expect(finalOf(last)).toBe(expected);
    expect(await filesOf(last)).toEqual([...files, turn].map((number) => `turn_${number}.txt`));
  });
});
