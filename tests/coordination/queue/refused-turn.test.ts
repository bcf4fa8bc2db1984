import { describe, expect, it } from "vitest";
import { headOf, type NarrowWindow, owed, runningTurn } from "../../../src/coordination";
import { answers, votes } from "../builders";
import { World } from "../world";

const REFUSED = { code: "context_missing", message: "Push the folder, then ask again." };
const REQUESTED = { contexts: [{ name: "site", permission: "write" as const }] };

/** A session with a completed turn, whose next turn is refused at its start. */
function refusedWorld(windows: readonly NarrowWindow[] = [], more: object = {}): World {
  const world = new World({ agents: ["a", "b"] });
  world.ask();
  world.play({ a: [answers("A"), votes("a")], b: [answers("B"), votes("a")] });
  world.give({
    ...{ type: "turn_requested", rules: null, question: "And then?", parentTurn: 1 },
    ...{ budget: {}, timeoutMs: null, queueId: "queued_1", refused: REFUSED },
    history: { summary: null, turns: [], requestBytes: [], attachedTokens: 0, windows },
    ...more,
  });
  return world;
}

describe("a queued turn that is refused at its start", () => {
  it("starts and fails with the code of the refusal, and costs nothing", () => {
    const events = refusedWorld().log.filter(({ turn }) => turn === 2);
    expect(events).toMatchObject([
      { type: "turn.started", queue_id: "queued_1", parent_turn: 1, question: "And then?" },
      { type: "turn.failed", ...REFUSED, agents: [], cost_usd: 0 },
    ]);
  });

  it("owes no call, is the head, and lets the next turn start", () => {
    const world = refusedWorld();
    expect([runningTurn(world.state), owed(world.state), headOf(world.state)]).toEqual([
      ...[null, [], 2],
    ]);
    world.ask();
    expect(runningTurn(world.state)?.number).toBe(3);
  });

  it("keeps what is known about the windows of models for later turns, and plans no summary", () => {
    const windows = [{ provider: "openai", model: "mini", halvings: 2 }];
    const [, started] = refusedWorld(windows).events("turn.started");
    expect(started?.history).toMatchObject({ windows });
    expect(started?.history).not.toHaveProperty("summarises");
    expect(refusedWorld().events("turn.started")[1]).not.toHaveProperty("history");
  });

  it("stores what its request named apart from what the turns after it inherit", () => {
    const [, started] = refusedWorld([], { requested: REQUESTED }).events("turn.started");
    expect(started).toMatchObject({ requested: REQUESTED });
    expect(started).not.toHaveProperty("grants");
    const [, ran] = refusedWorld([], { requested: REQUESTED, refused: undefined }).events(
      "turn.started",
    );
    expect(ran).not.toHaveProperty("requested");
  });

  it("has no field of the queue if it was not queued", () => {
    const world = new World();
    world.ask();
    expect(world.events("turn.started")[0]).not.toHaveProperty("queue_id");
  });
});
