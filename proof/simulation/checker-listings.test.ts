import { expect, it } from "vitest";
import { check } from "../../checker";
import { adds, changes, type Corruption, repeats } from "./checker-corruptions/corruptions";
import { play } from "./world/scripted-world";
import { SCRIPTS } from "./world/scripts";

const script = SCRIPTS["cut-off-tools"];
const log = script ? play(script).log : [];

/** The violations that the checker reports if the log, which contains a listing, is corrupted. */
const violationsOf = (corruption: Corruption): string[] => {
  return check(corruption(log), { finished: true }).flatMap(({ invariant, sentence }) =>
    invariant === "listings" ? [sentence] : [],
  );
};

/** Adds `times` listings. Each lists other tools than the listing before it. */
const addsListings = (times: number): Corruption =>
  adds("tools.listed", (event) =>
    Array.from({ length: times }, (_, nth) => ({
      ...event,
      tools: event.tools.filter(() => nth % 2 === 1),
    })),
  );

it.each([
  { name: "nothing wrong in a single listing", corruption: addsListings(0), wrong: [] },
  {
    name: "nothing wrong in a list that changed seven times",
    corruption: addsListings(7),
    wrong: [],
  },
  {
    name: "a list that changed eight times",
    corruption: addsListings(8),
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
  expect(violationsOf(corruption)).toEqual(wrong);
});
