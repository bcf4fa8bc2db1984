import { expect, it } from "vitest";
import {
  emptySession,
  eventsOf,
  evolve,
  type InputBody,
  runningTurn,
} from "../../src/coordination";
import { Coordinator } from "../../src/engine/coordinator";
import { Engine } from "../../src/engine/engine";
import type { Performer, SessionHost, SessionStorage } from "../../src/engine/ports";
import type { SessionEvent } from "../../src/protocol/events";
import { FULL_CONTEXT, teamOf } from "../config/teams";

const TEAM = teamOf(
  "agents: [{id: a, backend: {type: claude}}, {id: b, backend: {type: claude}}]",
  FULL_CONTEXT,
);
const ASK: InputBody = {
  type: "turn_requested",
  rules: TEAM.rules,
  question: "Why?",
  parentTurn: null,
  budget: {},
  timeoutMs: null,
};

/**
 * A session whose log is an array. Each `start` loads the session from the log, like a restart.
 * `prepared`: the ids of calls that were to be sent.
 */
function memorySession() {
  const log: SessionEvent[] = [];
  const reported: unknown[] = [];
  const prepared: string[] = [];
  const disk = { refuses: false };
  const storage: SessionStorage = {
    restore: () => {
      const state = log.reduce(evolve, emptySession);
      const open = runningTurn(state) ? { turn: state.turns, firstSeq: 1 } : null;
      return { state, open, broken: null };
    },
    streamedSince: () => [],
    workspace: () => null,
    prepare: (steps) => () => {
      if (disk.refuses) throw new Error("disk full");
      log.push(...eventsOf(steps));
    },
    prepareBrokenEnd: () => {
      throw new Error("every turn of these tests folds");
    },
    write: () => {},
    notePoint: () => {},
  };
  const host: SessionHost = {
    ...{ sessionId: "s", boot: 1, storage, now: () => 1_000, waitUntil: () => {} },
    alarm: { setAlarm: async () => {}, deleteAlarm: async () => {} },
    report: (error) => void reported.push(error),
  };
  const start = (performer: Partial<Performer> = {}) => {
    const coordinator = new Coordinator(host);
    const free = { acquire: async () => () => {} };
    const slots = { acquire: async () => ({ relay: 0, release: () => {} }) };
    const memory = { hold: async () => () => {} };
    const engine = new Engine({
      ...{ host, coordinator, slots, building: free, memory },
      ...{ maxHoldMs: 1_000, background: [] },
      performer: {
        admitCall: () => null,
        dropCall: () => {},
        prepareCall: ({ id }) => {
          prepared.push(id);
          return null;
        },
        resumeCall: () => null,
        performTool: async () => {},
        listTools: async () => {},
        ...performer,
      },
    });
    engine.boot();
    return { coordinator, engine };
  };
  return { start, log, reported, prepared, disk };
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

it("performs the owed effects after an input is stored", async () => {
  const { start, log, prepared } = memorySession();
  const { coordinator, engine } = start();
  const events = coordinator.handle(ASK);
  expect(events.map(({ type }) => type)).toContain("turn.started");
  expect(log).toEqual(events);
  await soon();
  expect(prepared).toHaveLength(2);
  coordinator.handle({ type: "cancel_requested" });
  await engine.disarm();
});

it("does not change its state if an input cannot be stored", () => {
  const { start, log, disk } = memorySession();
  const { coordinator } = start();
  disk.refuses = true;
  expect(() => coordinator.handle(ASK)).toThrow("disk full");
  expect(coordinator.state).toEqual(emptySession);
  expect(log).toEqual([]);
});

it("continues after a restart with the state that is computed from the log", async () => {
  const { start, prepared } = memorySession();
  const first = start();
  first.coordinator.handle(ASK);
  await first.engine.disarm();
  await soon();
  const second = start();
  expect(second.coordinator.state).toEqual(first.coordinator.state);
  await soon();
  const beforeRestart = prepared.slice(0, 2);
  expect(prepared).toEqual([...beforeRestart, ...beforeRestart]);
  second.coordinator.handle({ type: "cancel_requested" });
  await second.engine.disarm();
});

it("ends the turn if an effect fails because of an internal error", async () => {
  const { start, log, reported } = memorySession();
  const { coordinator, engine } = start({
    prepareCall: () => {
      throw new TypeError("a bug");
    },
  });
  coordinator.handle(ASK);
  await soon();
  expect(log.at(-1)).toMatchObject({ type: "turn.failed", code: "internal" });
  expect(reported[0]).toBeInstanceOf(TypeError);
  expect(runningTurn(coordinator.state)).toBeNull();
  await engine.disarm();
});
