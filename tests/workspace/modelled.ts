import { FileError } from "../../src/workspace/types";
import { type Model, INVALID_PATHS, Refusal } from "./model";

/** Operations that occur more often: reads and changes. */
const FREQUENT = ["read", "write", "copy", "move", "remove"] as const;
export const KINDS = [
  ...FREQUENT,
  ...FREQUENT,
  "write",
  "move",
  "makeDirectory",
  "list",
  "walk",
  "walk",
  "stat",
  "exists",
] as const;
export type Operation = { kind: (typeof KINDS)[number]; path: string; to: string; text: string };

/**
 * The model with the interface of the implementation. Adds the lines of the audit trail to `lines`.
 */
export class ModelActions implements Actions {
  readonly #model: Model;
  readonly #lines: Set<string>;

  constructor(model: Model, lines: Set<string>) {
    this.#model = model;
    this.#lines = lines;
  }

  read = async (typed: string) =>
    new TextEncoder().encode(this.#line("read", typed, (path) => this.#model.read(path)));
  write = async (typed: string, bytes: Uint8Array) =>
    this.#line("write", typed, (path) => this.#model.write(path, new TextDecoder().decode(bytes)));
  makeDirectory = (typed: string) =>
    this.#line("write", typed, (path) => this.#model.makeDirectory(path));
  remove = (typed: string) => this.#line("delete", typed, (path) => this.#model.remove(path));
  copy = (from: string, to: string) => this.#transfer("copy", from, to);
  move = (from: string, to: string) => this.#transfer("move", from, to);

  list = (typed: string) =>
    this.#line("list", typed, (path) => {
      if (this.#kind(path) === "file") throw new Refusal("not_a_directory");
      return this.#names(path).map((name) => ({ name }));
    });

  walk = (typed: string, limit: number) =>
    this.#line("list", typed, (path) => {
      this.#kind(path);
      const paths = this.#model.filesAt(path);
      return { paths: paths.slice(0, limit), more: paths.length > limit };
    });

  stat = (typed: string) => this.#asListing(typed, (path) => ({ kind: this.#kind(path) }));

  exists = (typed: string) => {
    try {
      return this.#asListing(typed, (path) => {
        this.#model.checkRead(path);
        return this.#model.files.has(path) || this.#model.isDirectory(path);
      });
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  };

  #transfer(kind: "copy" | "move", from: string, to: string): void {
    this.#line(kind === "copy" ? "read" : "delete", from, (source) => {
      this.#model.checkSource(kind, source);
      this.#line("write", to, (target) => this.#model.transfer(kind, source, target));
    });
  }

  #kind(path: string): "file" | "directory" {
    this.#model.checkRead(path);
    if (this.#model.files.has(path)) return "file";
    if (!this.#model.isDirectory(path)) throw new Refusal("not_found");
    return "directory";
  }

  #names(path: string): string[] {
    const { peers, contexts } = this.#model.rights;
    if (path === "/") return ["contexts", "peers", "workspace"];
    if (path === "/peers") return [...peers].sort();
    if (path === "/contexts") return [...contexts.keys()].sort();
    return this.#model.children(path);
  }

  #line<T>(operation: string, typed: string, act: (path: string) => T): T {
    return this.#record(operation, typed, act, (path) => path);
  }

  #asListing<T>(typed: string, act: (path: string) => T): T {
    const parent = (path: string) =>
      /^\/(workspace|(peers|contexts)\/[^/]+)\//.test(path)
        ? path.slice(0, path.lastIndexOf("/"))
        : path;
    return this.#record("list", typed, act, parent);
  }

  #record<T>(
    operation: string,
    typed: string,
    act: (path: string) => T,
    recordedPath: (path: string) => string,
  ): T {
    let path = INVALID_PATHS[typed]?.shown ?? typed;
    try {
      path = this.#model.resolve(typed);
      const result = act(path);
      this.#lines.add(`${operation} ${recordedPath(path)} null`);
      return result;
    } catch (error) {
      if (error instanceof Refusal) this.#lines.add(`${operation} ${path} ${error.code}`);
      throw error;
    }
  }
}

type WalkResult = { paths: string[]; more: boolean };
export type Actions = {
  read(path: string): Promise<Uint8Array>;
  write(path: string, bytes: Uint8Array): Promise<void>;
  makeDirectory(path: string): void;
  remove(path: string): void;
  copy(from: string, to: string): void;
  move(from: string, to: string): void;
  list(path: string): { name: string }[];
  walk(path: string, limit: number): WalkResult | Promise<WalkResult>;
  stat(path: string): { kind: string };
  exists(path: string): boolean;
};

/** Performs an operation. Returns its result, or the code of its error. */
export async function perform(
  files: Actions,
  operation: Operation,
): Promise<{ code: string | null; answer: unknown }> {
  try {
    return { code: null, answer: await answerOf(files, operation) };
  } catch (error) {
    if (error instanceof FileError || error instanceof Refusal)
      return { code: error.code, answer: null };
    throw error;
  }
}

async function answerOf(files: Actions, { kind, path, to, text }: Operation): Promise<unknown> {
  switch (kind) {
    case "read":
      return new TextDecoder().decode(await files.read(path));
    case "write":
      return files.write(path, new TextEncoder().encode(text));
    case "copy":
    case "move":
      return files[kind](path, to);
    case "list":
      return files.list(path).map(({ name }) => name);
    case "walk":
      return files.walk(path, 4);
    case "stat":
      return files.stat(path).kind;
    default:
      return files[kind](path);
  }
}
