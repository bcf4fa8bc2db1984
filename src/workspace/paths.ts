import { INVISIBLE, spelled } from "../protocol/invisible";
import { type AboveMounts, FileError, type Mount, type Place } from "./types";

/**
 * Parses paths from agents, archives and uploads. Paths are literal: nothing is decoded, `%2e` is
 * three characters. They are converted to Unicode NFC once, here; afterwards two paths are equal if
 * their texts are. Case matters. Names that some file system treats as another name or a device are
 * refused, so that files mean the same wherever they are unpacked.
 */
export const PATH_LIMITS = {
  /** UTF-8 bytes of one name. */
  nameBytes: 255,
  /** UTF-8 bytes of a path relative to its mount. */
  pathBytes: 1_024,
  /** Names in a path relative to its mount. */
  levels: 40,
  /** UTF-16 code units of a path as the model writes it, before `..` is resolved. */
  typed: 8_192,
} as const;

/** Names in `/workspace` that lead to the mounts of the same name. */
const RESERVED = new Set(["peers", "contexts"]);

const EVERY_INVISIBLE = new RegExp(INVISIBLE, "gu");
/** Device names on Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(?:\.|$)/i;
const GIT = /^(?:\.git|git~\d+)$/i;

const encoder = new TextEncoder();
const bytesOf = (text: string): number => encoder.encode(text).byteLength;

const invalid = (message: string): FileError => new FileError("path_invalid", message);
const tooLong = (message: string): FileError => new FileError("path_too_long", message);
const outside = (message: string): FileError => new FileError("path_outside", message);

/**
 * Parses an agent's path: absolute, or relative to `/workspace`. Resolves `.` and `..` textually.
 * Does not check whether the peer, context or file exists.
 *
 * Throws `FileError`: `path_invalid`, `path_too_long`, or `path_outside` if it is in no mount.
 */
export function parsePath(typed: string): Place {
  const text = checkedText(typed);
  const parts = resolveDots(text.startsWith("/") ? text : `/workspace/${text}`, text);
  const [top, second] = parts;
  if (top === undefined) return above("/");
  if (top === "workspace") {
    return second !== undefined && RESERVED.has(second)
      ? placeBelow(parts.slice(1), text)
      : place({ kind: "workspace" }, parts.slice(1));
  }
  return placeBelow(parts, text);
}

function placeBelow([top, name, ...rest]: string[], text: string): Place {
  const toMount = top === undefined ? undefined : MOUNTS.get(top);
  if (!toMount) {
    throw outside(
      `${visiblePath(text)} is outside of your files. There are /workspace, /peers and /contexts.`,
    );
  }
  if (name === undefined) return above(toMount.at);
  checkName(name);
  return place(toMount.named(name), rest);
}

const MOUNTS: ReadonlyMap<string, { at: AboveMounts; named: (name: string) => Mount }> = new Map([
  ["peers", { at: "/peers", named: (alias) => ({ kind: "peer", alias }) }],
  ["contexts", { at: "/contexts", named: (name) => ({ kind: "context", name }) }],
  ["attempts", { at: "/attempts", named: (number) => ({ kind: "attempt", number }) }],
]);

const above = (at: AboveMounts): Place => ({ mount: { kind: "above", at }, path: "" });

function place(mount: Mount, parts: readonly string[]): Place {
  return { mount, path: checkedPath(parts) };
}

/**
 * Parses a path inside a tree, from uploads, archives and manifests: relative, without `..`.
 * Removes `./` and doubled or final slashes and converts to NFC; a normalized path is unchanged.
 *
 * Throws `FileError` as `parsePath` does.
 */
export function relativePath(typed: string): string {
  const text = checkedText(typed);
  if (text.startsWith("/"))
    throw outside(`${visiblePath(text)} is absolute; paths here are relative.`);
  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw outside(`${visiblePath(text)} contains "..".`);
  if (parts.length === 0) throw invalid(`${visiblePath(text)} names no file.`);
  return checkedPath(parts);
}

