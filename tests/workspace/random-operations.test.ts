import fc from "fast-check";
import { expect, it } from "vitest";
import type { Staged } from "../../src/workspace/agent-files";
import { hashOf } from "../../src/workspace/hash";
import { StagedFiles } from "../../src/workspace/staged-files";
import { applyChanges } from "../../src/workspace/tree";
import { FileError, type Tree } from "../../src/workspace/types";
import { type Limits, Model, ODD, Refused, type Rights } from "./model";

/** `FILE_OPERATIONS` sets how many operations are tried at least; what fails is shrunk and told with its seed. */
const OPERATIONS = Number(process.env["FILE_OPERATIONS"] ?? 10_000);
const AGENTS = ["agent1", "agent2", "agent3"];
/** By context, the agent that may write it. */
const WRITERS: Readonly<Record<string, number>> = { site: 0, vault: 1 };
const CALLS = { least: 12, most: 20 };
const OPERATIONS_OF_CALL = { least: 4, most: 7 };
const LIMITS: Limits = { fileBytes: 6, files: 5, treeBytes: 18 };
const CONTEXTS = {
  site: { "a/b": "site", "secret/c": "s", "b/k.key": "k" },
  vault: { Readme: "r", "a/gen/b": "g", "x.pem": "p", "keep.pem": "q" },
  docs: { a: "large text", "b/c": "d" },
};
const NAMES_OF_CONTEXTS = Object.keys(CONTEXTS);
/** What every round begins with. */
const BASE = { b: "B", "c/a": "C" };
/** A folder, a file and patterns; an exception, and another case. Files of these never change, whoever tries. */
const PROTECTED: Readonly<Record<string, readonly string[]>> = {
  site: ["secret/", "*.key"],
  vault: ["README", "gen", "*.pem", "!keep.pem"],
};
const UNTOUCHED = { site: { "secret/c": "s", "b/k.key": "k" }, vault: { Readme: "r", "a/gen/b": "g", "x.pem": "p" } };

const OFTEN = ["read", "write", "copy", "move", "remove"] as const;
const KINDS = [...OFTEN, ...OFTEN, "write", "move", "makeDirectory", "list", "walk", "walk", "stat", "exists"] as const;
type Operation = { kind: (typeof KINDS)[number]; path: string; to: string; text: string };
/** One tool call. `ends`: what was staged is kept, or lost; `then`: what the agent does next. */
type Call = { agent: number; operations: Operation[]; ends: "settled" | "lost"; then: "nothing" | "answers" | "round" };

/** Few names, so that operations meet; the workspace and the context that may be written more often than others. */
const PREFIXES = [
  ...["", "", "", "", "", "", "./", "/workspace/", "peers/agent1/", "/peers/agent2/", "/peers/agent9/"],
  ...["/contexts/site/", "/contexts/site/", "/contexts/site/", "/contexts/vault/", "/contexts/vault/", "/contexts/vault/"],
  ...["contexts/docs/", "/contexts/no/", "../", "/"],
];
const NAMES = ["a", "a", "a", "b", "b", "b", "a.b", "c", "..", "secret", "k.key", "gen", "x.pem", "X.Pem", "keep.pem", "README"];
const names = fc.array(fc.constantFrom(...NAMES), { minLength: 0, maxLength: 2 });
const anyPath = fc.oneof(
  { weight: 30, arbitrary: fc.tuple(fc.constantFrom(...PREFIXES), names).map(([prefix, parts]) => prefix + parts.join("/")) },
  { weight: 1, arbitrary: fc.constantFrom(...Object.keys(ODD)) },
);
/** Most are new, so that contents that were not kept are missed. */
const anyText = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom("", "x", "éé", "longer!") },
  { weight: 4, arbitrary: fc.string({ minLength: 1, maxLength: 6 }) },
);
const anyOperation: fc.Arbitrary<Operation> = fc.record({
  kind: fc.constantFrom(...KINDS),
  path: anyPath,
  to: anyPath,
  text: anyText,
});
const anyCall: fc.Arbitrary<Call> = fc.record({
  agent: fc.nat(AGENTS.length - 1),
  operations: fc.array(anyOperation, { minLength: OPERATIONS_OF_CALL.least, maxLength: OPERATIONS_OF_CALL.most }),
  ends: fc.constantFrom("settled", "settled", "settled", "lost"),
  then: fc.constantFrom("nothing", "nothing", "answers", "round"),
});

