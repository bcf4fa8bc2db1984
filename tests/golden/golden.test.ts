import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { emptySession, evolve, inFlight, nextTimerAt, owed } from "../../src/coordination";
import { isTerminal, SessionEventSchema } from "../../src/protocol/events";
import { check } from "../simulation/checker";
import { STORIES } from "../simulation/world/stories";
import { canonicalJson, stateHash } from "./canonical";

const FOLDER = import.meta.dirname;
const Numbered = z.intersection(SessionEventSchema, z.object({ sequence_number: z.number().int() }));

const names = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".jsonl"))
  .map((file) => path.basename(file, ".jsonl"));

const linesOf = (name: string): string[] =>
  readFileSync(path.join(FOLDER, `${name}.jsonl`), "utf8")
    .trimEnd()
    .split("\n");
const eventsOf = (name: string) => linesOf(name).map((line) => Numbered.parse(JSON.parse(line)));

it("has a recorded log of every story", () => {
  expect(new Set(names)).toEqual(new Set([...names, ...Object.keys(STORIES)]));
});

describe.each(names)("the recorded session %s", (name) => {
  it("is made of events of the schema, nothing lost on the way", () => {
    const lines = linesOf(name).map((line) => canonicalJson(JSON.parse(line)));
    expect(eventsOf(name).map(canonicalJson)).toEqual(lines);
  });

  it("keeps every invariant", () => {
    expect(check(eventsOf(name), { finished: true })).toEqual([]);
  });

  it("folds to its recorded state, and every prefix of it folds and can be asked", () => {
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
