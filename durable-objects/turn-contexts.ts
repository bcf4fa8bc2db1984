import type { Team } from "../src/config/team";
import type { ContextReader } from "../src/contexts/context-reader";
import { namesGranted, pinContexts } from "../src/contexts/pins";
import type { PinnedContext } from "../src/protocol/events";
import { MOST_CONTEXT_FILES } from "./limits";

/** `names`: contexts that are not uploaded. `files`: what all contexts together have. */
export type ContextRefusal =
  | { ok: false; code: "context_missing"; names: string[] }
  | { ok: false; code: "context_too_large"; files: number; most: number };

/** What the user has uploaded by now of what the team is given, or why the turn cannot have it. */
export async function pinnedContexts(
  reader: ContextReader,
  tenant: string,
  { agents }: Team,
): Promise<{ ok: true; contexts: PinnedContext[] } | ContextRefusal> {
  const granted = agents.map(({ id, workspace }) => ({ id, contexts: workspace?.contexts ?? [] }));
  const newest = await reader.newest(tenant, namesGranted(granted));
  const versions = new Map([...newest].map(([name, { id }]) => [name, id]));
  const pinned = pinContexts(granted, versions);
  if (!pinned.ok) return { ok: false, code: "context_missing", names: pinned.missing };
  const files = [...newest.values()].reduce((sum, version) => sum + version.files, 0);
  return files > MOST_CONTEXT_FILES ? { ok: false, code: "context_too_large", files, most: MOST_CONTEXT_FILES } : pinned;
}
