import fc from "fast-check";
import { expect, it } from "vitest";
import { countOf } from "../../proof/counts";
import { StagedFiles } from "../../src/workspace/staged-files";
import type { Tree } from "../../src/workspace/types";
import { KeptFiles } from "./kept-files";
import { type Limits, Model, ODD, type Rights } from "./model";
import { KINDS, ModelActions, type Operation, perform } from "./modelled";

/**
 * `FILE_OPERATIONS` sets the minimum number of operations. A failure is shrunk and reported with
 * its seed.
 */
const OPERATIONS = Number(process.env["FILE_OPERATIONS"] ?? countOf("file_operations"));
const AGENTS = ["agent1", "agent2", "agent3"];
/** The agent that may write each context. */
const WRITERS: Readonly<Record<string, number>> = { site: 0, vault: 1 };
const CALLS = { least: 12, most: 20 };
const OPERATIONS_OF_CALL = { least: 4, most: 7 };
const LIMITS: Limits = { fileBytes: 6, files: 5, treeBytes: 18 };
const CONTEXTS = {
  site: { "a/b": "site", "secret/c": "s", "b/k.key": "k" },
  vault: { Readme: "r", "a/gen/b": "g", "x.pem": "p", "keep.pem": "q" },
  docs: { a: "large text", "b/c": "d" },
  kit: { b: "k", "contexts/a": "c" },
};
const NAMES_OF_CONTEXTS = Object.keys(CONTEXTS);
/** The start of every round: the result of the previous turn. */
const BASE = { b: "B", "c/a": "C" };
/**
 * A folder, a file and patterns; an exception, and another case. No operation may change these
 * files.
 */
const PROTECTED: Readonly<Record<string, readonly string[]>> = {
  site: ["secret/", "*.key"],
  vault: ["README", "gen", "*.pem", "!keep.pem"],
};
const UNTOUCHED = {
  site: { "secret/c": "s", "b/k.key": "k" },
  vault: { Readme: "r", "a/gen/b": "g", "x.pem": "p" },
};

/**
 * One tool call. `ends`: the staged changes are kept, or dropped because the call was interrupted
 * before or after they were written. `then`: the agent's next action. `restarts`: whether the
 * memory is lost afterwards.
 */
type Call = {
  agent: number;
  operations: Operation[];
  ends: "settled" | "lost" | "crashed";
  then: "nothing" | "answers" | "round";
  restarts: boolean;
};

/** Few names, so that operations meet. The workspace and the writable context are more frequent. */
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
/** Paths at which calls of the same round often meet. */
const MET = [
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
  { weight: 15, arbitrary: fc.constantFrom(...MET) },
  {
    weight: 30,
    arbitrary: fc
      .tuple(fc.constantFrom(...PREFIXES), names)
      .map(([prefix, parts]) => prefix + parts.join("/")),
  },
  { weight: 1, arbitrary: fc.constantFrom(...Object.keys(ODD)) },
);
/** Most contents are new, so that a lost one is detected. */
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
    minLength: OPERATIONS_OF_CALL.least,
    maxLength: OPERATIONS_OF_CALL.most,
  }),
  ends: fc.constantFrom("settled", "settled", "settled", "settled", "lost", "crashed"),
  then: fc.constantFrom("nothing", "nothing", "nothing", "nothing", "answers", "round"),
  restarts: fc.boolean(),
});

/** A team on the real code with real storage, beside one model for each agent. */
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

  async call({ agent, operations, ends, then, restarts }: Call): Promise<void> {
    const [files, before] = [this.#open(agent), this.#modelOf(agent)];
    const model = before.clone();
    const lines = new Set<string>();
    for (const operation of operations) {
      const [done, expected] = [
        await perform(files, operation),
        await perform(new ModelActions(model, lines), operation),
      ];
      expect({ operation, ...done }).toEqual({ operation, ...expected });
      this.attempted += 1;
      if (done.code !== null) this.refused += 1;
    }
    const accesses = files.accessed.map(
      ({ operation, path, refused }) => `${operation} ${path} ${refused}`,
    );
    expect(accesses.toSorted()).toEqual([...lines].sort());
    if (ends !== "lost")
      this.#kept.settle(this.#placeOf(agent), files.staged(), writableBy(agent), ends);
    if (ends === "settled") this.#models[agent] = model;
    this.#next(agent, then);
    if (restarts) this.#kept.restart();
    this.check();
  }

  /** Memory and disk equal the models; files that the agent may not change are unchanged. */
  check(): void {
    for (const index of AGENTS.keys()) {
      const model = this.#modelOf(index);
      const place = this.#placeOf(index);
      for (const kept of [this.#kept, this.#kept.restarted()]) {
        expect(kept.inWords(kept.workspace(place))).toEqual(model.in("/workspace"));
        const roots = [...NAMES_OF_CONTEXTS.map((name) => `/contexts/${name}`), "/workspace"];
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
          expect(kept.inWords(kept.peer(alias))).toEqual(model.in(`/peers/${alias}`));
        for (const name of NAMES_OF_CONTEXTS)
          expect(kept.inWords(kept.context(place, name))).toEqual(model.in(`/contexts/${name}`));
      }
      for (const [name, untouched] of Object.entries(UNTOUCHED))
        expect(model.in(`/contexts/${name}`)).toMatchObject(untouched);
      for (const [name, files] of Object.entries(CONTEXTS))
        if (WRITERS[name] !== index) expect(model.in(`/contexts/${name}`)).toEqual(files);
    }
  }

  #rights(index: number): Rights {
    const contexts = new Map(
      NAMES_OF_CONTEXTS.map((name) => [name, { writable: WRITERS[name] === index }]),
    );
    return { peers: new Set(this.#peers), contexts, limits: LIMITS };
  }

  #open(index: number): StagedFiles {
    const place = this.#placeOf(index);
    const contexts = NAMES_OF_CONTEXTS.map((name) => {
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

  #next(index: number, then: Call["then"]): void {
    if (then === "answers") this.#show(index);
    if (then !== "round") return;
    this.#rounds[index] = this.#placeOf(index).round + 1;
    this.#startRound(index);
  }

  /** The previous round leaves nothing. */
  #startRound(index: number): void {
    const model = this.#modelOf(index);
    model.replace("/workspace", Object.entries(BASE));
    for (const [name, files] of Object.entries(CONTEXTS))
      model.replace(`/contexts/${name}`, Object.entries(files));
    model.known.clear();
  }

  /** All agents see the snapshot from now on. */
  #show(index: number): void {
    const alias = AGENTS[index] ?? "";
    this.#kept.freeze(this.#placeOf(index), alias);
    this.#peers.add(alias);
    const frozen = Object.entries(this.#modelOf(index).in("/workspace"));
    for (const [place, model] of this.#models.entries()) {
      model.rights = this.#rights(place);
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
  NAMES_OF_CONTEXTS.filter((name) => WRITERS[name] === agent);

it(`keeps agents apart and everything on record in ${OPERATIONS} random operations`, {
  timeout: 300_000,
}, async () => {
  const counts = { attempted: 0, refused: 0 };
  const history = fc.array(anyCall, { minLength: CALLS.least, maxLength: CALLS.most });
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
    numRuns: Math.ceil(OPERATIONS / (CALLS.least * OPERATIONS_OF_CALL.least)),
  });
  expect(counts.attempted).toBeGreaterThanOrEqual(OPERATIONS);
  // Both allowed and refused operations occur often.
  expect(counts.refused / counts.attempted).toBeGreaterThan(0.2);
  expect(counts.refused / counts.attempted).toBeLessThan(0.8);
});
