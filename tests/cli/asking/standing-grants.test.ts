import { expect, it } from "vitest";
import { joinedGrants, type StandingContext } from "../../../cli/asking/standing-grants";

const one = (text: string): StandingContext => {
  const [name = "", permission] = text.split(":");
  return { name, permission: permission === "read" || permission === "write" ? permission : null };
};

it.each([
  {
    name: "a further folder joins the others",
    standing: ["site:write"],
    given: ["docs"],
    grants: ["site:write", "docs:read"],
  },
  {
    name: "a folder without a stated permission keeps it",
    standing: ["site:write"],
    given: ["site"],
    grants: ["site:write"],
  },
  {
    name: "a stated permission counts",
    standing: ["site:write"],
    given: ["site:read"],
    grants: ["site:read"],
  },
  {
    name: "a folder that only the config names keeps the config's permission",
    standing: ["site"],
    given: ["site"],
    grants: [],
  },
  {
    name: "a stated permission replaces the config's",
    standing: ["site"],
    given: ["site:write"],
    grants: ["site:write"],
  },
  { name: "the first folder may be read", standing: [], given: ["site"], grants: ["site:read"] },
])("$name: $standing and $given", ({ standing, given, grants }) => {
  const joined = joinedGrants(standing.map(one), given.map(one));
  expect(joined.map(({ name, permission }) => `${name}:${permission}`)).toEqual(grants);
});
