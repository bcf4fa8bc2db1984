import fc from "fast-check";
import { expect, it } from "vitest";
import { countOf } from "../../proof/counts";
import { StagedFiles } from "../../src/workspace/staged-files";
import type { Tree } from "../../src/workspace/types";
import { KeptFiles } from "./kept-files";
import { type Limits, Model, INVALID_PATHS, type Rights } from "./model";
import { KINDS, ModelActions, type Operation, perform } from "./modelled";

/**
 * `FILE_OPERATIONS` sets the minimum number of operations. A failure is shrunk and reported with
 * its seed.
 */
const OPERATIONS = Number(process.env["FILE_OPERATIONS"] ?? countOf("file_operations"));
const AGENTS = ["agent1", "agent2", "agent3"];
/** The agent that may write each context. */
const WRITERS: Readonly<Record<string, number>> = { site: 0, vault: 1 };
const CALLS = { min: 12, max: 20 };
const OPERATIONS_OF_CALL = { min: 4, max: 7 };
const LIMITS: Limits = { fileBytes: 6, files: 5, treeBytes: 18 };
const CONTEXTS = {
  site: { "a/b": "site", "secret/c": "s", "b/k.key": "k" },
  vault: { Readme: "r", "a/gen/b": "g", "x.pem": "p", "keep.pem": "q" },
  docs: { a: "large text", "b/c": "d" },
  kit: { b: "k", "contexts/a": "c" },
};
const CONTEXT_NAMES = Object.keys(CONTEXTS);
/** The start of every round: the result of the previous turn. */
const BASE = { b: "B", "c/a": "C" };
/**
 * The protected paths of each context: a folder, a file, patterns, an exclusion, and a name in
 * another case.
 */
const PROTECTED: Readonly<Record<string, readonly string[]>> = {
  site: ["secret/", "*.key"],
  vault: ["README", "gen", "*.pem", "!keep.pem"],
};
/** The files that these paths protect. No operation may change them. */
const PROTECTED_FILES = {
  site: { "secret/c": "s", "b/k.key": "k" },
  vault: { Readme: "r", "a/gen/b": "g", "x.pem": "p" },
};

/**
 * One tool call. `ending`: the staged changes are stored (`settled`), dropped (`lost`), or lost by
 * a crash before they are on disk (`crashed`). `next`: what the agent does after the call: it
 * answers, or its next round starts. `restarts`: whether the process then loses its memory.
 */
type Call = {
  agent: number;
  operations: Operation[];
  ending: "settled" | "lost" | "crashed";
  next: "nothing" | "answers" | "round";
  restarts: boolean;
};

/**
 * There are few prefixes and names, so that operations often use the same paths. The workspace and
 * writable contexts are more frequent.
 */
const PREFIXES = [
  ...[
    "",
    "",
    "",
    "",
    "",
    "",
    "./",
    "/workspace/",
    "peers/agent1/",
    "/peers/agent2/",
    "/peers/agent9/",
  ],
  ...[
    "/contexts/site/",
    "/contexts/site/",
    "/contexts/site/",
    "/contexts/vault/",
    "/contexts/vault/",
    "/contexts/vault/",
  ],
  ...["contexts/docs/", "/contexts/no/", "../", "/"],
];
const NAMES = [
  "a",
  "a",
  "a",
  "b",
  "b",
  "b",
  "a.b",
  "c",
  "..",
  "secret",
  "k.key",
  "gen",
  "x.pem",
  "X.Pem",
  "keep.pem",
  "README",
  "peers",
];
const names = fc.array(fc.constantFrom(...NAMES), { minLength: 0, maxLength: 2 });
/** Paths that calls of the same round often use. */
const COMMON_PATHS = [
  "a",
  "b",
  "c/a",
  ".tool_results/a",
  "/workspace",
  "/contexts/kit",
  "/contexts/site/a",
  "/contexts/site/b",
  "/contexts/vault/a",
  "/contexts/vault/c",
];
const anyPath = fc.oneof(
  { weight: 15, arbitrary: fc.constantFrom(...COMMON_PATHS) },
  {
    weight: 30,
    arbitrary: fc
      .tuple(fc.constantFrom(...PREFIXES), names)
      .map(([prefix, parts]) => prefix + parts.join("/")),
  },
  { weight: 1, arbitrary: fc.constantFrom(...Object.keys(INVALID_PATHS)) },
);
/** Most contents are new, so that lost contents are detected. */
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
  operations: fc.array(anyOperation, {
    minLength: OPERATIONS_OF_CALL.min,
    maxLength: OPERATIONS_OF_CALL.max,
  }),
  ending: fc.constantFrom("settled", "settled", "settled", "settled", "lost", "crashed"),
  next: fc.constantFrom("nothing", "nothing", "nothing", "nothing", "answers", "round"),
  restarts: fc.boolean(),
});

/** A team that runs the real code with real storage, and one model for each agent. */
class Team {
  readonly #kept: KeptFiles;
  readonly #rounds = AGENTS.map(() => 1);
  readonly #peers = new Set<string>();
  readonly #models: Model[] = [];
  attempted = 0;
  refused = 0;

  constructor(kept: KeptFiles) {
    this.#kept = kept;
    for (const index of AGENTS.keys()) {
      this.#models.push(new Model(this.#rights(index)));
      this.#startRound(index);
    }
  }

