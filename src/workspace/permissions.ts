import ignore from "ignore";
import type { EarlierTurns } from "./earlier-turns";
import { formatPlace } from "./paths";
import type { FileOperation, Place } from "./types";

/**
 * Permissions of agents. An agent can read all mounts that it sees. It can change its own
 * workspace, and contexts that it may write.
 */

/** The mounts that an agent sees, and the files it knows. */
export type Access = {
  peers: { has(alias: string): boolean; keys(): Iterable<string> };
  contexts: { get(name: string): ContextAccess | undefined; keys(): Iterable<string> };
  /** Numbers of earlier attempts whose rejected results the agent sees. Omitted: none. */
  attempts?: { has(number: string): boolean; keys(): Iterable<string> };
  /** Earlier turns that the agent sees. Omitted: none. */
  turns?: Pick<EarlierTurns, "has" | "keys" | "contextsOf">;
  /** Whether the agent has read or written the file at an absolute path. */
  knows(path: string): boolean;
};

/** `isProtected` takes a path relative to the context. */
type ContextAccess = { writable: boolean; isProtected(path: string): boolean };

/** `code` is stable, `message` is for the model. */
export type Refusal = {
  code: "unknown_place" | "read_only" | "protected" | "not_read";
  message: string;
};

/** The refusal of an operation; `null` if it is allowed. Does not check whether the file exists. */
export function refusalOf(operation: FileOperation, place: Place, access: Access): Refusal | null {
  const unknown = unknownPlace(place, access);
  if (unknown) return unknown;
  if (operation === "read" || operation === "list") return null;
  return (
    writeRefusal(place, access) ?? (operation === "delete" ? unreadRefusal(place, access) : null)
  );
}

function unknownPlace(
  place: Place,
  { peers, contexts, attempts = new Set(), turns }: Access,
): Refusal | null {
  const { mount } = place;
  if (mount.kind === "peer" && !peers.has(mount.alias))
    return unknownName(place, "peers", peers.keys());
  if (mount.kind === "context" && !contexts.get(mount.name))
    return unknownName(place, "contexts", contexts.keys());
  if (mount.kind === "attempt" && !attempts.has(mount.number))
    return unknownName(place, "attempts", attempts.keys());
  return unknownInTurns(place, turns);
}

const NO_TURNS: NonNullable<Access["turns"]> = {
  has: () => false,
  keys: () => [],
  contextsOf: () => [],
};

/** The refusal of a place of a turn, or of a turn's context, that the agent does not see. */
function unknownInTurns(
  place: Place,
  turns: NonNullable<Access["turns"]> = NO_TURNS,
): Refusal | null {
  const { mount } = place;
  const isAboveContexts = mount.kind === "above" && /^\/turns\/./.test(mount.at);
  if (mount.kind !== "turn" && !isAboveContexts) return null;
  const turn = mount.kind === "turn" ? mount.turn : (formatPlace(place).split("/")[2] ?? "");
  // The newest turns are named: there may be many.
  if (!turns.has(turn)) return unknownName(place, "turns", [...turns.keys()].slice(-MAX_NAMED));
  if (mount.kind !== "turn" || mount.context === null) return null;
  const names = turns.contextsOf(turn);
  return names.includes(mount.context) ? null : unknownName(place, `turns/${turn}/contexts`, names);
}

/** Maximum number of turns in a refusal. */
const MAX_NAMED = 8;

function unknownName(place: Place, kind: string, names: Iterable<string>): Refusal {
  const paths = [...names].sort().map((name) => `/${kind}/${name}`);
  const hint =
    paths.length > 0 ? `There are ${paths.join(", ")}.` : `There is nothing in /${kind} now.`;
  return {
    code: "unknown_place",
    message: `${formatPlace(place)} is not one of the places you see. ${hint}`,
  };
}

