import { expect, it } from "vitest";
import { check } from "../../checker";
import { adds, changes, type Lie, repeats } from "../../checker/corruptions";
import { play } from "./world/scripted-world";
import { STORIES } from "./world/stories";

const story = STORIES["cut-off-tools"];
const log = story ? play(story).log : [];

/** Corrupts a log that contains a listing. */
const found = (lie: Lie): string[] => {
  return check(lie(log), { finished: true }).flatMap(({ invariant, sentence }) =>
    invariant === "listings" ? [sentence] : [],
  );
};

/** Adds this many listings, each with another number of tools. */
const changing = (times: number): Lie =>
  adds("tools.listed", (event) =>
    Array.from({ length: times }, (_, nth) => ({
      ...event,
      tools: event.tools.filter(() => nth % 2 === 1),
    })),
  );

it.each([
  { name: "nothing in a listing", lie: changing(0), wrong: [] },
  { name: "nothing in a list that changed seven times", lie: changing(7), wrong: [] },
  {
    name: "a list that changed eight times",
    lie: changing(8),
    wrong: ["ada received 9 listings of box"],
  },
  {
    name: "a listing that is repeated",
    lie: repeats("tools.listed"),
    wrong: ["ada received the same listing of box again"],
  },
  {
    name: "the listing of a server that the agent does not have",
    lie: changes("tools.listed", { server: "bag" }),
    wrong: ["bag is not a tool server of ada"],
  },
])("the checker notices $name", ({ lie, wrong }) => {
  expect(found(lie)).toEqual(wrong);
});
