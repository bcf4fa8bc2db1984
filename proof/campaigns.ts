import type { CountName } from "./counts";

/**
 * A campaign: one test file, and the counts that set its size. Files of the vitest project `proof`
 * run only as campaigns. The other files are also part of the tests, in the size `change`.
 */
export type Campaign = {
  /** The test file, relative to the repository's root. */
  file: string;
  /** What the campaign tests, for `--list`. */
  about: string;
  /** Empty if the campaign plays everything in every size. */
  counts: readonly CountName[];
  /** It measures times, so no other campaign runs beside it. */
  isTimed?: true;
  /** It mostly waits, so it has its own lane beside the others. */
  isWaiting?: true;
};

/**
 * The name by which a campaign is chosen and reported: `proof/faults/kill.proof.test.ts` is
 * `faults/kill`.
 */
export const nameOf = ({ file }: Campaign): string =>
  file.replace(/^(tests|proof)\//, "").replace(/(\.proof)?\.test\.ts$/, "");

/** Whether the tests also play the campaign, in the size `change`. */
export const isInTests = ({ file }: Campaign): boolean => !file.endsWith(".proof.test.ts");

/** Names or patterns of names of the vitest projects that can include the file. */
export const projectsOf = (campaign: Campaign): readonly string[] =>
  isInTests(campaign) ? ["unit*", "long"] : ["proof"];

const MUTATED =
  "cut, mutated and mixed replies of a provider: no part counts as the whole, and nothing hangs";
const DECODED = "random replies of a provider: only cuts throw, and stored data can be sent back";

/**
 * All campaigns in the order in which they run. A test compares this list with the files on disk.
 */
export const CAMPAIGNS: readonly Campaign[] = [
  {
    file: "proof/simulation/properties.proof.test.ts",
    about: "random sessions of the coordination rules: every invariant holds after each event",
    counts: ["rule_sessions"],
  },
  {
    file: "proof/simulation/commands.proof.test.ts",
    about: "seeds of the simulated service, and the planted bugs that the simulation must catch",
    counts: ["simulated_sessions", "planted_bugs"],
  },
  {
    file: "proof/simulation/engine.test.ts",
    about: "the same seed gives the same log, also after a restore",
    counts: ["engine_seeds"],
  },
  {
    file: "tests/contracts/faults/openai-chat.test.ts",
    about: MUTATED,
    counts: ["mutated_replies"],
  },
  {
    file: "tests/contracts/faults/openai-responses.test.ts",
    about: MUTATED,
    counts: ["mutated_replies"],
  },
  { file: "tests/contracts/faults/anthropic.test.ts", about: MUTATED, counts: ["mutated_replies"] },
  { file: "tests/contracts/faults/gemini.test.ts", about: MUTATED, counts: ["mutated_replies"] },
  { file: "tests/providers/openai-chat/fuzz.test.ts", about: DECODED, counts: ["decoder_inputs"] },
  {
    file: "tests/providers/openai-responses/fuzz.test.ts",
    about: DECODED,
    counts: ["decoder_inputs"],
  },
  { file: "tests/providers/anthropic/fuzz.test.ts", about: DECODED, counts: ["decoder_inputs"] },
  { file: "tests/providers/gemini/fuzz.test.ts", about: DECODED, counts: ["decoder_inputs"] },
  {
    file: "tests/workspace/random-operations.test.ts",
    about: "random operations of agents on files: agents stay apart, and every access is recorded",
    counts: ["file_operations"],
  },
  {
    file: "proof/file-histories/histories.test.ts",
    about: "random histories of asking, pulling, editing and pushing, compared with a model",
    counts: ["file_histories"],
  },
  {
    file: "proof/file-histories/runtime.proof.test.ts",
    about: "such histories in the real runtime, with SIGKILL between and during turns",
    counts: ["runtime_file_histories", "written_file_histories"],
  },
  {
    file: "proof/tree-histories/conversations.proof.test.ts",
    about: "random conversations with branches, compared with a model of the tree, with SIGKILL",
    counts: ["tree_histories"],
  },
  {
    file: "proof/faults/kill.proof.test.ts",
    about: "SIGKILL of the real runtime at named places, in pairs and at random moments",
    counts: ["kills", "kill_places", "kills_at_each_place", "random_kills", "kill_pairs"],
  },
  {
    file: "proof/faults/troubles.proof.test.ts",
    about: "faults of storage, the alarm and the clock in runs of the real service",
    counts: ["storage_faults", "storage_fault_rounds"],
  },
  {
    file: "proof/faults/clients.proof.test.ts",
    about:
      "clients that vanish, read slowly or send garbage, and histories of 20 clients on one session",
    counts: ["client_histories", "agents_of_the_largest_session"],
  },
  {
    file: "proof/faults/soak.proof.test.ts",
    about: "runs one after another on one service, with faults",
    counts: ["soak_minutes"],
    isWaiting: true,
  },
  {
    file: "proof/wire-faults/wire-faults.proof.test.ts",
    about: "each provider fault in a whole run of a mixed team, in each wire format",
    counts: ["wire_faults"],
  },
  {
    file: "proof/wire-faults/silence.proof.test.ts",
    about: "providers that stop sending, in whole runs",
    counts: [],
    isWaiting: true,
  },
  {
    file: "proof/faults/faults-command.proof.test.ts",
    about: "the commands that reports print play a failure again",
    counts: ["printed_commands"],
  },
  {
    file: "proof/samples/samples.proof.test.ts",
    about: "each MassGen sample config that runs, until its answer",
    counts: [],
  },
  {
    file: "proof/timing/guessing.proof.test.ts",
    about: "wrong keys get the same answer in the same time",
    counts: ["guessed_keys"],
    isTimed: true,
  },
  {
    file: "proof/timing/foreign-session.proof.test.ts",
    about:
      "a session of another tenant and an unknown session get the same answer in the same time",
    counts: ["foreign_lookups"],
    isTimed: true,
  },
  {
    file: "proof/timing/long-project.proof.test.ts",
    about: "the last turns of a long project need no more time and memory than the first",
    counts: ["long_project_turns"],
    isTimed: true,
  },
  {
    file: "proof/bench/bench.proof.test.ts",
    about: "the benchmark in its smallest size",
    counts: ["bench_trials", "bench_figures"],
  },
  {
    file: "proof/mutation/mutation-crew.proof.test.ts",
    about: "the processes that try mutants",
    counts: [],
  },
  {
    file: "proof/mutation/mutation-score.proof.test.ts",
    about: "mutants of the rules and of the checker",
    counts: ["mutation_uses"],
  },
  {
    file: "proof/conformance/conformance.proof.test.ts",
    about: "the official MCP conformance suite, for each protocol revision",
    counts: ["mcp_revisions"],
  },
];
