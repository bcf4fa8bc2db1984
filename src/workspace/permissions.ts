import ignore from "ignore";
import { formatPlace } from "./paths";
import type { FileOperation, Place } from "./types";

/**
 * Permissions of agents. An agent can read all mounts it sees. It can change its own workspace and
 * contexts granted to it.
 */

/** The mounts that an agent sees, and the files it knows. */
export type Access = {
  peers: { has(alias: string): boolean; keys(): Iterable<string> };
  contexts: { get(name: string): ContextAccess | undefined; keys(): Iterable<string> };
  /** Attempts whose rejected results it sees, by number. Omitted: none. */
  attempts?: { has(number: string): boolean; keys(): Iterable<string> };
  /** Whether the agent has read or written the file; path as the agent sees it. */
  knows(path: string): boolean;
};

/** `isProtected` takes a path relative to the context. */
type ContextAccess = { writable: boolean; isProtected(path: string): boolean };

/** `code` is stable, `message` is for the model. */
export type Refusal = {
  code: "unknown_place" | "read_only" | "protected" | "not_read";
  message: string;
};

/** Why the operation is not permitted; `null` if it is. Does not check whether the file exists. */
export function refusalOf(operation: FileOperation, place: Place, access: Access): Refusal | null {
  const unknown = unknownPlace(place, access);
  if (unknown) return unknown;
  if (operation === "read" || operation === "list") return null;
  return unwritable(place, access) ?? (operation === "delete" ? unread(place, access) : null);
}

function unknownPlace(
  place: Place,
  { peers, contexts, attempts = new Set() }: Access,
): Refusal | null {
  const { mount } = place;
  if (mount.kind === "peer" && !peers.has(mount.alias))
    return nothingAt(place, "peers", peers.keys());
  if (mount.kind === "context" && !contexts.get(mount.name))
    return nothingAt(place, "contexts", contexts.keys());
  if (mount.kind === "attempt" && !attempts.has(mount.number))
    return nothingAt(place, "attempts", attempts.keys());
  return null;
}

function nothingAt(place: Place, kind: string, names: Iterable<string>): Refusal {
  const known = [...names].sort().map((name) => `/${kind}/${name}`);
  const there =
    known.length > 0 ? `There are ${known.join(", ")}.` : `There is nothing in /${kind} now.`;
  return {
    code: "unknown_place",
    message: `${formatPlace(place)} is not one of the places you see. ${there}`,
  };
}

function unwritable(place: Place, { contexts }: Access): Refusal | null {
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

function unread(place: Place, { knows }: Access): Refusal | null {
  const path = formatPlace(place);
  return knows(path)
    ? null
    : { code: "not_read", message: `You have not read ${path}. Read it before you delete it.` };
}

/** Limits of `protected_paths`. Each wildcard makes matching slower. */
export const PROTECTION_LIMITS = { entries: 200, length: 255, wildcards: 4 } as const;

/** The problem of an entry in `protected_paths`, for the config's author; `null` if it is valid. */
export function protectedPathProblem(entry: string): string | null {
  const { length, wildcards } = PROTECTION_LIMITS;
  if (bare(entry).trim() === "") return "it names nothing";
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
 * Whether a path, relative to its context, is protected. An entry names a file or folder with its
 * contents, or is a .gitignore pattern: `*.pem` protects in every folder, `!sample.pem` excludes.
 * Case is ignored, because the user's file system may ignore it. Invalid entries protect
 * everything.
 */
export function protection(entries: readonly string[]): (path: string) => boolean {
  if (entries.length > PROTECTION_LIMITS.entries || entries.some(protectedPathProblem))
    return () => true;
  const names = new Set(entries.map((entry) => bare(entry).toLowerCase()));
  const patterns = ignore({ ignorecase: true }).add(
    entries.map((entry) => entry.normalize("NFC").replace(/^\.\//, "")),
  );
  const named = (path: string) =>
    prefixesOf(path.toLowerCase()).some((prefix) => names.has(prefix));
  // As a folder too: a file must not replace a protected folder.
  return (path) =>
    path !== "" && (named(path) || patterns.ignores(path) || patterns.ignores(`${path}/`));
}

/**
 * Protected paths of a context from the agent's config and the team's; omitted if the team has
 * none.
 */
export type ProtectedPaths = {
  protectedPaths: readonly string[];
  teamProtectedPaths?: readonly string[];
};

/** The union of both lists, evaluated separately: an exclusion affects only its own list. */
export function protectionOf({
  protectedPaths,
  teamProtectedPaths = [],
}: ProtectedPaths): (path: string) => boolean {
  const [own, team] = [protection(protectedPaths), protection(teamProtectedPaths)];
  return (path) => team(path) || own(path);
}

/** All entries of both lists without duplicates, the team's first, because a display may be cut. */
export const entriesOf = ({
  protectedPaths,
  teamProtectedPaths = [],
}: ProtectedPaths): string[] => [...new Set([...teamProtectedPaths, ...protectedPaths])];

/** The path of an entry that is not a pattern. */
const bare = (entry: string): string =>
  entry
    .normalize("NFC")
    .replace(/^(?:\.?\/+)+/, "")
    .replace(/\/+$/, "");

/** The path and all its parent folders. */
function prefixesOf(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
