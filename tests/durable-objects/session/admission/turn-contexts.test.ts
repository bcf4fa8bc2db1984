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
/** The names of pinned contexts, by the id of the start that pinned them. */
const pinnedByStart = new Map<string, readonly string[]>();
const pins = {
  take: async (_: unknown, start: string, names: readonly string[]) => {
    pinnedByStart.set(start, names);
    return new Map([...UPLOADED].filter(([name]) => names.includes(name)));
  },
  releaseStart: async (_: unknown, start: string) => void pinnedByStart.delete(start),
};
const PLACE = { tenant: "t", session: "s", turn: 2 };

beforeEach(() => pinnedByStart.clear());

it.each([
  {
    name: "are pinned in the uploaded versions",
    contexts: "[{path: site, permission: write}]",
    expected: {
      ok: true,
      contexts: [{ name: "site", version: "v1", permissions: { a: "write", b: "write" } }],
    },
  },
  {
    name: "are empty for a team without contexts",
    contexts: "[]",
    expected: { ok: true, contexts: [] },
  },
  {
    name: "cannot be pinned if one is missing",
    contexts: "[site, nowhere]",
    expected: { ok: false, code: "context_missing", names: ["nowhere"] },
  },
  {
    name: "cannot be pinned if they have too many files together",
    contexts: "[site, docs]",
    expected: { ok: false, code: "context_too_large", files: 21_000, most: 20_000 },
  },
])("the contexts of a turn $name", async ({ contexts, expected }) => {
  const result = await pinnedContexts(pins, PLACE, team(contexts));
  expect(result).toMatchObject(expected);
  expect([...pinnedByStart.values()].flat()).toEqual(
    result.ok ? result.contexts.map(({ name }) => name) : [],
  );
  if (result.ok && result.contexts.length > 0) {
    await result.release();
    expect([...pinnedByStart]).toEqual([]);
  }
});
