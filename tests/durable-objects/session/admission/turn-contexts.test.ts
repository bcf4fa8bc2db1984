import { beforeEach, expect, it } from "vitest";
import { pinnedContexts } from "../../../../durable-objects/session/admission/turn-contexts";
import { FULL_CONTEXT, teamOf } from "../../../config/teams";

const team = (contexts: string) =>
  teamOf(
    `agents:\n  - {id: a, backend: {type: claude}}\n  - {id: b, backend: {type: claude}}\norchestrator: {context_paths: ${contexts}}`,
    FULL_CONTEXT,
  );

const UPLOADED = new Map([
  ["site", { id: "v1", files: 12_000 }],
  ["docs", { id: "v2", files: 9_000 }],
]);
/** Which versions are pinned, and by which try. */
const held = new Map<string, readonly string[]>();
const pins = {
  take: async (_: unknown, start: string, names: readonly string[]) => {
    held.set(start, names);
    return new Map([...UPLOADED].filter(([name]) => names.includes(name)));
  },
  releaseStart: async (_: unknown, start: string) => void held.delete(start),
};
const PLACE = { tenant: "t", session: "s", turn: 2 };

beforeEach(() => held.clear());

it.each([
  {
    name: "are the uploaded versions",
    contexts: "[{path: site, permission: write}]",
    then: {
      ok: true,
      contexts: [{ name: "site", version: "v1", permissions: { a: "write", b: "write" } }],
    },
  },
  {
    name: "are empty for a team without contexts",
    contexts: "[]",
    then: { ok: true, contexts: [] },
  },
  {
    name: "may not be missing",
    contexts: "[site, nowhere]",
    then: { ok: false, code: "context_missing", names: ["nowhere"] },
  },
  {
    name: "may have a limited number of files together",
    contexts: "[site, docs]",
    then: { ok: false, code: "context_too_large", files: 21_000, most: 20_000 },
  },
])("the contexts of a turn $name", async ({ contexts, then }) => {
  const given = await pinnedContexts(pins, PLACE, team(contexts));
  expect(given).toMatchObject(then);
  expect([...held.values()].flat()).toEqual(given.ok ? given.contexts.map(({ name }) => name) : []);
  if (given.ok && given.contexts.length > 0) {
    await given.release();
    expect([...held]).toEqual([]);
  }
});