/** A team on the real code, with everything kept that a session would keep, beside one model for each agent. */
class Team {
  readonly #texts = new Map<string, string>();
  #base: Tree = new Map();
  readonly #agents = AGENTS.map(() => ({
    tree: this.#base,
    read: new Set<string>(),
    own: new Set<string>(),
    directories: new Set<string>(),
  }));
  readonly #contexts = new Map<string, Tree>();
  readonly #peers = new Map<string, Tree>();
  readonly #models: Model[] = [];
  attempted = 0;
  refused = 0;

  async begin(): Promise<void> {
    for (const [name, files] of Object.entries(CONTEXTS)) this.#contexts.set(name, new Map(await this.#entries(files)));
    this.#base = new Map(await this.#entries(BASE));
    for (const index of AGENTS.keys()) {
      this.#agent(index).tree = this.#base;
      const model = new Model(this.#rights(index));
      for (const [name, files] of Object.entries(CONTEXTS)) model.replace(`/contexts/${name}`, Object.entries(files));
      model.replace("/workspace", Object.entries(BASE));
      this.#models.push(model);
    }
  }

  async call({ agent, operations, ends, then }: Call): Promise<void> {
    const [files, before] = [this.#open(agent), this.#modelOf(agent)];
    const model = before.clone();
    const lines = new Set<string>();
    for (const operation of operations) {
      const [done, expected] = [await perform(files, operation), await perform(new Modelled(model, lines), operation)];
      expect({ operation, ...done }).toEqual({ operation, ...expected });
      this.attempted += 1;
      if (done.code !== null) this.refused += 1;
    }
    const told = files.accessed.map(({ operation, path, refused }) => `${operation} ${path} ${refused}`);
    expect(told.toSorted()).toEqual([...lines].sort());
    if (ends === "settled") {
      this.#settle(agent, files.staged());
      this.#models[agent] = model;
    }
    this.#next(agent, then);
    this.check();
  }

  /** Everything that is kept is as the models have it; whatever was not the agent's to change is as it was. */
  check(): void {
    for (const [index, { tree, directories }] of this.#agents.entries()) {
      const model = this.#modelOf(index);
      expect(this.#inWords(tree)).toEqual(model.in("/workspace"));
      const roots = [...NAMES_OF_CONTEXTS.map((name) => `/contexts/${name}`), "/workspace"];
      expect([...directories].sort()).toEqual(roots.flatMap((root) => model.emptyDirectories(root)).sort());
      for (const [alias, peer] of this.#peers) expect(this.#inWords(peer)).toEqual(model.in(`/peers/${alias}`));
      expect(model.in("/contexts/docs")).toEqual(CONTEXTS.docs);
    }
    for (const [name, untouched] of Object.entries(UNTOUCHED)) {
      const files = this.#inWords(this.#contexts.get(name) ?? new Map());
      expect(files).toEqual(this.#modelOf(WRITERS[name] ?? 0).in(`/contexts/${name}`));
      expect(files).toMatchObject(untouched);
    }
  }

  #rights(index: number): Rights {
    const contexts = new Map(NAMES_OF_CONTEXTS.map((name) => [name, { writable: WRITERS[name] === index }]));
    return { peers: new Set(this.#peers.keys()), contexts, limits: LIMITS };
  }

  #open(index: number): StagedFiles {
    const agent = this.#agent(index);
    const contexts = [...this.#contexts].map(
      ([name, tree]) => [name, { tree, writable: WRITERS[name] === index, protectedPaths: PROTECTED[name] ?? [] }] as const,
    );
    return new StagedFiles({
      workspace: agent.tree,
      peers: this.#peers,
      contexts: new Map(contexts),
      blobs: { read: async ({ hash }) => new TextEncoder().encode(this.#textOf(hash)) },
      read: agent.read,
      own: agent.own,
      directories: agent.directories,
      readBeforeDelete: true,
      limits: LIMITS,
    });
  }

  #settle(index: number, { workspace, contexts, blobs, read, own, foreign, directories }: Staged): void {
    const agent = this.#agent(index);
    for (const [hash, bytes] of blobs) this.#texts.set(hash, new TextDecoder().decode(bytes));
    agent.tree = applyChanges(agent.tree, workspace);
    for (const [name, changes] of contexts)
      this.#contexts.set(name, applyChanges(this.#contexts.get(name) ?? new Map(), changes));
    for (const path of foreign) for (const marks of [agent.read, agent.own]) marks.delete(path);
    for (const path of read) agent.read.add(path);
    for (const path of own) agent.own.add(path);
    agent.directories = new Set(directories);
    for (const [place, model] of this.#models.entries()) {
      for (const name of place === index ? [] : contexts.keys())
        model.replace(`/contexts/${name}`, Object.entries(this.#inWords(this.#contexts.get(name) ?? new Map())));
    }
  }

  #next(index: number, then: Call["then"]): void {
    const agent = this.#agent(index);
    if (then === "answers") this.#show(index);
    if (then !== "round") return;
    agent.tree = this.#base;
    for (const marks of [agent.read, agent.own, agent.directories]) marks.clear();
    const model = this.#modelOf(index);
    model.replace("/workspace", Object.entries(BASE));
    for (const name of NAMES_OF_CONTEXTS) model.replace(`/contexts/${name}`, Object.entries(model.in(`/contexts/${name}`)));
    model.known.clear();
  }

  /** Everybody sees the snapshot from now on. */
  #show(index: number): void {
    const alias = AGENTS[index] ?? "";
    const { tree } = this.#agent(index);
    this.#peers.set(alias, tree);
    for (const [place, model] of this.#models.entries()) {
      model.rights = this.#rights(place);
      model.replace(`/peers/${alias}`, Object.entries(this.#inWords(tree)));
    }
  }

  #agent(index: number) {
    const agent = this.#agents[index];
    if (!agent) throw new Error(`no agent ${index}`);
    return agent;
  }

  #modelOf(index: number): Model {
    const model = this.#models[index];
    if (!model) throw new Error(`no model ${index}`);
    return model;
  }

  async #entries(files: Record<string, string>) {
    return Promise.all(
      Object.entries(files).map(async ([path, text]) => {
        const bytes = new TextEncoder().encode(text);
        const hash = await hashOf(bytes);
        this.#texts.set(hash, text);
        return [path, { hash, size: bytes.byteLength }] as const;
      }),
    );
  }

  #textOf(hash: string): string {
    const text = this.#texts.get(hash);
    if (text === undefined) throw new Error(`nobody kept the contents ${hash}`);
    return text;
  }

  #inWords(tree: Tree): Record<string, string> {
    return Object.fromEntries([...tree].map(([path, { hash }]) => [path, this.#textOf(hash)]));
  }
}

/** The model, with the methods of the real thing, and the lines that each owes. */
class Modelled implements Actions {
  readonly #model: Model;
  readonly #lines: Set<string>;

  constructor(model: Model, lines: Set<string>) {
    this.#model = model;
    this.#lines = lines;
  }

  read = async (typed: string) => new TextEncoder().encode(this.#line("read", typed, (path) => this.#model.read(path)));
  write = async (typed: string, bytes: Uint8Array) =>
    this.#line("write", typed, (path) => this.#model.write(path, new TextDecoder().decode(bytes)));
  makeDirectory = (typed: string) => this.#line("write", typed, (path) => this.#model.makeDirectory(path));
  remove = (typed: string) => this.#line("delete", typed, (path) => this.#model.remove(path));
  copy = (from: string, to: string) => this.#transfer("copy", from, to);
  move = (from: string, to: string) => this.#transfer("move", from, to);

  list = (typed: string) =>
    this.#line("list", typed, (path) => {
      if (this.#kind(path) === "file") throw new Refused("not_a_directory");
      return this.#names(path).map((name) => ({ name }));
    });

  walk = (typed: string, limit: number) =>
    this.#line("list", typed, (path) => {
      this.#kind(path);
      const paths = this.#model.filesAt(path);
      return { paths: paths.slice(0, limit), more: paths.length > limit };
    });

  stat = (typed: string) => this.#glance(typed, (path) => ({ kind: this.#kind(path) }));

  exists = (typed: string) => {
    try {
      return this.#glance(typed, (path) => {
        this.#model.mayRead(path);
        return this.#model.files.has(path) || this.#model.isDirectory(path);
      });
    } catch (error) {
      if (error instanceof Refused) return false;
      throw error;
    }
  };

  #transfer(way: "copy" | "move", from: string, to: string): void {
    this.#line(way === "copy" ? "read" : "delete", from, (source) => {
      this.#model.mayLeave(way, source);
      this.#line("write", to, (target) => this.#model.transfer(way, source, target));
    });
  }

  #kind(path: string): "file" | "directory" {
    this.#model.mayRead(path);
    if (this.#model.files.has(path)) return "file";
    if (!this.#model.isDirectory(path)) throw new Refused("not_found");
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
    return this.#noted(operation, typed, act, (path) => path);
  }

  #glance<T>(typed: string, act: (path: string) => T): T {
    const directory = (path: string) =>
      /^\/(workspace|(peers|contexts)\/[^/]+)\//.test(path) ? path.slice(0, path.lastIndexOf("/")) : path;
    return this.#noted("list", typed, act, directory);
  }

  #noted<T>(operation: string, typed: string, act: (path: string) => T, where: (path: string) => string): T {
    let path = ODD[typed]?.shown ?? typed;
    try {
      path = this.#model.resolve(typed);
      const result = act(path);
      this.#lines.add(`${operation} ${where(path)} null`);
      return result;
    } catch (error) {
      if (error instanceof Refused) this.#lines.add(`${operation} ${path} ${error.code}`);
      throw error;
    }
  }
}

