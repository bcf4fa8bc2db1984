import { expect, it } from "vitest";
import { namesGranted, pinContexts } from "../../src/uploads/pins";

const grant = (name: string, permission: "read" | "write" = "read") => ({ name, permission });
const TEAM = [
  { id: "a", contexts: [grant("site", "write"), grant("docs")] },
  { id: "b", contexts: [grant("site")] },
  { id: "c", contexts: [] },
];

it.each([
  {
    name: "pins each context with its version and permissions",
    uploaded: { site: "v1", docs: "v2", other: "v3" },
    expected: {
      ok: true,
      contexts: [
        { name: "site", version: "v1", permissions: { a: "write", b: "read" } },
        { name: "docs", version: "v2", permissions: { a: "read" } },
      ],
    },
  },
  {
    name: "lists all missing contexts",
    uploaded: { other: "v3" },
    expected: { ok: false, missing: ["site", "docs"] },
  },
])("a turn $name", ({ uploaded, expected }) => {
  expect(pinContexts(TEAM, new Map(Object.entries(uploaded)))).toEqual(expected);
  expect(namesGranted(TEAM)).toEqual(["site", "docs"]);
});
