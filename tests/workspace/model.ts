/**
 * A minimal model of an agent's files: texts by absolute path, a set of directories, and a set of
 * paths that the agent knows. It shares no code with the implementation, with which it is compared.
 */
export type Limits = { fileBytes: number; files: number; treeBytes: number };

/**
 * The result of an operation: its error code or `null`, and the lines that it adds to the audit
 * trail.
 */
export type Outcome = { code: string | null; lines: string[] };

/** An error of the model. `code` is the expected error code of the implementation. */
export class Refusal extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

export type Rights = {
  peers: ReadonlySet<string>;
  contexts: ReadonlyMap<string, { writable: boolean }>;
  limits: Limits;
};

/** Invalid paths with their error codes. `shown`: the path in the audit trail. */
export const INVALID_PATHS: Readonly<Record<string, { code: string; shown: string }>> = {
  "/etc/passwd": { code: "path_outside", shown: "/etc/passwd" },
  "../../x": { code: "path_outside", shown: "../../x" },
  "a\\b": { code: "path_invalid", shown: "a\\b" },
  "a\0b": { code: "path_invalid", shown: "a\\u{0}b" },
  con: { code: "path_invalid", shown: "con" },
  "b/.git/config": { code: "path_invalid", shown: "b/.git/config" },
};

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/"));
const isIn = (path: string, directory: string): boolean => path.startsWith(`${directory}/`);
const isProtected = (path: string): boolean =>
  (isIn(path, "/contexts/site") && /\/secret(\/|$)|\.key(\/|$)/.test(path)) ||
  (isIn(path, "/contexts/vault") &&
    path.split("/").some((name) => /^readme$|^gen$|^(?!keep\.pem$).*\.pem$/i.test(name)));
const bytes = (text: string): number => Buffer.byteLength(text);
const sum = (numbers: number[]): number => numbers.reduce((total, value) => total + value, 0);

/** The mount of a path, such as `/peers/agent1`; `null` for the directories above mounts. */
function rootOf(path: string): string | null {
  const [, top, name] = path.split("/");
  if (top === "workspace") return "/workspace";
  return name === undefined ? null : `/${top}/${name}`;
}

export class Model {
  files = new Map<string, string>();
  directories = new Set<string>();
  known = new Set<string>();
  rights: Rights;

  constructor(rights: Rights) {
    this.rights = rights;
  }

  clone(): Model {
    const copy = new Model(this.rights);
    copy.files = new Map(this.files);
    copy.directories = new Set(this.directories);
    copy.known = new Set(this.known);
    return copy;
  }

  /** Replaces all files and directories of a mount. */
  replace(root: string, files: Iterable<[string, string]>): void {
    for (const path of [...this.files.keys()]) if (isIn(path, root)) this.files.delete(path);
    for (const path of [...this.directories]) if (isIn(path, root)) this.directories.delete(path);
    for (const [path, text] of files) this.put(`${root}/${path}`, text);
  }

  filesIn(root: string): Record<string, string> {
    const inside = [...this.files]
      .filter(([path]) => isIn(path, root))
      .map(([path, text]) => [path.slice(root.length + 1), text]);
    return Object.fromEntries(inside);
  }

  resolve(typed: string): string {
    const invalid = INVALID_PATHS[typed];
    if (invalid) throw new Refusal(invalid.code);
    const stack: string[] = [];
    for (const part of (typed.startsWith("/") ? typed : `/workspace/${typed}`).split("/")) {
      if (part === "..") {
        if (stack.length === 0) throw new Refusal("path_outside");
        stack.pop();
      } else if (part !== "" && part !== ".") stack.push(part);
    }
    if (stack[0] === "workspace" && (stack[1] === "peers" || stack[1] === "contexts"))
      stack.shift();
    if (stack.length > 0 && !["workspace", "peers", "contexts"].includes(stack[0] ?? ""))
      throw new Refusal("path_outside");
    return `/${stack.join("/")}`;
  }

  isDirectory(path: string): boolean {
    const root = rootOf(path);
    return root === null || path === root || this.directories.has(path);
  }