  async call({ agent, operations, ending, next, restarts }: Call): Promise<void> {
    const [files, before] = [this.#open(agent), this.#modelOf(agent)];
    const model = before.clone();
    const lines = new Set<string>();
    for (const operation of operations) {
      const [actual, expected] = [
        await perform(files, operation),
        await perform(new ModelActions(model, lines), operation),
      ];
      expect({ operation, ...actual }).toEqual({ operation, ...expected });
      this.attempted += 1;
      if (actual.code !== null) this.refused += 1;
    }
    const accesses = files.accessed.map(
      ({ operation, path, refused }) => `${operation} ${path} ${refused}`,
    );
    expect(accesses.toSorted()).toEqual([...lines].sort());
    if (ending !== "lost")
      this.#kept.settle(this.#placeOf(agent), files.staged(), writableBy(agent), ending);
    if (ending === "settled") this.#models[agent] = model;
    this.#continue(agent, next);
    if (restarts) this.#kept.restart();
    this.check();
  }

  /** Memory and disk equal the models. Files that the agent must not change are unchanged. */
  check(): void {
    for (const index of AGENTS.keys()) {
      const model = this.#modelOf(index);
      const place = this.#placeOf(index);
      for (const kept of [this.#kept, this.#kept.restarted()]) {
        expect(kept.textsOf(kept.workspace(place))).toEqual(model.filesIn("/workspace"));
        const roots = [...CONTEXT_NAMES.map((name) => `/contexts/${name}`), "/workspace"];
        expect([...kept.marks(place).directories].sort()).toEqual(
          roots.flatMap((root) => model.emptyDirectories(root)).sort(),
        );
        const { read, own } = kept.marks(place);
        const deletable = [
          "/workspace",
          ...writableBy(index).map((name) => `/contexts/${name}`),
        ].flatMap((root) => model.filesAt(root));
        expect(deletable.filter((path) => read.has(path) || own.has(path))).toEqual(
          deletable.filter((path) => model.known.has(path)),
        );
        for (const alias of this.#peers)
          expect(kept.textsOf(kept.peer(alias))).toEqual(model.filesIn(`/peers/${alias}`));
        for (const name of CONTEXT_NAMES)
          expect(kept.textsOf(kept.context(place, name))).toEqual(
            model.filesIn(`/contexts/${name}`),
          );
      }
      for (const [name, files] of Object.entries(PROTECTED_FILES))
        expect(model.filesIn(`/contexts/${name}`)).toMatchObject(files);
      for (const [name, files] of Object.entries(CONTEXTS))
        if (WRITERS[name] !== index) expect(model.filesIn(`/contexts/${name}`)).toEqual(files);
    }
  }

  #rights(index: number): Rights {
    const contexts = new Map(
      CONTEXT_NAMES.map((name) => [name, { writable: WRITERS[name] === index }]),
    );
    return { peers: new Set(this.#peers), contexts, limits: LIMITS };
  }

  #open(index: number): StagedFiles {
    const place = this.#placeOf(index);
    const contexts = CONTEXT_NAMES.map((name) => {
      const tree = this.#kept.context(place, name);
      return [
        name,
        { tree, writable: WRITERS[name] === index, protectedPaths: PROTECTED[name] ?? [] },
      ] as const;
    });
    return new StagedFiles({
      workspace: this.#kept.workspace(place),
      peers: new Map(
        [...this.#peers].map((alias): [string, Tree] => [alias, this.#kept.peer(alias)]),
      ),
      contexts: new Map(contexts),
      blobs: this.#kept.source,
      ...this.#kept.marks(place),
      readBeforeDelete: true,
      limits: LIMITS,
    });
  }

  #continue(index: number, next: Call["next"]): void {
    if (next === "answers") this.#answer(index);
    if (next !== "round") return;
    this.#rounds[index] = this.#placeOf(index).round + 1;
    this.#startRound(index);
  }

  /** Starts a round: the model's files are the files at the start of the turn. */
  #startRound(index: number): void {
    const model = this.#modelOf(index);
    model.replace("/workspace", Object.entries(BASE));
    for (const [name, files] of Object.entries(CONTEXTS))
      model.replace(`/contexts/${name}`, Object.entries(files));
    model.known.clear();
  }

  /** Stores a snapshot of the agent's files. From now on, all agents see this snapshot. */
  #answer(index: number): void {
    const alias = AGENTS[index] ?? "";
    this.#kept.freeze(this.#placeOf(index), alias);
    this.#peers.add(alias);
    const frozen = Object.entries(this.#modelOf(index).filesIn("/workspace"));
    for (const [agent, model] of this.#models.entries()) {
      model.rights = this.#rights(agent);
      model.replace(`/peers/${alias}`, frozen);
    }
  }

  #placeOf(agent: number) {
    return { turn: 2, attempt: 1, agent, round: this.#rounds[agent] ?? 0 };
  }

  #modelOf(index: number): Model {
    const model = this.#models[index];
    if (!model) throw new Error(`no model ${index}`);
    return model;
  }
}

const writableBy = (agent: number): string[] =>
  CONTEXT_NAMES.filter((name) => WRITERS[name] === agent);

it(`files, permissions and the audit trail equal a model in ${OPERATIONS} random operations`, {
  timeout: 300_000,
}, async () => {
  const counts = { attempted: 0, refused: 0 };
  const history = fc.array(anyCall, { minLength: CALLS.min, maxLength: CALLS.max });
  const property = fc.asyncProperty(history, async (calls) => {
    const kept = await KeptFiles.begin(BASE, CONTEXTS);
    const team = new Team(kept);
    try {
      for (const call of calls) await team.call(call);
    } finally {
      kept.close();
    }
    counts.attempted += team.attempted;
    counts.refused += team.refused;
  });
  await fc.assert(property, {
    numRuns: Math.ceil(OPERATIONS / (CALLS.min * OPERATIONS_OF_CALL.min)),
  });
  expect(counts.attempted).toBeGreaterThanOrEqual(OPERATIONS);
  // Both allowed and refused operations occur often.
  expect(counts.refused / counts.attempted).toBeGreaterThan(0.2);
  expect(counts.refused / counts.attempted).toBeLessThan(0.8);
});
