import { INVISIBLE, spelled } from "../protocol/invisible";
import { type AboveMounts, FileError, type Mount, type Place } from "./types";

/**
 * Parses paths from agents, archives and uploads. Paths are literal: nothing is decoded, so `%2e`
 * is three characters. Paths are converted to Unicode NFC once, here. Afterwards, two paths are
 * equal if their texts are equal. Case matters.
 *
 * Some file systems treat some names as a device or as another name. Such names are refused, so
 * that files have the same names on every system.
 */
export const PATH_LIMITS = {
  /** Maximum UTF-8 bytes of one name. */
  nameBytes: 255,
  /** Maximum UTF-8 bytes of a path, relative to its mount. */
  pathBytes: 1_024,
  /** Maximum number of names in a path, relative to its mount. */
  levels: 40,
  /** Maximum UTF-16 code units of a path as the model writes it, before `..` is resolved. */
  typed: 8_192,
} as const;

/** Paths such as `/workspace/peers` lead to the mount of the same name, here `/peers`. */
const MOUNTS_IN_WORKSPACE = new Set(["peers", "contexts"]);
/** The directory of an earlier turn's contexts, below the turn's directory. */
export const CONTEXTS = "contexts";

const EVERY_INVISIBLE = new RegExp(INVISIBLE, "gu");
/** Device names on Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(?:\.|$)/i;
/** The directory of Git, also under its short names on Windows. */
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
 * Throws `FileError`: `path_invalid`, `path_too_long`, or `path_outside` if the path is in no
 * mount.
 */
export function parsePath(typed: string): Place {
  const text = checkedText(typed);
  const parts = resolveDots(text.startsWith("/") ? text : `/workspace/${text}`, text);
  const [top, second] = parts;
  if (top === undefined) return placeAbove("/");
  if (top === "workspace") {
    return second !== undefined && MOUNTS_IN_WORKSPACE.has(second)
      ? placeBelow(parts.slice(1), text)
      : placeIn({ kind: "workspace" }, parts.slice(1));
  }
  return placeBelow(parts, text);
}

function placeBelow([top, name, ...rest]: string[], text: string): Place {
  const mountType = top === undefined ? undefined : MOUNTS.get(top);
  if (!mountType) {
    throw outside(
      `${visiblePath(text)} is outside of your files. There are /workspace, /peers, /contexts and /turns.`,
    );
  }
  if (name === undefined) return placeAbove(mountType.at);
  checkName(name);
  return mountType.at === "/turns" ? placeInTurn(name, rest) : placeIn(mountType.mount(name), rest);
}

/** A place in an earlier turn: in its result, or in its state of a context. */
function placeInTurn(turn: string, [top, context, ...rest]: string[]): Place {
  if (top !== CONTEXTS) {
    const parts = [top, context, ...rest].filter((part) => part !== undefined);
    return placeIn({ kind: "turn", turn, context: null }, parts);
  }
  if (context === undefined) return placeAbove(`/turns/${turn}/${CONTEXTS}`);
  checkName(context);
  return placeIn({ kind: "turn", turn, context }, rest);
}

const MOUNTS: ReadonlyMap<string, { at: AboveMounts; mount: (name: string) => Mount }> = new Map([
  ["peers", { at: "/peers", mount: (alias) => ({ kind: "peer", alias }) }],
  ["contexts", { at: "/contexts", mount: (name) => ({ kind: "context", name }) }],
  ["attempts", { at: "/attempts", mount: (number) => ({ kind: "attempt", number }) }],
  ["turns", { at: "/turns", mount: (turn) => ({ kind: "turn", turn, context: null }) }],
]);

/** A parent directory of mounts. */
const placeAbove = (at: AboveMounts): Place => ({ mount: { kind: "above", at }, path: "" });

function placeIn(mount: Mount, parts: readonly string[]): Place {
  return { mount, path: checkedPath(parts) };
}

/**
 * Parses a path inside a tree, from uploads, archives and manifests. The path must be relative,
 * without `..`. Removes `./` and doubled or final slashes, and converts to NFC.
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
 * Whether a place is unreachable, because its path leads to another mount. Examples: a file
 * `peers/a` of the workspace, a file `contexts/a` of an earlier turn's result.
 */
export function isShadowed({ mount, path }: Place): boolean {
  const [top = ""] = path.split("/", 1);
  if (mount.kind === "workspace") return MOUNTS_IN_WORKSPACE.has(top);
  return mount.kind === "turn" && mount.context === null && top === CONTEXTS;
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
    case "turn":
      return mount.context === null
        ? `/turns/${mount.turn}`
        : `/turns/${mount.turn}/${CONTEXTS}/${mount.context}`;
    case "above":
      return mount.at;
  }
}

/** A path for messages. Invisible characters are escaped, and a long path is cut. */
export function visiblePath(text: string): string {
  const maxLength = 200;
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return cut.toWellFormed().replaceAll(EVERY_INVISIBLE, spelled);
}

/** The parent directory, relative to the same root; "" for the root. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** All parent directories without the root. The nearest parent is first. */
export function ancestorsOf(path: string): string[] {
  const ancestors: string[] = [];
  for (let parent = parentOf(path); parent !== ""; parent = parentOf(parent))
    ancestors.push(parent);
  return ancestors;
}

/** Joins two parts of a path. Each part may be "", the root. */
export const joinPath = (directory: string, name: string): string =>
  directory === "" || name === "" ? directory + name : `${directory}/${name}`;

/** The text of a path in NFC. Throws `FileError` for texts that cannot be a path. */
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

/** The parts of an absolute path after `.` and `..` are resolved. `text` is for the error. */
function resolveDots(absolute: string, text: string): string[] {
  const parts: string[] = [];
  for (const part of absolute.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) throw outside(`${visiblePath(text)} leads above the root.`);
  }
  return parts;
}

/** Joins the parts of a path. Throws `FileError` if the path or a name is not allowed. */
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
      `The name ${name} belongs to git: files there can run programs on a user's machine. Take another.`,
    );
  }
}
