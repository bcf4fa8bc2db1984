/**
 * A minimal model of an agent's files: texts by absolute path, a set of directories, a set of read
 * paths. It shares no code with the implementation that it is compared to, and ignores speed.
 */
export type Limits = { fileBytes: number; files: number; treeBytes: number };

/**
 * The result of an operation: its error code or `null`, and the lines that it adds to the audit
 * trail.
 */
export type Outcome = { code: string | null; lines: string[] };

/** A refusal inside the model. */
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

/** Invalid paths and their error codes. */
export const ODD: Readonly<Record<string, { code: string; shown: string }>> = {
  "/etc/passwd": { code: "path_outside", shown: "/etc/passwd" },
  "../../x": { code: "path_outside", shown: "../../x" },
  "a\\b": { code: "path_invalid", shown: "a\\b" },
  "a\0b": { code: "path_invalid", shown: "a\\u{0}b" },
  con: { code: "path_invalid", shown: "con" },
  "b/.git/config": { code: "path_invalid", shown: "b/.git/config" },
};

const up = (path: string): string => path.slice(0, path.lastIndexOf("/"));
const isIn = (path: string, directory: string): boolean => path.startsWith(`${directory}/`);
const isProtected = (path: string): boolean =>
  (isIn(path, "/contexts/site") && /\/secret(\/|$)|\.key(\/|$)/.test(path)) ||
  (isIn(path, "/contexts/vault") &&
    path.split("/").some((name) => /^readme$|^gen$|^(?!keep\.pem$).*\.pem$/i.test(name)));
const bytes = (text: string): number => Buffer.byteLength(text);
const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);

