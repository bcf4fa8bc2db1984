import { expect, it } from "vitest";
import { check } from "../../checker";
import { adds, changes, type Lie, repeats } from "../../checker/lies";
import { play } from "./world/scripted-world";
import { STORIES } from "./world/stories";

const story = STORIES["cut-off-tools"];
const log = story ? play(story).log : [];

/** What tool servers have, told by a log that is right but for one lie. */
const found = (lie: Lie): string[] => {
  return check(lie(log), { finished: true }).flatMap(({ invariant, sentence }) =>
    invariant === "listings" ? [sentence] : [],
  );
};

/** Told so many times more, each time of another number of tools. */
const changing = (times: number): Lie =>
  adds("tools.listed", (event) =>
    Array.from({ length: times }, (_, nth) => ({
      ...event,
      tools: event.tools.filter(() => nth % 2 === 1),
    })),
  );

it.each([
  { name: "nothing in what a server has", lie: changing(0), wrong: [] },
  { name: "nothing in a list that changed seven times", lie: changing(7), wrong: [] },
  {
    name: "a list that changed eight times",
    lie: changing(8),
    wrong: ["ada was told 9 times what box has"],
  },
  {
    name: "a list told again",
    lie: repeats("tools.listed"),
    wrong: ["ada was told again what box has"],
  },
  {
    name: "the list of a server that the agent does not have",
    lie: changes("tools.listed", { server: "bag" }),
    wrong: ["bag is no tool server of ada"],
  },
])("the checker notices $name", ({ lie, wrong }) => {
  expect(found(lie)).toEqual(wrong);
});