type Actions = {
  read(path: string): Promise<Uint8Array>;
  write(path: string, bytes: Uint8Array): Promise<void>;
  makeDirectory(path: string): void;
  remove(path: string): void;
  copy(from: string, to: string): void;
  move(from: string, to: string): void;
  list(path: string): { name: string }[];
  walk(path: string, limit: number): { paths: string[]; more: boolean };
  stat(path: string): { kind: string };
  exists(path: string): boolean;
};

/** What an operation answers, or the code it fails with. */
async function perform(files: Actions, operation: Operation): Promise<{ code: string | null; answer: unknown }> {
  try {
    return { code: null, answer: await answerOf(files, operation) };
  } catch (error) {
    if (error instanceof FileError || error instanceof Refused) return { code: error.code, answer: null };
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

it(`keeps agents apart and everything on record in ${OPERATIONS} random operations`, { timeout: 300_000 }, async () => {
  const counts = { attempted: 0, refused: 0 };
  const history = fc.array(anyCall, { minLength: CALLS.least, maxLength: CALLS.most });
  const property = fc.asyncProperty(history, async (calls) => {
    const team = new Team();
    await team.begin();
    for (const call of calls) await team.call(call);
    counts.attempted += team.attempted;
    counts.refused += team.refused;
  });
  await fc.assert(property, { numRuns: Math.ceil(OPERATIONS / (CALLS.least * OPERATIONS_OF_CALL.least)) });
  expect(counts.attempted).toBeGreaterThanOrEqual(OPERATIONS);
  // Both what is allowed and what is not was tried often.
  expect(counts.refused / counts.attempted).toBeGreaterThan(0.2);
  expect(counts.refused / counts.attempted).toBeLessThan(0.8);
});
