import ignore from "ignore";
import { formatPlace } from "./paths";
import type { FileOperation, Place } from "./types";

/** What an agent may do where. Everybody sees all of what they see; only their own workspace, and contexts granted to them, may change. */

/** What an agent sees, and what it knows of the files in it. */
export type Access = {
  peers: { has(alias: string): boolean; keys(): Iterable<string> };
  contexts: { get(name: string): ContextAccess | undefined; keys(): Iterable<string> };
  /** Attempts whose rejected results it sees, by number. Absent: none. */
  attempts?: { has(number: string): boolean; keys(): Iterable<string> };
  /** Whether the agent has read the file, or wrote it itself; path as the agent sees it. */
  knows(path: string): boolean;
};

/** `isProtected` takes a path relative to the context. */
export type ContextAccess = { writable: boolean; isProtected(path: string): boolean };

/** `code` is stable, `message` is for the model. */
export type Refusal = {
  code: "unknown_place" | "read_only" | "protected" | "not_read";
  message: string;
};

/** Why the agent may not do this to the file or directory; null if it may. Whether there is one is not asked here. */
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

/** Limits of `protected_paths`: how many, how long, and how many wildcards in one, since each makes matching slower. */
export const PROTECTION_LIMITS = { entries: 200, length: 255, wildcards: 4 } as const;

/** What is wrong with an entry of `protected_paths`, for whoever wrote it; null if nothing is. */
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
 * Whether a path, relative to its context, is protected by these entries. An entry is a file or a folder by its name, protecting all
 * that is in it, and also a pattern as in .gitignore: `*.pem` is protected in every folder, `!sample.pem` is not. Whether letters are
 * small does not matter, for a user's disk may not tell them apart. Entries that are no good protect everything.
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
  // As a folder too: a file may not take the place of a protected one.
  return (path) =>
    path !== "" && (named(path) || patterns.ignores(path) || patterns.ignores(`${path}/`));
}

/** What an agent's config protects in a context, and what its team's does; absent: nothing besides. */
export type Protected = {
  protectedPaths: readonly string[];
  teamProtectedPaths?: readonly string[];
};

/** The same of both lists, each by itself: a path is protected by either, and what one takes back it takes back of itself alone. */
export function protectionOf({
  protectedPaths,
  teamProtectedPaths = [],
}: Protected): (path: string) => boolean {
  const [own, team] = [protection(protectedPaths), protection(teamProtectedPaths)];
  return (path) => team(path) || own(path);
}

/** All entries of both lists, each once, the team's first: who shows them may not show all. */
export const entriesOf = ({ protectedPaths, teamProtectedPaths = [] }: Protected): string[] => [
  ...new Set([...teamProtectedPaths, ...protectedPaths]),
];

/** The path an entry names if it is no pattern. */
const bare = (entry: string): string =>
  entry
    .normalize("NFC")
    .replace(/^(?:\.?\/+)+/, "")
    .replace(/\/+$/, "");

/** The path and all folders above it. */
function prefixesOf(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
