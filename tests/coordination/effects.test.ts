import { describe, expect, it } from "vitest";
import { callInFlight, emptySession, placeOfCall, callIdPrefix } from "../../src/coordination";
import { callId } from "../../src/coordination/effects";
import { answers, fails, says, tool, uses } from "./builders";
import { World } from "./world";

describe("the place in a call's id", () => {
  it("consists of the call's turn and attempt", () => {
    const id = callId({ turn: 12, attempt: 3, agent: 10, round: 14, call: 15, sent: 16 });
    expect(placeOfCall(id)).toEqual({ turn: 12, attempt: 3 });
  });

  it.each(["", "call_1_2", "tool_1_2_1_1_x", "xcall_1_2_1_1_1_1", "call_1_2_1_1_1_1_x"])(
    "is `null` for %j, which is no call id",
    (id) => {
      expect(placeOfCall(id)).toBeNull();
    },
  );
});

it("all tries of a call share a prefix of their ids, and no other call has this prefix", () => {
  const place = { turn: 1, attempt: 1, agent: 0, round: 1, call: 1, sent: 0 };
  const first = callIdPrefix(callId(place));
  expect(callIdPrefix(callId({ ...place, sent: 10 }))).toBe(first);
  for (const part of ["turn", "attempt", "agent", "round", "call"] as const) {
    expect(callIdPrefix(callId({ ...place, [part]: 11 }))).not.toBe(first);
  }
});

it("a call id numbers agents, calls and the tries of a call from 1", () => {
  const world = new World({ agents: ["a", "b"] });
  world.ask();
  world.starts("b");
  expect(world.callOf("b")).toBe("call_1_1_2_1_1_1");
  world.does("b", fails());
  world.wait(60_000);
  world.starts("b");
  expect(world.callOf("b")).toBe("call_1_1_2_1_1_2");
  world.does("b", says(""));
  world.starts("b");
  expect(world.callOf("b")).toBe("call_1_1_2_1_2_1");
});

describe("a call in flight", () => {
  it("is found by its id until it ends", () => {
    const world = new World();
    world.ask();
    world.starts("a");
    const id = world.callOf("a");
    expect(callInFlight(world.state, id)).toMatchObject({
      type: "model_call",
      id,
      agent: 0,
      round: 1,
      purpose: "coordination",
    });
    world.does("a", answers("An answer."));
    expect(callInFlight(world.state, id)).toBeNull();
  });

  it("is `null` while no turn runs, and for the id of a running tool", () => {
    expect(callInFlight(emptySession, "call_1_1_1_1_1_1")).toBeNull();
    const world = new World({ every: { tools: [tool("search")] } });
    world.ask();
    world.does("a", uses(["search"]));
    const running = world.startsTool("a");
    expect(callInFlight(world.state, running)).toBeNull();
  });
});
