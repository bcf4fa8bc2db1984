import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apply, emptyView, turnOf } from "../../../src/protocol/view";
import * as b from "../builders";
import { cpuMs } from "../../fakes/cpu-time";

const base = [b.created("anna", "ben"), b.turnStarted("anna", "ben"), b.attemptStarted()];

describe("the view of a log", () => {
  const events = b.log(b.story);

  it("has the result of a whole turn", () => {
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

  it("is the same if readers reconnect and receive events again", () => {
    const whole = b.view(events);
    const replays = fc.array(fc.tuple(fc.nat(events.length), fc.nat(events.length)), {
      maxLength: 10,
    });
    fc.assert(
      fc.property(replays, (cuts) => {
        const view = emptyView();
        let reached = 0;
        for (const [to, repeatedCount] of cuts) {
          const from = Math.max(0, reached - repeatedCount); // a reconnect at an earlier event
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

  it("is plain data: further events change a JSON copy in the same way", () => {
    const whole = b.view(events);
    for (let cut = 0; cut <= events.length; cut++) {
      const copy = JSON.parse(JSON.stringify(b.view(events.slice(0, cut))));
      expect(events.slice(cut).reduce(apply, copy)).toEqual(whole);
    }
  });

  it("does not change the events", () => {
    const before = structuredClone(events);
    b.view(events);
    expect(events).toEqual(before);
  });

  it("can start at a turn, without session.created", () => {
    const turn = turnOf(b.view(events.slice(1)));
    expect(turn?.agents.map(({ id, model }) => [id, model])).toEqual([
      ["anna", "model-of-anna"],
      ["ben", "model-of-ben"],
    ]);
  });

  it("has separate results and costs for each turn", () => {
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

  it("accepts agent ids that are names of object members", () => {
    const memberNames = ["constructor", "__proto__", "toString"];
    const view = b.view(
      b.log([
        b.created(...memberNames),
        b.turnStarted(...memberNames),
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

  it("needs the same time per delta for short and for long texts", () => {
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
    // A copy of the whole text (7 MB) per delta would take minutes
    expect(late).toBeLessThan(10 * early + 50);
  });

  it.each([
    { name: "without an agent", fields: {} },
    { name: "of an agent of the turn", fields: { agent: "anna", attempt: 1, round: 1 } },
    { name: "of an unknown agent", fields: { agent: "carl" } },
  ])("ignores an unknown type of event $name", ({ fields }) => {
    const view = b.view(b.log(base));
    const before = structuredClone(view);
    const unknownEvent = {
      type: "thought.begun",
      at: before.updatedAt + 1,
      turn: 1,
      sequence_number: 9,
      session_id: b.SESSION,
    };
    apply(view, JSON.parse(JSON.stringify({ ...unknownEvent, ...fields })));
    expect(view).toEqual({ ...before, lastSequence: 9, updatedAt: before.updatedAt + 1 });
  });
});
