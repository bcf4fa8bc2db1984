import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apply, emptyView, turnOf } from "../../../src/protocol/view";
import * as b from "../builders";
import { cpuMs } from "../../fakes/cpu-time";

const base = [b.created("anna", "ben"), b.turnStarted("anna", "ben"), b.attemptStarted()];

describe("any log", () => {
  const events = b.log(b.story);

  it("contains the whole course of a turn", () => {
    const turn = turnOf(b.view(events));
    expect(turn).toMatchObject({
      status: "completed",
      phase: "done",
      winner: "anna",
      final: { text: "Use quicksort." },
    });
    expect(
      turn?.agents.map(({ status, answers, staleVotes }) => [status, answers, staleVotes]),
    ).toEqual([
      ["completed", 1, 1],
      ["voted", 2, 0],
    ]);
  });

  it("is the same for any chunking, with repeated events", () => {
    const whole = b.view(events);
    const replays = fc.array(fc.tuple(fc.nat(events.length), fc.nat(events.length)), {
      maxLength: 10,
    });
    fc.assert(
      fc.property(replays, (cuts) => {
        const view = emptyView();
        let reached = 0;
        for (const [to, back] of cuts) {
          const from = Math.max(0, reached - back); // a reconnect from somewhere already seen
          for (const event of events.slice(from, Math.max(from, to)))
            if (event.sequence_number <= reached + 1) {
              apply(view, event);
              reached = Math.max(reached, event.sequence_number);
            }
        }
        for (const event of events) apply(view, event);
        expect(view).toEqual(whole);
      }),
      { numRuns: 1_000 },
    );
  });

  it("is plain data at every point: a JSON copy folds to the same view", () => {
    const whole = b.view(events);
    for (let cut = 0; cut <= events.length; cut++) {
      const copy = JSON.parse(JSON.stringify(b.view(events.slice(0, cut))));
      expect(events.slice(cut).reduce(apply, copy)).toEqual(whole);
    }
  });

  it("never changes the events it is given", () => {
    const before = structuredClone(events);
    b.view(events);
    expect(events).toEqual(before);
  });

  it("starts at a turn if the session's start is not sent", () => {
    const turn = turnOf(b.view(events.slice(1)));
    expect(turn?.agents.map(({ id, model }) => [id, model])).toEqual([
      ["anna", "model-of-anna"],
      ["ben", "model-of-ben"],
    ]);
  });

  it("keeps turns apart", () => {
    const second = b.log(
      [b.turnStarted("anna", "ben"), b.attemptStarted(), b.answered("anna", "agent1.1", 1)],
      {
        turn: 2,
        from: events.length + 1,
      },
    );
    const view = b.view([...events, ...second]);
    expect(view.turns.map(({ number, status, costUsd }) => [number, status, costUsd])).toEqual([
      [1, "completed", 2.5],
      [2, "running", 0],
    ]);
    expect(turnOf(view, 1)?.final?.text).toBe("Use quicksort.");
  });

  it("accepts ids that are names of object members", () => {
    const odd = ["constructor", "__proto__", "toString"];
    const view = b.view(
      b.log([
        b.created(...odd),
        b.turnStarted(...odd),
        b.attemptStarted(),
        b.answered("__proto__", "agent2.1", 1),
      ]),
    );
    expect(view.turns[0]?.agents.map(({ id, answers }) => [id, answers])).toEqual([
      ["constructor", 0],
      ["__proto__", 1],
      ["toString", 0],
    ]);
  });

  it("costs the same per delta however long the text is", () => {
    const view = b.view(b.log([...base, b.callStarted("anna", "c1")]));
    const text = "x".repeat(50);
    const fold = (from: number, count: number): number => {
      const begin = cpuMs();
      for (let n = from; n < from + count; n++) {
        const [event] = b.log([b.delta("anna", { call: "c1", offset: 50 * n, text })], {
          from: 10 + n,
        });
        if (event) apply(view, event);
      }
      return cpuMs() - begin;
    };
    fold(0, 20_000);
    const early = fold(20_000, 20_000);
    fold(40_000, 100_000);
    const late = fold(140_000, 20_000);
    expect(late).toBeLessThan(10 * early + 50); // copying 7 MB per delta would take minutes
  });

  it.each([
    { name: "of no agent", fields: {} },
    { name: "of an agent of the turn", fields: { agent: "anna", attempt: 1, round: 1 } },
    { name: "of an unknown agent", fields: { agent: "carl" } },
  ])("passes over an event of a later version: one $name", ({ fields }) => {
    const view = b.view(b.log(base));
    const before = structuredClone(view);
    const strange = {
      type: "thought.begun",
      at: before.updatedAt + 1,
      turn: 1,
      sequence_number: 9,
      session_id: b.SESSION,
    };
    apply(view, JSON.parse(JSON.stringify({ ...strange, ...fields })));
    expect(view).toEqual({ ...before, lastSequence: 9, updatedAt: before.updatedAt + 1 });
  });
});