/** `/workspace`, `/peers/agent1`, `/contexts/site`; `null` for directories above them. */
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

  /** Replaces all contents of a root. */
  replace(root: string, files: Iterable<[string, string]>): void {
    for (const path of [...this.files.keys()]) if (isIn(path, root)) this.files.delete(path);
    for (const path of [...this.directories]) if (isIn(path, root)) this.directories.delete(path);
    for (const [path, text] of files) this.put(`${root}/${path}`, text);
  }

  in(root: string): Record<string, string> {
    const inside = [...this.files]
      .filter(([path]) => isIn(path, root))
      .map(([path, text]) => [path.slice(root.length + 1), text]);
    return Object.fromEntries(inside);
  }

  resolve(typed: string): string {
    const odd = ODD[typed];
    if (odd) throw new Refusal(odd.code);
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

  mayRead(path: string): void {
    const [, top, name] = path.split("/");
    if (top === "peers" && name !== undefined && !this.rights.peers.has(name))
      throw new Refusal("unknown_place");
    if (top === "contexts" && name !== undefined && !this.rights.contexts.has(name))
      throw new Refusal("unknown_place");
  }

  mayWrite(path: string): void {
    this.mayRead(path);
    const [, top, name] = path.split("/");
    if (rootOf(path) === null || top === "peers") throw new Refusal("read_only");
    if (top === "contexts" && !this.rights.contexts.get(name ?? "")?.writable)
      throw new Refusal("read_only");
    if (isProtected(path)) throw new Refusal("protected");
  }

  read(path: string): string {
    this.mayRead(path);
    const text = this.files.get(path);
    if (text === undefined)
      throw new Refusal(this.isDirectory(path) ? "is_directory" : "not_found");
    this.known.add(path);
    return text;
  }

  write(path: string, text: string): void {
    this.mayWrite(path);
    if (bytes(text) > this.rights.limits.fileBytes) throw new Refusal("file_too_large");
    this.fileFits(path);
    this.room(path, [[path, text]], { leaving: [] });
    this.put(path, text);
    this.known.add(path);
  }

  makeDirectory(path: string): void {
    this.mayWrite(path);
    this.directoryFits(path);
    if (this.isDirectory(path)) return;
    this.room(path, [], { leaving: [], directories: [path] });
    this.putDirectory(path);
  }

  remove(path: string): void {
    this.mayWrite(path);
    if (path === rootOf(path)) throw new Refusal("is_root");
    if (!this.files.has(path) && !this.isDirectory(path)) throw new Refusal("not_found");
    for (const file of this.filesAt(path)) {
      this.mayWrite(file);
      if (!this.known.has(file)) throw new Refusal("not_read");
    }
    for (const directory of this.directoriesAt(path)) this.mayWrite(directory);
    this.drop(path);
  }

  /** The checks of a copy or move on its source. */
  mayLeave(way: "copy" | "move", from: string): void {
    if (way === "copy") this.mayRead(from);
    else this.mayWrite(from);
    if (rootOf(from) === null) throw new Refusal("is_directory");
    if (!this.files.has(from) && !this.isDirectory(from)) throw new Refusal("not_found");
  }

  transfer(way: "copy" | "move", from: string, to: string): void {
    this.mayWrite(to);
    if (from === to) return;
    if (way === "move" && from === rootOf(from)) throw new Refusal("is_root");
    const isFile = this.files.has(from);
    if (!isFile && isIn(to, from)) throw new Refusal("into_itself");
    if (!isFile && way === "move" && this.isFull(to)) throw new Refusal("exists");
    const texts = this.filesAt(from).map((path): [string, string] => [
      to + path.slice(from.length),
      this.files.get(path) ?? "",
    ]);
    const directories = this.directoriesAt(from).map((path) => to + path.slice(from.length));
    for (const [path] of texts) this.fileFits(path);
    for (const path of directories) this.directoryFits(path);
    for (const path of [...texts.map(([path]) => path), ...directories]) this.mayWrite(path);
    if (way === "move") this.mayTakeAway(from, to);
    const leaving =
      way === "move" && rootOf(from) === rootOf(to) ? texts.map(([, text]) => text) : [];
    const gone = way === "move" && !isFile && rootOf(from) === rootOf(to) ? directories.length : 0;
    this.room(to, texts, {
      leaving,
      directories: directories.filter((path) => path !== rootOf(path)),
      gone,
    });
    for (const [path, text] of texts) {
      const knew = way === "copy" || this.known.has(from + path.slice(to.length));
      this.put(path, text);
      if (knew) this.known.add(path);
      else this.known.delete(path);
    }
    for (const path of directories) this.putDirectory(path);
    if (way === "move") this.drop(from);
  }

  /** A file that leaves its root, or its extracted part, counts as deleted there. */
  private mayTakeAway(from: string, to: string): void {
    const isKept = (path: string): boolean => !isIn(path, "/workspace/.tool_results");
    for (const path of this.filesAt(from)) {
      this.mayWrite(path);
      const stays =
        rootOf(from) === rootOf(to) && (isKept(to + path.slice(from.length)) || !isKept(path));
      if (!stays && !this.known.has(path)) throw new Refusal("not_read");
    }
    for (const path of this.directoriesAt(from)) this.mayWrite(path);
  }

  /** Files at or below a path, in the order of whole paths. */
  filesAt(path: string): string[] {
    return [...this.files.keys()]
      .filter((file) => file === path || isIn(file, path === "/" ? "" : path))
      .sort();
  }

  directoriesAt(path: string): string[] {
    return this.files.has(path)
      ? []
      : [path, ...[...this.directories].filter((one) => isIn(one, path))];
  }

  children(path: string): string[] {
    const everything = [...this.files.keys(), ...this.directories];
    return [
      ...new Set(
        everything.filter((one) => up(one) === path).map((one) => one.slice(path.length + 1)),
      ),
    ].sort();
  }

  private isFull(path: string): boolean {
    return this.children(path).length > 0;
  }

  private fileFits(path: string): void {
    if (this.isDirectory(path)) throw new Refusal("is_directory");
    this.joinedFits(path);
    if (this.fileAbove(path)) throw new Refusal("not_a_directory");
  }

  private directoryFits(path: string): void {
    if (path === rootOf(path)) return;
    this.joinedFits(path);
    if (this.files.has(path) || this.fileAbove(path)) throw new Refusal("not_a_directory");
  }

  private joinedFits(path: string): void {
    const inside = path.slice((rootOf(path) ?? "").length + 1);
    if (inside.split("/").length > 40) throw new Refusal("path_too_long");
    if (/^\/workspace\/(?:peers|contexts)(?:\/|$)/.test(path)) throw new Refusal("reserved_name");
  }

  private fileAbove(path: string): boolean {
    return [...this.files.keys()].some((file) => isIn(path, file));
  }

  private room(
    at: string,
    texts: [string, string][],
    {
      leaving,
      directories = [],
      gone = 0,
    }: { leaving: string[]; directories?: string[]; gone?: number },
  ): void {
    const { limits } = this.rights;
    const root = rootOf(at) ?? "";
    if (texts.some(([, text]) => bytes(text) > limits.fileBytes))
      throw new Refusal("file_too_large");
    const now = this.filesAt(root);
    const held = sum(now.map((path) => bytes(this.files.get(path) ?? "")));
    const added = texts.filter(([path]) => !this.files.has(path)).length - leaving.length;
    const more =
      sum(texts.map(([path, text]) => bytes(text) - bytes(this.files.get(path) ?? ""))) -
      sum(leaving.map(bytes));
    if (added > 0 && now.length + added > limits.files) throw new Refusal("too_many_files");
    if (more > 0 && held + more > limits.treeBytes) throw new Refusal("tree_too_large");
    const after = new Set([...this.directories].filter((path) => isIn(path, root)));
    const before = after.size;
    for (const path of [...directories, ...texts.map(([file]) => up(file))])
      for (let one = path; isIn(one, root); one = up(one)) after.add(one);
    if (after.size - gone > before && after.size - gone > limits.files)
      throw new Refusal("too_many_files");
  }

  emptyDirectories(root: string): string[] {
    return [...this.directories]
      .filter((path) => isIn(path, root) && this.filesAt(path).length === 0)
      .sort();
  }

  private put(path: string, text: string): void {
    this.files.set(path, text);
    this.putDirectory(up(path));
  }

  putDirectory(path: string): void {
    for (let one = path; one !== (rootOf(path) ?? "") && one !== ""; one = up(one))
      this.directories.add(one);
  }

  private drop(path: string): void {
    for (const file of this.filesAt(path)) this.files.delete(file);
    for (const directory of [...this.directories])
      if (directory === path || isIn(directory, path)) this.directories.delete(directory);
  }
}
