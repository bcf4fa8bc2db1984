import * as z from "zod";
import type { GrantedContexts } from "../../src/protocol/api/contexts";
import { eventsPath } from "../../src/protocol/paths";
import type { Connection } from "../credentials/connection";
import { CliError } from "../exit-codes";
import type { Io } from "../io";
import { request } from "../service/call-service";
import { headTurn } from "../service/session-calls";
import type { Permission, SharedFolder, WithFolder } from "./shared-folders";

/**
 * A context that a turn has, and the access that requests granted. `null`: only the config names
 * it.
 */
export type StandingContext = { name: string; permission: Permission | null };

const EventsSchema = z.object({
  data: z.array(
    z.object({
      type: z.string(),
      contexts: z.array(z.object({ name: z.string() })).default([]),
      grants: z
        .array(z.object({ name: z.string(), permission: z.enum(["read", "write"]) }))
        .default([]),
    }),
  ),
});

/** Events among which the start of a turn is found: it is the first, or the second of a session. */
const FIRST_EVENTS = 5;

/** The contexts of a turn. The turns that follow it keep the grants. Throws CliError. */
export async function standingContexts(
  { session, turn }: { session: string; turn: number },
  connection: Connection,
): Promise<StandingContext[]> {
  const path = `${eventsPath(session, turn)}?detail=summary&limit=${FIRST_EVENTS}`;
  const { data } = await request({ method: "GET", path }, EventsSchema, connection);
  const start = data.data.find(({ type }) => type === "turn.started");
  const granted = new Map(start?.grants.map(({ name, permission }) => [name, permission]));
  const names = new Set([...(start?.contexts ?? []).map(({ name }) => name), ...granted.keys()]);
  return [...names].map((name) => ({ name, permission: granted.get(name) ?? null }));
}

/**
 * The grants of a later turn: those that stand, and the given ones. A given folder without a stated
 * permission keeps what the team already has, and else it may be read.
 */
export function joinedGrants(
  standing: readonly StandingContext[],
  given: readonly StandingContext[],
): GrantedContexts {
  const before = new Map(standing.map(({ name, permission }) => [name, permission]));
  const grants = new Map(
    standing.flatMap(({ name, permission }) => (permission ? [[name, permission] as const] : [])),
  );
  for (const { name, permission } of given) {
    if (permission !== null) grants.set(name, permission);
    else if (!before.has(name)) grants.set(name, "read");
  }
  return [...grants].map(([name, permission]) => ({ name, permission }));
}

/** The folders of a question, and the grants that it sends. */
export type GivenFolders = {
  folders: SharedFolder[];
  grants: { contexts?: GrantedContexts | undefined };
};

/**
 * The grants of a question that continues a session: the team keeps what it has. Says which
 * contexts these are. If they cannot be read, says that only the given folders remain.
 */
export async function besideStanding(
  { folders, grants }: GivenFolders,
  { requested, session, from }: { requested: readonly WithFolder[] } & TurnBefore,
  connection: Connection,
  { stderr }: Pick<Io, "stderr">,
): Promise<GivenFolders> {
  if (requested.length === 0 || grants.contexts === undefined) return { folders, grants };
  const standing = await readStanding({ session, from }, connection);
  if (standing === null) {
    stderr.write(
      "warning: the contexts that the team already has could not be read. It now has only those of --with.\n",
    );
    return { folders, grants };
  }
  const stated = new Map(requested.map(({ typed, permission }) => [typed, permission]));
  const given = folders.map(({ typed, name }) => ({ name, permission: stated.get(typed) ?? null }));
  const contexts = joinedGrants(standing, given);
  const kept = contexts.filter(({ name }) => given.every((one) => one.name !== name));
  if (kept.length > 0) {
    const names = kept.map(({ name, permission = "read" }) => `${name} (${permission})`).join(", ");
    stderr.write(`The team keeps ${names}. --no-contexts takes back all contexts.\n`);
  }
  const permissions = new Map(contexts.map(({ name, permission }) => [name, permission]));
  return {
    folders: folders.map((one) => ({ ...one, permission: permissions.get(one.name) ?? "read" })),
    grants: contexts.length > 0 ? { contexts } : {},
  };
}

/** A session, and the turn that the next one follows; `null` means the head. */
type TurnBefore = { session: string; from: number | null };

async function readStanding(
  { session, from }: TurnBefore,
  connection: Connection,
): Promise<StandingContext[] | null> {
  try {
    const turn = from ?? (await headTurn(session, connection));
    return await standingContexts({ session, turn }, connection);
  } catch (error) {
    if (error instanceof CliError) return null;
    throw error;
  }
}
