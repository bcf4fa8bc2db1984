import { expect, it } from "vitest";
import { joinedBase } from "../../src/workspace/common-base";
import type { Tree } from "../../src/workspace/types";

const tree = (files: Readonly<Record<string, string>>): Tree =>
  new Map(Object.entries(files).map(([path, hash]) => [path, { hash, size: 1 }]));

it.each([
  {
    name: "a file that the user pushed after the turn's version is as it was pushed",
    version: { y: "1" },
    turn: { y: "0" },
    origin: { y: "0" },
    base: { y: "1" },
  },
  {
    name: "a file that the turn changed is as the turn left it",
    version: { x: "0" },
    turn: { x: "t" },
    origin: { x: "0" },
    base: { x: "t" },
  },
  {
    name: "a file that the user deleted after the turn's version is absent",
    version: {},
    turn: { y: "0" },
    origin: { y: "0" },
    base: {},
  },
  {
    name: "a file that the turn deleted is absent",
    version: { x: "0" },
    turn: {},
    origin: { x: "0" },
    base: {},
  },
  {
    name: "a file that both changed is as the user pushed it",
    version: { x: "u" },
    turn: { x: "t" },
    origin: { x: "0" },
    base: { x: "u" },
  },
  {
    name: "a file that the version left out is as the turn left it",
    version: {},
    turn: { x: "t" },
    origin: { x: "0" },
    leftOut: ["x"],
    base: { x: "t" },
  },
])("$name", ({ version, turn, origin, leftOut = [], base }) => {
  const joined = joinedBase({
    version: tree(version),
    turn: tree(turn),
    origin: tree(origin),
    leftOut: new Set(leftOut),
  });
  expect(joined.base).toEqual(tree(base));
});
