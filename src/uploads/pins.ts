import type { PinnedContext } from "../protocol/events";

/** What each agent of a team is given, by the names in its config. */
type Granted = { id: string; contexts: readonly { name: string; permission: "read" | "write" }[] };

/** `missing`: names that nothing is uploaded by. */
export type Pinned = { ok: true; contexts: PinnedContext[] } | { ok: false; missing: string[] };

/** The names of all contexts that a team's agents are given, each once. */
export const namesGranted = (agents: readonly Granted[]): string[] => [
  ...new Set(agents.flatMap(({ contexts }) => contexts.map(({ name }) => name))),
];

/** The contexts of a turn that begins now. `newest`: the newest version of each that is uploaded. */
export function pinContexts(
  agents: readonly Granted[],
  newest: ReadonlyMap<string, string>,
): Pinned {
  const names = namesGranted(agents);
  const missing = names.filter((name) => !newest.has(name));
  if (missing.length > 0) return { ok: false, missing };
  const contexts = names.map((name) => ({
    name,
    version: newest.get(name) ?? "",
    permissions: Object.fromEntries(
      agents.flatMap(({ id, contexts }) =>
        contexts.filter((grant) => grant.name === name).map(({ permission }) => [id, permission]),
      ),
    ),
  }));
  return { ok: true, contexts };
}
