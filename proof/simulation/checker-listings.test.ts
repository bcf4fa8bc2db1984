import { expect, it } from "vitest";
import { check } from "../../checker";
import { adds, changes, type Corruption, repeats } from "./checker-corruptions/corruptions";
import { play } from "./world/scripted-world";
import { SCRIPTS } from "./world/scripts";

const script = SCRIPTS["cut-off-tools"];
const log = script ? play(script).log : [];

/** Corrupts a log that contains a listing. */
const found = (corruption: Corruption): string[] => {
  return check(corruption(log), { finished: true }).flatMap(({ invariant, sentence }) =>
    invariant === "listings" ? [sentence] : [],
  );
};

/** Adds this many listings, each with another number of tools. */
const changing = (times: number): Corruption =>
  adds("tools.listed", (event) =>
    Array.from({ length: times }, (_, nth) => ({
      ...event,
      tools: event.tools.filter(() => nth % 2 === 1),
    })),
  );

it.each([
  { name: "nothing in a listing", corruption: changing(0), wrong: [] },
  { name: "nothing in a list that changed seven times", corruption: changing(7), wrong: [] },
  {
    name: "a list that changed eight times",
    corruption: changing(8),
    wrong: ["ada received 9 listings of box"],
  },
  {
    name: "a listing that is repeated",
    corruption: repeats("tools.listed"),
    wrong: ["ada received the same listing of box again"],
  },
  {
    name: "the listing of a server that the agent does not have",
    corruption: changes("tools.listed", { server: "bag" }),
    wrong: ["bag is not a tool server of ada"],
  },
])("the checker notices $name", ({ corruption, wrong }) => {
  expect(found(corruption)).toEqual(wrong);
});