/**
 * Whether no path leads to this place, because its name in the workspace leads to another mount.
 */
export function isShadowed({ mount, path }: Place): boolean {
  return mount.kind === "workspace" && RESERVED.has(path.split("/", 1)[0] ?? "");
}

/** The absolute path of a place. `parsePath` returns the same place, unless it is shadowed. */
export function formatPlace({ mount, path }: Place): string {
  const root = formatMount(mount);
  if (path === "") return root;
  return `${root}/${path}`;
}

function formatMount(mount: Mount): string {
  switch (mount.kind) {
    case "workspace":
      return "/workspace";
    case "peer":
      return `/peers/${mount.alias}`;
    case "context":
      return `/contexts/${mount.name}`;
    case "attempt":
      return `/attempts/${mount.number}`;
    case "above":
      return mount.at;
  }
}

/** A text for messages: invisible characters are escaped, long texts are cut. */
export function visiblePath(text: string): string {
  const most = 200;
  const cut = text.length > most ? `${text.slice(0, most)}…` : text;
  return cut.toWellFormed().replaceAll(EVERY_INVISIBLE, spelled);
}

/** The parent directory, relative to the same root; "" for the root. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** All parent directories, the nearest first, without the root. */
export function ancestorsOf(path: string): string[] {
  const ancestors: string[] = [];
  for (let parent = parentOf(path); parent !== ""; parent = parentOf(parent))
    ancestors.push(parent);
  return ancestors;
}

/** Joins two parts of a path; either may be the root, "". */
export const joinPath = (directory: string, name: string): string =>
  directory === "" || name === "" ? directory + name : `${directory}/${name}`;

function checkedText(typed: string): string {
  if (typed.length > PATH_LIMITS.typed)
    throw tooLong(`${visiblePath(typed)} is longer than a path may be.`);
  if (!typed.isWellFormed()) throw invalid(`${visiblePath(typed)} is no proper text.`);
  const text = typed.normalize("NFC");
  if (INVISIBLE.test(text))
    throw invalid(`${visiblePath(text)} contains a character that cannot be seen. Leave it out.`);
  if (text.includes("\\"))
    throw invalid(`${visiblePath(text)} contains a backslash. Write / between the names.`);
  const [first] = text.split("/", 1);
  if (first === "~")
    throw outside(
      `${visiblePath(text)}: there is no home directory. Your files are in /workspace.`,
    );
  if (first && /^[a-z]:$/i.test(first))
    throw outside(`${visiblePath(text)}: there are no drives. Your files are in /workspace.`);
  return text;
}

function resolveDots(absolute: string, text: string): string[] {
  const parts: string[] = [];
  for (const part of absolute.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) throw outside(`${visiblePath(text)} leads above the root.`);
  }
  return parts;
}

function checkedPath(parts: readonly string[]): string {
  const path = parts.join("/");
  if (parts.length > PATH_LIMITS.levels)
    throw tooLong(`${visiblePath(path)} has more than ${PATH_LIMITS.levels} levels.`);
  for (const part of parts) checkName(part);
  if (bytesOf(path) > PATH_LIMITS.pathBytes) {
    throw tooLong(`${visiblePath(path)} is longer than ${PATH_LIMITS.pathBytes} bytes.`);
  }
  return path;
}

function checkName(name: string): void {
  if (bytesOf(name) > PATH_LIMITS.nameBytes) {
    throw tooLong(`The name ${visiblePath(name)} is longer than ${PATH_LIMITS.nameBytes} bytes.`);
  }
  if (DEVICE.test(name))
    throw invalid(`The name ${name} means a device on some systems. Take another.`);
  if (/[. ]$/.test(name))
    throw invalid(
      `The name "${name}" ends in a dot or a space, which some systems drop. Take another.`,
    );
  if (name.includes(":"))
    throw invalid(
      `The name ${name} contains a colon: some systems take what is before it for the file.`,
    );
  if (GIT.test(name)) {
    throw invalid(
      `The name ${name} belongs to git: what lies there can run programs on a user's machine. Take another.`,
    );
  }
}