  checkRead(path: string): void {
    const [, top, name] = path.split("/");
    if (top === "peers" && name !== undefined && !this.rights.peers.has(name))
      throw new Refusal("unknown_place");
    if (top === "contexts" && name !== undefined && !this.rights.contexts.has(name))
      throw new Refusal("unknown_place");
  }

  checkWrite(path: string): void {
    this.checkRead(path);
    const [, top, name] = path.split("/");
    if (rootOf(path) === null || top === "peers") throw new Refusal("read_only");
    if (top === "contexts" && !this.rights.contexts.get(name ?? "")?.writable)
      throw new Refusal("read_only");
    if (isProtected(path)) throw new Refusal("protected");
  }

  read(path: string): string {
    this.checkRead(path);
    const text = this.files.get(path);
    if (text === undefined)
      throw new Refusal(this.isDirectory(path) ? "is_directory" : "not_found");
    this.known.add(path);
    return text;
  }

  write(path: string, text: string): void {
    this.checkWrite(path);
    if (bytes(text) > this.rights.limits.fileBytes) throw new Refusal("file_too_large");
    this.checkFile(path);
    this.checkLimits(path, [[path, text]], { leaving: [] });
    this.put(path, text);
    this.known.add(path);
  }

  makeDirectory(path: string): void {
    this.checkWrite(path);
    this.checkDirectory(path);
    if (this.isDirectory(path)) return;
    this.checkLimits(path, [], { leaving: [], directories: [path] });
    this.putDirectory(path);
  }

  remove(path: string): void {
    this.checkWrite(path);
    if (path === rootOf(path)) throw new Refusal("is_root");
    if (!this.files.has(path) && !this.isDirectory(path)) throw new Refusal("not_found");
    for (const file of this.filesAt(path)) {
      this.checkWrite(file);
      if (!this.known.has(file)) throw new Refusal("not_read");
    }
    for (const directory of this.directoriesAt(path)) this.checkWrite(directory);
    this.drop(path);
  }

  /** Checks the source of a copy or move. */
  checkSource(kind: "copy" | "move", from: string): void {
    if (kind === "copy") this.checkRead(from);
    else this.checkWrite(from);
    if (rootOf(from) === null) throw new Refusal("is_directory");
    if (!this.files.has(from) && !this.isDirectory(from)) throw new Refusal("not_found");
  }

  transfer(kind: "copy" | "move", from: string, to: string): void {
    this.checkWrite(to);
    if (from === to) return;
    if (kind === "move" && from === rootOf(from)) throw new Refusal("is_root");
    const isFile = this.files.has(from);
    if (!isFile && isIn(to, from)) throw new Refusal("into_itself");
    if (!isFile && kind === "move" && this.isFull(to)) throw new Refusal("exists");
    const texts = this.filesAt(from).map((path): [string, string] => [
      to + path.slice(from.length),
      this.files.get(path) ?? "",
    ]);
    const directories = this.directoriesAt(from).map((path) => to + path.slice(from.length));
    for (const [path] of texts) this.checkFile(path);
    for (const path of directories) this.checkDirectory(path);
    for (const path of [...texts.map(([path]) => path), ...directories]) this.checkWrite(path);
    if (kind === "move") this.checkLeaving(from, to);
    const leaving =
      kind === "move" && rootOf(from) === rootOf(to) ? texts.map(([, text]) => text) : [];
    const leavingDirectories =
      kind === "move" && !isFile && rootOf(from) === rootOf(to) ? directories.length : 0;
    this.checkLimits(to, texts, {
      leaving,
      directories: directories.filter((path) => path !== rootOf(path)),
      leavingDirectories,
    });
    for (const [path, text] of texts) {
      const isKnown = kind === "copy" || this.known.has(from + path.slice(to.length));
      this.put(path, text);
      if (isKnown) this.known.add(path);
      else this.known.delete(path);
    }
    for (const path of directories) this.putDirectory(path);
    if (kind === "move") this.drop(from);
  }

  /** A file that leaves its mount, or the part that belongs to answers, must be known. */
  private checkLeaving(from: string, to: string): void {
    const isPartOfAnswers = (path: string): boolean => !isIn(path, "/workspace/.tool_results");
    for (const path of this.filesAt(from)) {
      this.checkWrite(path);
      const stays =
        rootOf(from) === rootOf(to) &&
        (isPartOfAnswers(to + path.slice(from.length)) || !isPartOfAnswers(path));
      if (!stays && !this.known.has(path)) throw new Refusal("not_read");
    }
    for (const path of this.directoriesAt(from)) this.checkWrite(path);
  }

