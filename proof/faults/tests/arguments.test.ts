import { describe, expect, it } from "vitest";
import { UsageError } from "../../../local/command-line";
import { LIMITS } from "../../../src/coordination/limits";
import { parseFaultsArguments } from "../arguments";
import { parseCase } from "../kills/case-arguments";
import { KINDS } from "../runs/kinds";

const KILLS = {
  type: "kills",
  seed: 5,
  kills: 100,
  atRandom: 0,
  eachPlace: 0,
  pairs: 0,
  lanes: 2,
  isRecorded: false,
};
const CLIENTS = {
  type: "clients",
  seed: 5,
  histories: 10,
  loudAgents: LIMITS.agents,
  only: null,
};

describe("the command line", () => {
  it.each([
    { argv: [], expected: KILLS },
    { argv: ["--kills", "0", "--points"], expected: { ...KILLS, kills: 0, eachPlace: 1 } },
    {
      argv: ["--kills", "9", "--at-random", "3", "--points", "4", "--pairs", "2", "--lanes", "1"],
      expected: { ...KILLS, kills: 9, atRandom: 3, eachPlace: 4, pairs: 2, lanes: 1 },
    },
    { argv: ["--record"], expected: { ...KILLS, isRecorded: true } },
    { argv: ["--storage"], expected: { type: "storage", seed: 5, each: 1, only: null } },
    {
      argv: ["--storage", "2", "--only", "D1"],
      expected: { type: "storage", seed: 5, each: 2, only: "D1" },
    },
    { argv: ["--clients"], expected: CLIENTS },
    {
      argv: ["--clients", "0", "--agents", "8", "--only", "ids"],
      expected: { ...CLIENTS, histories: 0, loudAgents: 8, only: "ids" },
    },
    { argv: ["--soak", "480"], expected: { type: "soak", seed: 5, minutes: 480, sessions: 50 } },
    {
      argv: ["--at", "send.sent:1"],
      expected: { type: "case", seed: 5, kinds: "story", at: "send.sent:1" },
    },
    {
      argv: ["--runs", "mixed,story", "--at", "350ms"],
      expected: { type: "case", seed: 5, kinds: "mixed,story", at: "350ms" },
    },
    { argv: ["--help", "--kills", "many"], expected: { type: "help" } },
  ])("npm run faults -- --seed 5 with $argv is parsed as $expected", ({ argv, expected }) => {
    expect(parseFaultsArguments(["--seed", "5", ...argv])).toEqual(expected);
  });

  it("without --seed has a random seed", () => {
    expect(parseFaultsArguments([])).toEqual({ ...KILLS, seed: expect.any(Number) });
  });

  it.each([
    { argv: ["--kills", "many"], message: '--kills is a whole number, not "many".' },
    { argv: ["--kills", "0"], message: "There is nothing to play: ask for a kill at least." },
    { argv: ["--soak", "0"], message: '--soak is a whole number from 1, not "0".' },
    { argv: ["--soak", "8h"], message: '--soak is a whole number from 1, not "8h".' },
    {
      argv: ["--soak", "1", "--sessions", "0"],
      message: '--sessions is a whole number from 1, not "0".',
    },
    { argv: ["--storage", "0"], message: '--storage is a whole number from 1, not "0".' },
    {
      argv: ["--clients", "--agents", "0"],
      message: '--agents is a whole number from 1, not "0".',
    },
    {
      argv: ["--runs", "story"],
      message: "--runs goes with --at, which says where they are killed.",
    },
    { argv: ["--sessions", "9"], message: "--sessions goes with --soak." },
    { argv: ["--only", "D1"], message: "--only goes with --storage or --clients." },
    { argv: ["--help", "--seed", "x"], message: '--seed is a whole number, not "x".' },
  ])("with $argv is refused with a reason", ({ argv, message }) => {
    expect(() => parseFaultsArguments(argv)).toThrow(new UsageError(message));
  });

  it("with an unknown option is refused", () => {
    expect(() => parseFaultsArguments(["--sedes", "5"])).toThrow("'--sedes'");
  });
});

describe("one case", () => {
  it("has kinds of runs, and kills at places or after a time", () => {
    expect(parseCase("story,mixed", "commit.open/vote.cast:2,350ms,send.sent")).toEqual({
      kinds: ["story", "mixed"],
      kills: [
        { point: "commit.open/vote.cast", nth: 2 },
        { afterMs: 350 },
        { point: "send.sent", nth: 1 },
      ],
      isWanted: true,
    });
  });

  it.each([
    {
      kinds: "storey",
      at: "send.sent:1",
      message: `No name matches "storey". Names:${Object.keys(KINDS)
        .map((name) => `\n  ${name}`)
        .join("")}`,
    },
    {
      kinds: "story",
      at: "nowhere",
      message: "nowhere names no point; write it like commit.open/vote.cast:2",
    },
  ])("of runs $kinds with kills at $at is refused with a reason", ({ kinds, at, message }) => {
    expect(() => parseCase(kinds, at)).toThrow(new UsageError(message));
  });
});
