import { abortAllDurableObjects } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { TurnList } from "../../../src/protocol/api/listings";
import type { WireEvent } from "../../../src/protocol/events";
import {
  follow,
  post,
  request,
  type Run,
  start,
  teamOf,
} from "../../durable-objects/session/session-client";

/** Starts a session, and plays this number of turns to their ends. */
async function session(turns: number, models = ["obedient"]): Promise<Run> {
  const run = await start(teamOf(models), { question: "Turn 1" });
  await follow(run);
  for (let turn = 2; turn <= turns; turn += 1) await ask(run, `Turn ${turn}`);
  return run;
}

/** Asks the next question, and waits for the end of its turn. Returns the turn's events. */
async function ask({ session_id }: Run, question: string, more: object = {}) {
  const response = await post(`/api/sessions/${session_id}/turns`, { question, ...more });
  if (response.status !== 202) throw new Error(await response.text());
  return (await follow(await response.json<Run>())).events;
}

const treeOf = async ({ session_id }: Run, query = ""): Promise<TurnList> =>
  (await request(`/api/sessions/${session_id}/turns${query}`)).json();
const shape = ({ data, head }: TurnList) => ({
  parents: data.map(({ turn, parent_turn }) => [turn, parent_turn]),
  head,
});
const moveHead = ({ session_id }: Run, turn: unknown) =>
  post(`/api/sessions/${session_id}/head`, { turn });
const parentOf = (events: readonly WireEvent[]) =>
  events.flatMap((event) => (event.type === "turn.started" ? [event.parent_turn] : []));

describe("the tree of a session's turns", () => {
  it("has each turn with its parent, and the head", async () => {
    const run = await session(2);
    await ask(run, "Another way", { parent_turn: 1 });
    expect(shape(await treeOf(run))).toEqual({
      parents: [
        [1, null],
        [2, 1],
        [3, 1],
      ],
      head: 3,
    });
  });

  it("comes in pages", async () => {
    const run = await session(3);
    const first = await treeOf(run, "?limit=2");
    expect([shape(first).parents.length, first.has_more, first.last_id]).toEqual([2, true, 2]);
    const rest = await treeOf(run, `?limit=2&after=${first.last_id}`);
    expect([shape(rest).parents, rest.has_more]).toEqual([[[3, 2]], false]);
  });

  it.each(["?limit=0", "?limit=1001", "?after=x", "?after=-1"])(
    "is refused with %s",
    async (query) => {
      const run = await session(1);
      const response = await request(`/api/sessions/${run.session_id}/turns${query}`);
      expect([response.status, (await response.json<{ code: string }>()).code]).toEqual([
        400,
        "bad_query",
      ]);
    },
  );
});

describe("the head of a session", () => {
  it("is the parent of the next turn, also after the object was loaded again", async () => {
    const run = await session(3);
    expect(await (await moveHead(run, 1)).json()).toEqual({ session_id: run.session_id, head: 1 });
    await abortAllDurableObjects();
    const { head } = await treeOf(run);
    const status = await (await request(`/api/sessions/${run.session_id}`)).json();
    expect([head, status]).toMatchObject([1, { head: 1 }]);
    expect(parentOf(await ask(run, "From turn 1"))).toEqual([1]);
    expect((await treeOf(run)).head).toBe(4);
  });

  it("decides which earlier turns the agents read", async () => {
    const run = await session(2);
    // The answer repeats each earlier reply, and each reply begins like this.
    const repliesIn = (events: readonly WireEvent[]) =>
      events
        .flatMap((event) => (event.type === "turn.completed" ? [event.answer] : []))
        .join("")
        .match(/^I wrote/gm)?.length;
    const following = repliesIn(await ask(run, "After both"));
    await moveHead(run, 1);
    expect([following, repliesIn(await ask(run, "After the first"))]).toEqual([3, 2]);
  });

  it.each([
    { name: "a turn that does not exist", turn: 9, status: 404, code: "turn_not_found" },
    { name: "turn 0", turn: 0, status: 422, code: "request_invalid" },
    { name: "no number", turn: "1", status: 422, code: "request_invalid" },
  ])("cannot move to $name", async ({ turn, status, code }) => {
    const response = await moveHead(await session(1), turn);
    expect([response.status, (await response.json<{ code: string }>()).code]).toEqual([
      status,
      code,
    ]);
  });

  it("cannot move while a turn runs", async () => {
    const run = await start(teamOf(["hanging"]));
    const response = await moveHead(run, 1);
    expect([response.status, await response.json()]).toMatchObject([
      409,
      { code: "turn_running", turn: 1 },
    ]);
    await post(`/api/sessions/${run.session_id}/cancel`);
  });
});