  /** Files at or below a path, sorted by their whole paths. */
  filesAt(path: string): string[] {
    return [...this.files.keys()]
      .filter((file) => file === path || isIn(file, path === "/" ? "" : path))
      .sort();
  }

  directoriesAt(path: string): string[] {
    return this.files.has(path)
      ? []
      : [path, ...[...this.directories].filter((directory) => isIn(directory, path))];
  }

  children(path: string): string[] {
    const everything = [...this.files.keys(), ...this.directories];
    return [
      ...new Set(
        everything
          .filter((child) => parentOf(child) === path)
          .map((child) => child.slice(path.length + 1)),
      ),
    ].sort();
  }

  private isFull(path: string): boolean {
    return this.children(path).length > 0;
  }

  private checkFile(path: string): void {
    if (this.isDirectory(path)) throw new Refusal("is_directory");
    this.checkPath(path);
    if (this.fileAbove(path)) throw new Refusal("not_a_directory");
  }

  private checkDirectory(path: string): void {
    if (path === rootOf(path)) return;
    this.checkPath(path);
    if (this.files.has(path) || this.fileAbove(path)) throw new Refusal("not_a_directory");
  }

  private checkPath(path: string): void {
    const inside = path.slice((rootOf(path) ?? "").length + 1);
    if (inside.split("/").length > 40) throw new Refusal("path_too_long");
    if (/^\/workspace\/(?:peers|contexts)(?:\/|$)/.test(path)) throw new Refusal("reserved_name");
  }

  private fileAbove(path: string): boolean {
    return [...this.files.keys()].some((file) => isIn(path, file));
  }

  /** Checks the limits of the mount of `path`. */
  private checkLimits(
    path: string,
    texts: [string, string][],
    {
      leaving,
      directories = [],
      leavingDirectories = 0,
    }: { leaving: string[]; directories?: string[]; leavingDirectories?: number },
  ): void {
    const { limits } = this.rights;
    const root = rootOf(path) ?? "";
    if (texts.some(([, text]) => bytes(text) > limits.fileBytes))
      throw new Refusal("file_too_large");
    const existing = this.filesAt(root);
    const existingBytes = sum(existing.map((file) => bytes(this.files.get(file) ?? "")));
    const addedFiles = texts.filter(([path]) => !this.files.has(path)).length - leaving.length;
    const addedBytes =
      sum(texts.map(([path, text]) => bytes(text) - bytes(this.files.get(path) ?? ""))) -
      sum(leaving.map(bytes));
    if (addedFiles > 0 && existing.length + addedFiles > limits.files)
      throw new Refusal("too_many_files");
    if (addedBytes > 0 && existingBytes + addedBytes > limits.treeBytes)
      throw new Refusal("tree_too_large");
    const after = new Set([...this.directories].filter((path) => isIn(path, root)));
    const before = after.size;
    for (const created of [...directories, ...texts.map(([file]) => parentOf(file))])
      for (let directory = created; isIn(directory, root); directory = parentOf(directory))
        after.add(directory);
    const remaining = after.size - leavingDirectories;
    if (remaining > before && remaining > limits.files) throw new Refusal("too_many_files");
  }

  emptyDirectories(root: string): string[] {
    return [...this.directories]
      .filter((path) => isIn(path, root) && this.filesAt(path).length === 0)
      .sort();
  }

  private put(path: string, text: string): void {
    this.files.set(path, text);
    this.putDirectory(parentOf(path));
  }

  putDirectory(path: string): void {
    const root = rootOf(path) ?? "";
    let directory = path;
    while (directory !== root && directory !== "") {
      this.directories.add(directory);
      directory = parentOf(directory);
    }
  }

  private drop(path: string): void {
    for (const file of this.filesAt(path)) this.files.delete(file);
    for (const directory of [...this.directories])
      if (directory === path || isIn(directory, path)) this.directories.delete(directory);
  }
}
