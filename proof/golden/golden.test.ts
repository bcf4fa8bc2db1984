import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { emptySession, evolve, inFlight, nextTimerAt, owed } from "../../src/coordination";
import { LOG_VERSION } from "../../src/protocol/events";
import { isTerminal, SessionEventSchema } from "../../src/protocol/events";
import { check, type NumberedEvent } from "../../checker";
import { randomWorld } from "../simulation/world/random-world";
import { Shell } from "../simulation/world/shell";
import { SCRIPTS } from "../simulation/world/scripts";
import { inspect } from "../simulation/world/verify";
import { canonicalJson, stateHash } from "./canonical";

/** Logs of version 1 are in this folder. Logs of each later version are in a subfolder. */
const FOLDER = import.meta.dirname;
const CURRENT = `v${LOG_VERSION}`;
const Numbered = z.intersection(
  SessionEventSchema,
  z.object({ sequence_number: z.number().int() }),
);

const names = readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".jsonl"))
  .map((file) => file.slice(0, -".jsonl".length))
  .sort();
/** The log version that recorded this log. */
const versionOf = (name: string): number =>
  name.includes(path.sep) ? Number(path.dirname(name).slice(1)) : 1;

const linesOf = (name: string): string[] =>
  readFileSync(path.join(FOLDER, `${name}.jsonl`), "utf8")
    .trimEnd()
    .split("\n");
const eventsOf = (name: string) => linesOf(name).map((line) => Numbered.parse(JSON.parse(line)));

it("this version has a log of every script, and the previous version has logs", () => {
  const scripts = Object.keys(SCRIPTS);
  expect(names).toEqual(
    expect.arrayContaining(scripts.map((script) => path.join(CURRENT, script))),
  );
  expect(new Set(names.map(versionOf))).toEqual(new Set([LOG_VERSION - 1, LOG_VERSION]));
});

it("the logs of this version contain every event type", () => {
  const foundTypes = new Set(
    names
      .filter((name) => versionOf(name) === LOG_VERSION)
      .flatMap((name) => eventsOf(name).map(({ type }) => type)),
  );
  const types = SessionEventSchema.options.map((option) => option.shape.type.value);
  expect(types.filter((type) => !foundTypes.has(type))).toEqual([]);
});

describe.each(names)("the recorded session %s", (name) => {
  it("contains only events of the schema, which parsing does not change", () => {
    const lines = linesOf(name).map((line) => canonicalJson(JSON.parse(line)));
    expect(eventsOf(name).map(canonicalJson)).toEqual(lines);
  });

  it("has the expected log version in each turn; a turn without a version counts as version 1", () => {
    const versions = eventsOf(name).flatMap((event) =>
      event.type === "turn.started" ? [event.log_version ?? 1] : [],
    );
    expect(new Set(versions)).toEqual(new Set([versionOf(name)]));
  });

  it("keeps every invariant", () => {
    expect(check(eventsOf(name), { finished: true })).toEqual([]);
  });

  it("folds to its recorded state, and every prefix folds to a valid state", () => {
    let state = emptySession;
    const types = eventsOf(name).map(({ type }) => type);
    expect(isTerminal(types.at(-1) ?? "stream.delta")).toBe(true);
    expect(types.filter(isTerminal)).toHaveLength(
      types.filter((type) => type === "turn.started").length,
    );
    for (const event of eventsOf(name)) {
      state = evolve(state, event);
      const pendingWork = [owed(state), inFlight(state), nextTimerAt(state)];
      expect(JSON.parse(JSON.stringify(pendingWork))).toEqual(pendingWork);
    }
    expect(stateHash(state)).toBe(readFileSync(path.join(FOLDER, `${name}.sha256`), "utf8").trim());
  });
});

describe("an unfinished session of an earlier release", () => {
  it.each(names.filter((name) => versionOf(name) < LOG_VERSION))(
    "continues to its end from each cut in %s",
    (name) => {
      const recorded = eventsOf(name);
      // Events of the same time may have been written together, so no log ends between them.
      const cutLengths = recorded.flatMap(({ at }, nth) =>
        nth > 0 && at !== recorded[nth - 1]?.at ? [nth] : [],
      );
      expect(cutLengths.length).toBeGreaterThan(4);
      for (const cutLength of cutLengths) {
        const shell = continueLog(recorded.slice(0, cutLength));
        expect(shell.log.slice(0, cutLength)).toEqual(recorded.slice(0, cutLength));
        expect(isTerminal(shell.log.at(-1)?.type ?? "stream.delta")).toBe(true);
        expect(inspect(shell), `cut after #${cutLength}`).toEqual([]);
      }
    },
  );
});

/** Continues a log with the current rules, and with models that agree soon. */
function continueLog(log: readonly NumberedEvent[]): Shell {
  const agents = log.flatMap((event) =>
    event.type === "session.created" ? event.rules.agents : [],
  ).length;
  const shell = new Shell(randomWorld({ seed: log.length, agents, features: [] }), () => {});
  shell.resume(log);
  shell.finish();
  return shell;
}

it("a turn of a later log version is not folded", () => {
  const laterLog = eventsOf("tie").map((event) =>
    event.type === "turn.started" ? { ...event, log_version: LOG_VERSION + 1 } : event,
  );
  expect(() => laterLog.reduce(evolve, emptySession)).toThrow(
    `log version ${LOG_VERSION + 1} is newer than ${LOG_VERSION}`,
  );
});
