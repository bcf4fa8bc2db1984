/**
 * The size of every campaign, in one place. A campaign reads its own count with `countOf`;
 * `npm run proof -- --size …` sets the size.
 *
 * `change` runs with every change of the code and takes minutes, so most counts select a slice.
 * `nightly` plays everything. `release` runs for hours.
 */
export const SIZES = ["change", "nightly", "release"] as const;
export type Size = (typeof SIZES)[number];

/** The count that selects every item of a list. */
const ALL = Number.POSITIVE_INFINITY;

export const COUNTS = {
  /**
   * Seeds of `npm run simulate`: whole sessions of the service with simulated time, storage,
   * providers and crashes.
   */
  simulated_sessions: { change: 100, nightly: 10_000, release: 200_000 },
  /** Random sessions of the coordination rules alone. */
  rule_sessions: { change: 300, nightly: 3_000, release: 100_000 },
  /** Seeds of the simulated service that are also replayed, restored and compared one by one. */
  engine_seeds: { change: 4, nightly: 40, release: 40 },
  /** Bugs that are planted in the code, one at a time; the simulation must catch each of them. */
  planted_bugs: { change: 8, nightly: ALL, release: ALL },
  /** SIGKILLs of the real runtime, at named places and at random moments together. */
  kills: { change: 14, nightly: 174, release: 1_000 },
  /** Named places at which the runtime is killed. */
  kill_places: { change: 8, nightly: ALL, release: ALL },
  /** Kills at each of these places. */
  kills_at_each_place: { change: 1, nightly: 1, release: 3 },
  /** Kills at random moments of a run. */
  random_kills: { change: 3, nightly: 10, release: 100 },
  /** Kills at one place, then at another while the service recovers. */
  kill_pairs: { change: 1, nightly: 6, release: 40 },
  /** Faults of R2, D1, the alarm and the clock in runs of the real service. */
  storage_faults: { change: 6, nightly: ALL, release: ALL },
  /** How often each of these faults is played. */
  storage_fault_rounds: { change: 1, nightly: 1, release: 5 },
  /** Histories of 20 clients with random operations on one session. */
  client_histories: { change: 3, nightly: 10, release: 100 },
  /**
   * Agents that write the largest session, which slow readers then read. Nightly: as many as a team
   * may have.
   */
  agents_of_the_largest_session: { change: 16, nightly: 64, release: 64 },
  /** Commands that reports print for a failure, each typed into a shell. */
  printed_commands: { change: 2, nightly: ALL, release: ALL },
  /** Revisions of MCP whose official conformance scenarios run. */
  mcp_revisions: { change: 1, nightly: ALL, release: ALL },
  /** Minutes of runs one after another on one service, with a fault every few seconds. */
  soak_minutes: { change: 0.5, nightly: 0.5, release: 60 },
  /** Kinds of provider faults, each in a whole run of a mixed team in each wire format. */
  wire_faults: { change: 5, nightly: ALL, release: ALL },
  /**
   * Replies that are mutated and sent through each adapter over a socket or in memory, per wire
   * format.
   */
  mutated_replies: { change: 300, nightly: 10_000, release: 100_000 },
  /**
   * Random inputs of the main property of each decoder; the smaller properties run a tenth to a
   * third of them.
   */
  decoder_inputs: { change: 300, nightly: 3_000, release: 30_000 },
  /** Random operations of agents on their files. */
  file_operations: { change: 1_000, nightly: 10_000, release: 100_000 },
  /**
   * Random histories of files between folders, versions and turns. This number of histories of
   * normal use is played, and the same number of histories of all operations.
   */
  file_histories: { change: 6, nightly: 1_000, release: 10_000 },
  /** The same in the real runtime, with kills. */
  runtime_file_histories: { change: 3, nightly: 40, release: 400 },
  /** Histories of files that are written by hand, in the real runtime. */
  written_file_histories: { change: 6, nightly: ALL, release: ALL },
  /** Random conversations with branches in the real runtime, with kills. */
  tree_histories: { change: 3, nightly: 40, release: 400 },
  /** Wrong keys that are tried. Each must get the same answer in the same time. */
  guessed_keys: { change: 1_000, nightly: 1_000, release: 1_000 },
  /** Lookups of another tenant's session. Each must be answered in the same time. */
  foreign_lookups: { change: 300, nightly: 300, release: 300 },
  long_project_turns: { change: 12, nightly: 30, release: 30 },
  /** Disconnects of readers and runs with a cost cap, in the benchmark's smallest size. */
  bench_trials: { change: 16, nightly: 40, release: 40 },
  /** Further figures of the benchmark, each in its smallest size. */
  bench_figures: { change: 2, nightly: ALL, release: ALL },
  /** Uses of the command that tries mutants. */
  mutation_uses: { change: 1, nightly: ALL, release: ALL },
} as const satisfies Record<string, Readonly<Record<Size, number>>>;

export type CountName = keyof typeof COUNTS;

/**
 * The size in force: the variable `PROOF_SIZE`, or `change` if it is not set. Throws if the
 * variable names no size.
 */
export function sizeInForce(): Size {
  const wanted = process.env["PROOF_SIZE"] ?? "change";
  const size = SIZES.find((name) => name === wanted);
  if (!size)
    throw new Error(`PROOF_SIZE is ${JSON.stringify(wanted)}. Set one of: ${SIZES.join(", ")}.`);
  return size;
}

/** A count in the size in force. `Infinity` means every item. */
export const countOf = (name: CountName): number => COUNTS[name][sizeInForce()];

/**
 * A slice of `count` items, in the order of the list. `PROOF_ROTATION` chooses the slice; it is a
 * whole number that `npm run proof` derives from the commit. So different commits play different
 * items.
 */
export function rotated<Item>(items: readonly Item[], count: number): Item[] {
  if (count >= items.length) return [...items];
  const start = (Number(process.env["PROOF_ROTATION"] ?? 0) * count) % items.length;
  return items.filter((_, nth) => (nth - start + items.length) % items.length < count);
}
