import { expect, it } from "vitest";
import { pinnedContexts } from "../../durable-objects/turn-contexts";
import type { ContextReader } from "../../src/contexts/context-reader";
import { FULL_CONTEXT, teamOf } from "../config/teams";

const team = (contexts: string) =>
  teamOf(
    `agents:\n  - {id: a, backend: {type: claude}}\n  - {id: b, backend: {type: claude}}\norchestrator: {context_paths: ${contexts}}`,
    FULL_CONTEXT,
  );

const UPLOADED = new Map([
  ["site", { id: "v1", files: 12_000 }],
  ["docs", { id: "v2", files: 9_000 }],
]);
const reader: ContextReader = {
  newest: async (_, names) => new Map([...UPLOADED].filter(([name]) => names.includes(name))),
  open: () => Promise.reject(new Error("nothing is opened before the turn begins")),
};

it.each([
  {
    name: "is what is uploaded",
    contexts: "[{path: site, permission: write}]",
    then: { ok: true, contexts: [{ name: "site", version: "v1", permissions: { a: "write", b: "write" } }] },
  },
  { name: "is nothing of a team that is given nothing", contexts: "[]", then: { ok: true, contexts: [] } },
  { name: "may not be missing", contexts: "[site, nowhere]", then: { ok: false, code: "context_missing", names: ["nowhere"] } },
  {
    name: "may have so many files together",
    contexts: "[site, docs]",
    then: { ok: false, code: "context_too_large", files: 21_000, most: 20_000 },
  },
])("what a turn is given $name", async ({ contexts, then }) => {
  expect(await pinnedContexts(reader, "t", team(contexts))).toEqual(then);
});
