import { describe, expect, it } from "vitest";
import { forkOf, isBasedOn, lineOf, type Parents } from "../../../cli/contexts/turn-line";

/** The parents of the turns 1, 2, and so on. */
const tree = (...parents: (number | null)[]): Parents =>
  new Map(parents.map((parent, index) => [index + 1, parent]));
const BRANCHES = tree(null, 1, 2, 1, 4, null);

describe("the ancestors of a turn", () => {
  it.each([
    { name: "a first turn has none", turn: 1, parents: BRANCHES, line: [1] },
    { name: "are on its own branch only", turn: 5, parents: BRANCHES, line: [5, 4, 1] },
    {
      name: "of a turn that the server does not list: none",
      turn: 9,
      parents: BRANCHES,
      line: [9],
    },
    { name: "end at a turn that is its own parent", turn: 2, parents: tree(null, 2), line: [2] },
    { name: "end where two turns continue each other", turn: 2, parents: tree(2, 1), line: [2, 1] },
    { name: "end where a turn continues a later one", turn: 1, parents: tree(3, 1, 2), line: [1] },
  ])("$name", ({ turn, parents, line }) => {
    expect(lineOf(turn, parents)).toEqual(line);
  });
});

it.each([
  { turn: 3, origin: 2, based: true },
  { turn: 3, origin: 3, based: true },
  { turn: 5, origin: 2, based: false },
  { turn: 2, origin: 3, based: false },
])("turn $turn is based on turn $origin: $based", ({ turn, origin, based }) => {
  expect(isBasedOn(turn, origin, BRANCHES)).toBe(based);
});

it("a turn is based on no turn that it lacks, also if the server answers with a cycle", () => {
  expect(isBasedOn(3, 1, tree(null, 3, 2))).toBe(false);
});

it.each([
  { one: 3, other: 5, fork: 1 },
  { one: 3, other: 2, fork: 2 },
  { one: 2, other: 3, fork: 2 },
  { one: 3, other: 6, fork: null },
])("the fork of the turns $one and $other is $fork", ({ one, other, fork }) => {
  expect(forkOf(one, other, BRANCHES)).toBe(fork);
});
