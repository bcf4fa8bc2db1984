import type { PinnedContext } from "../protocol/events";

/** An agent and the contexts that its config grants. */
type AgentContexts = {
  id: string;
  contexts: readonly { name: string; permission: "read" | "write" }[];
};

/** `missing`: names of contexts that are not uploaded. */
type PinResult = { ok: true; contexts: PinnedContext[] } | { ok: false; missing: string[] };

/** The names of all contexts of a team, without duplicates. */
export const namesGranted = (agents: readonly AgentContexts[]): string[] => [
  ...new Set(agents.flatMap(({ contexts }) => contexts.map(({ name }) => name))),
];

/** The contexts of a new turn. `newest`: id of the newest version of each context, by name. */
export function pinContexts(
  agents: readonly AgentContexts[],
  newest: ReadonlyMap<string, string>,
): PinResult {
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
