import type { Team } from "../../../src/config/team";
import type { ContextPins, PinPlace } from "../../../src/uploads/context-index";
import { namesGranted, pinContexts } from "../../../src/uploads/pins";
import type { PinnedContext } from "../../../src/protocol/events";
import { MOST_CONTEXT_FILES } from "../../shared/object-limits";

/**
 * Why a turn cannot have its contexts. `names`: contexts that are not uploaded. `files`: the number
 * of files of all contexts together; `most`: its limit.
 */
export type ContextRefusal =
  | { ok: false; code: "context_missing"; names: string[] }
  | { ok: false; code: "context_too_large"; files: number; most: number };

/**
 * `start` identifies the pins of this attempt to start the turn. `release` releases them; to be
 * called if the turn does not start.
 */
type PinnedContexts = {
  ok: true;
  contexts: PinnedContext[];
  start: string;
  release: () => Promise<void>;
};

/**
 * Pins the newest versions of the contexts that the team uses, or returns why the turn cannot have
 * them.
 */
export async function pinnedContexts(
  pins: Pick<ContextPins, "take" | "releaseStart">,
  place: PinPlace,
  { agents }: Team,
): Promise<PinnedContexts | ContextRefusal> {
  const grants = agents.map(({ id, workspace }) => ({ id, contexts: workspace?.contexts ?? [] }));
  const startId = crypto.randomUUID();
  const newest = await pins.take(place, startId, namesGranted(grants));
  const release = () => (newest.size > 0 ? pins.releaseStart(place, startId) : Promise.resolve());
  const versionIds = new Map([...newest].map(([name, { id }]) => [name, id]));
  const pinned = pinContexts(grants, versionIds);
  const files = [...newest.values()].reduce((sum, version) => sum + version.files, 0);
  if (pinned.ok && files <= MOST_CONTEXT_FILES) return { ...pinned, start: startId, release };
  await release();
  return pinned.ok
    ? { ok: false, code: "context_too_large", files, most: MOST_CONTEXT_FILES }
    : { ok: false, code: "context_missing", names: pinned.missing };
}
