import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { emptySession, evolve, inFlight, nextTimerAt, owed } from "../../src/coordination";
import { LOG_VERSION } from "../../src/protocol/events";
import { isTerminal, SessionEventSchema } from "../../src/protocol/events";
import { check, type NumberedEvent } from "../../checker";
import { randomWorld } from "../simulation/world/random-world";
import { Shell } from "../simulation/world/shell";
import { SCRIPTS } from "../simulation/world/scripts";
import { inspect } from "../simulation/world/verify";
import { canonicalJson, stateHash } from "./canonical";

/** Logs of version 1 are in this folder, those of later versions in a folder per version. */
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
const versionOf = (name: string): number =>
  name.includes(path.sep) ? Number(path.dirname(name).slice(1)) : 1;

const linesOf = (name: string): string[] =>
  readFileSync(path.join(FOLDER, `${name}.jsonl`), "utf8")
    .trimEnd()
    .split("\n");
const eventsOf = (name: string) => linesOf(name).map((line) => Numbered.parse(JSON.parse(line)));

it("has a log of every script recorded by this version, and logs of the version before", () => {
  const scripts = Object.keys(SCRIPTS);
  expect(names).toEqual(
    expect.arrayContaining(scripts.map((script) => path.join(CURRENT, script))),
  );
  expect(new Set(names.map(versionOf))).toEqual(new Set([LOG_VERSION - 1, LOG_VERSION]));
});

it("has every event type in the logs of this version", () => {
  const found = new Set(
    names
      .filter((name) => versionOf(name) === LOG_VERSION)
      .flatMap((name) => eventsOf(name).map(({ type }) => type)),
  );
  const types = SessionEventSchema.options.map((option) => option.shape.type.value);
  expect(types.filter((type) => !found.has(type))).toEqual([]);
});

describe.each(names)("the recorded session %s", (name) => {
  it("contains only events of the schema, which parsing does not change", () => {
    const lines = linesOf(name).map((line) => canonicalJson(JSON.parse(line)));
    expect(eventsOf(name).map(canonicalJson)).toEqual(lines);
  });

  it("states its version in each turn, since turns have one", () => {
    const found = eventsOf(name).flatMap((event) =>
      event.type === "turn.started" ? [event.log_version ?? 1] : [],
    );
    expect(new Set(found)).toEqual(new Set([versionOf(name)]));
  });

  it("keeps every invariant", () => {
    expect(check(eventsOf(name), { finished: true })).toEqual([]);
  });

  it("folds to its recorded state, and every prefix folds to a valid state", () => {
    let state = emptySession;
    for (const event of eventsOf(name)) {
      expect(isTerminal(event.type)).toBe(event.sequence_number === eventsOf(name).length);
      state = evolve(state, event);
      const asked = [owed(state), inFlight(state), nextTimerAt(state)];
      expect(JSON.parse(JSON.stringify(asked))).toEqual(asked);
    }
    expect(stateHash(state)).toBe(readFileSync(path.join(FOLDER, `${name}.sha256`), "utf8").trim());
  });
});

describe("an unfinished session of an earlier release", () => {
  it.each(names.filter((name) => versionOf(name) < LOG_VERSION))(
    "continues to its end from each place in %s",
    (name) => {
      const recorded = eventsOf(name);
      // Events of the same time may have been written together, so no log ends between them.
      const places = recorded.flatMap(({ at }, nth) =>
        nth > 0 && at !== recorded[nth - 1]?.at ? [nth] : [],
      );
      expect(places.length).toBeGreaterThan(4);
      for (const left of places) {
        const shell = wentOn(recorded.slice(0, left));
        expect(shell.log.slice(0, left)).toEqual(recorded.slice(0, left));
        expect(isTerminal(shell.log.at(-1)?.type ?? "stream.delta")).toBe(true);
        expect(inspect(shell), `left after #${left}`).toEqual([]);
      }
    },
  );
});

/** Continues a log with the present rules and models that agree soon. */
function wentOn(log: readonly NumberedEvent[]): Shell {
  const agents = log.flatMap((event) =>
    event.type === "session.created" ? event.rules.agents : [],
  ).length;
  const shell = new Shell(randomWorld({ seed: log.length, agents, features: [] }), () => {});
  shell.resume(log);
  shell.finish();
  return shell;
}

it("a turn of a later log version is not folded", () => {
  const later = eventsOf("tie").map((event) =>
    event.type === "turn.started" ? { ...event, log_version: LOG_VERSION + 1 } : event,
  );
  expect(() => later.reduce(evolve, emptySession)).toThrow(
    `log version ${LOG_VERSION + 1} is newer than ${LOG_VERSION}`,
  );
});