function writeRefusal(place: Place, { contexts }: Access): Refusal | null {
  const { mount, path } = place;
  const readOnly = (message: string): Refusal => ({
    code: "read_only",
    message: `${formatPlace(place)} ${message}`,
  });
  switch (mount.kind) {
    case "workspace":
      return null;
    case "above":
      return readOnly("holds the places you see and cannot be changed. Write below /workspace.");
    case "peer":
      return readOnly(
        "is another's snapshot and cannot be changed. Copy it into /workspace and change the copy.",
      );
    case "attempt":
      return readOnly(
        "is the result of an earlier attempt and cannot be changed. Copy it into /workspace and change the copy.",
      );
    case "turn":
      return readOnly(
        "is from an earlier turn and cannot be changed. Copy it into /workspace and change the copy.",
      );
    case "context": {
      const context = contexts.get(mount.name);
      if (!context?.writable)
        return readOnly("is given for reading only. Copy it into /workspace and change the copy.");
      if (!context.isProtected(path)) return null;
      return {
        code: "protected",
        message: `${formatPlace(place)} is protected: nobody may change it.`,
      };
    }
  }
}

function unreadRefusal(place: Place, { knows }: Access): Refusal | null {
  const path = formatPlace(place);
  return knows(path)
    ? null
    : { code: "not_read", message: `You have not read ${path}. Read it before you delete it.` };
}

/**
 * Limits of `protected_paths`. `length`: characters of an entry. `wildcards`: wildcards of an
 * entry; each makes matching slower.
 */
export const PROTECTION_LIMITS = { entries: 200, length: 255, wildcards: 4 } as const;

/** The problem of an entry in `protected_paths`, for the config's author; `null` if it is valid. */
export function protectedPathProblem(entry: string): string | null {
  const { length, wildcards } = PROTECTION_LIMITS;
  if (plainPath(entry).trim() === "") return "it names nothing";
  if (entry.length > length) return `it is longer than ${length} characters`;
  if (/[\p{Cc}]/u.test(entry)) return "it contains a control character";
  if (entry.replace(/^!/, "").split(/[/\\]/).includes(".."))
    return "it contains .., but paths are relative to the context";
  if (/^~(?:[/\\]|$)|^[a-z]:[/\\]/i.test(entry))
    return "it is a path of a machine, but paths are relative to the context";
  if ((entry.match(/\*+/g) ?? []).length > wildcards)
    return `it has more than ${wildcards} wildcards`;
  return null;
}

/**
 * Returns a function that tests whether a path of the context is protected. An entry is a file, a
 * folder with its contents, or a .gitignore pattern. For example, `*.pem` protects such files in
 * every folder, and `!sample.pem` excludes a file. Case is ignored, because the user's file system
 * may ignore case. If an entry is invalid, everything is protected.
 */
export function protection(entries: readonly string[]): (path: string) => boolean {
  if (entries.length > PROTECTION_LIMITS.entries || entries.some(protectedPathProblem))
    return () => true;
  const names = new Set(entries.map((entry) => plainPath(entry).toLowerCase()));
  const patterns = ignore({ ignorecase: true }).add(
    entries.map((entry) => entry.normalize("NFC").replace(/^\.\//, "")),
  );
  const isNamed = (path: string) =>
    prefixesOf(path.toLowerCase()).some((prefix) => names.has(prefix));
  // Also tests the path as a folder, because a file must not replace a protected folder.
  return (path) =>
    path !== "" && (isNamed(path) || patterns.ignores(path) || patterns.ignores(`${path}/`));
}

/**
 * Protected paths of a context: those of the agent's own entry in the config, and those of the
 * team's entry. `teamProtectedPaths` is omitted if there are none.
 */
export type ProtectedPaths = {
  protectedPaths: readonly string[];
  teamProtectedPaths?: readonly string[];
};

/**
 * A path is protected if one of the two lists protects it. The lists are evaluated separately, so
 * an exclusion (`!`) affects only its own list.
 */
export function protectionOf({
  protectedPaths,
  teamProtectedPaths = [],
}: ProtectedPaths): (path: string) => boolean {
  const isProtectedByAgent = protection(protectedPaths);
  const isProtectedByTeam = protection(teamProtectedPaths);
  return (path) => isProtectedByTeam(path) || isProtectedByAgent(path);
}

/**
 * All entries of both lists without duplicates. The team's entries are first, so that they remain
 * if a display shows only some entries.
 */
export const entriesOf = ({
  protectedPaths,
  teamProtectedPaths = [],
}: ProtectedPaths): string[] => [...new Set([...teamProtectedPaths, ...protectedPaths])];

/** An entry as a path: in NFC, without slashes at its ends. */
const plainPath = (entry: string): string =>
  entry
    .normalize("NFC")
    .replace(/^(?:\.?\/+)+/, "")
    .replace(/\/+$/, "");

/** The path and all its parent folders. */
function prefixesOf(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
