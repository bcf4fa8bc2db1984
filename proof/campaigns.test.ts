import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CAMPAIGNS, nameOf } from "./campaigns";
import { COUNTS, type CountName, countOf, rotated, SIZES, sizeInForce } from "./counts";

/** The least count of each kind that the nightly size must have. */
const MIN_NIGHTLY: Readonly<Record<CountName, number>> = {
  simulated_sessions: 10_000,
  rule_sessions: 3_000,
  engine_seeds: 40,
  planted_bugs: Number.POSITIVE_INFINITY,
  kills: 174,
  kill_places: Number.POSITIVE_INFINITY,
  kills_at_each_place: 1,
  random_kills: 10,
  kill_pairs: 6,
  storage_faults: Number.POSITIVE_INFINITY,
  storage_fault_rounds: 1,
  client_histories: 10,
  agents_of_the_largest_session: 64,
  printed_commands: Number.POSITIVE_INFINITY,
  mcp_revisions: Number.POSITIVE_INFINITY,
  soak_minutes: 0.5,
  wire_faults: Number.POSITIVE_INFINITY,
  mutated_replies: 10_000,
  decoder_inputs: 3_000,
  file_operations: 10_000,
  file_histories: 1_000,
  runtime_file_histories: 40,
  written_file_histories: Number.POSITIVE_INFINITY,
  tree_histories: 40,
  guessed_keys: 1_000,
  foreign_lookups: 300,
  long_project_turns: 30,
  bench_trials: 40,
  bench_figures: Number.POSITIVE_INFINITY,
  mutation_uses: Number.POSITIVE_INFINITY,
};

/** The campaigns that the nightly size must play. */
const NIGHTLY_CAMPAIGNS = [
  ...["simulation/properties", "simulation/commands", "simulation/engine"],
  ...["openai-chat", "openai-responses", "anthropic", "gemini"].flatMap((format) => [
    `contracts/faults/${format}`,
    `providers/${format}/fuzz`,
  ]),
  "workspace/random-operations",
  "file-histories/histories",
  "file-histories/runtime",
  "tree-histories/conversations",
  ...["faults/kill", "faults/troubles", "faults/clients", "faults/soak", "faults/faults-command"],
  ...["wire-faults/wire-faults", "wire-faults/silence", "samples/samples"],
  ...["timing/guessing", "timing/foreign-session", "timing/long-project", "bench/bench"],
  ...["mutation/mutation-crew", "mutation/mutation-score", "conformance/conformance"],
];

const testFiles = async (): Promise<string[]> => {
  const inFolder = async (folder: string) => {
    const names = await readdir(folder, { recursive: true });
    return names
      .filter((name) => name.endsWith(".ts"))
      .map((name) => path.posix.join(folder, name.replaceAll(path.sep, "/")));
  };
  return [...(await inFolder("tests")), ...(await inFolder("proof"))];
};

/** The counts that a file reads. */
const countsIn = async (file: string): Promise<string[]> =>
  [...(await readFile(file, "utf8")).matchAll(/countOf\("(\w+)"\)/g)].map(([, name = ""]) => name);

describe("the list of campaigns", () => {
  it("has every .proof.test.ts file, and no file that does not exist", async () => {
    const files = await testFiles();
    const listed = CAMPAIGNS.map(({ file }) => file);
    expect(
      files
        .filter((file) => file.endsWith(".proof.test.ts"))
        .filter((file) => !listed.includes(file)),
    ).toEqual([]);
    expect(listed.filter((file) => !files.includes(file))).toEqual([]);
    expect(new Set(CAMPAIGNS.map(nameOf)).size).toBe(CAMPAIGNS.length);
  });

  it("gives each test file the counts that the file reads", async () => {
    // A file that several campaigns share, and the folder of these campaigns.
    const shared: Readonly<Record<string, string>> = {
      "tests/contracts/faults/mutated-streams.ts": "tests/contracts/faults/",
    };
    for (const file of await testFiles()) {
      if (/^proof\/[^/]+$/.test(file)) continue;
      const countsRead = [...new Set(await countsIn(file))].sort();
      if (countsRead.length === 0) continue;
      const campaigns = CAMPAIGNS.filter((campaign) =>
        campaign.file.startsWith(shared[file] ?? file),
      );
      expect(campaigns.length, `${file} reads a count but is not a campaign`).toBeGreaterThan(0);
      for (const { counts } of campaigns) expect([...counts].sort(), file).toEqual(countsRead);
    }
  });

  it("has every campaign that nightly must play, also those without a count", () => {
    expect(CAMPAIGNS.map(nameOf)).toEqual(expect.arrayContaining(NIGHTLY_CAMPAIGNS));
  });

  it("uses every count", () => {
    const used = new Set(CAMPAIGNS.flatMap(({ counts }) => counts));
    expect(Object.keys(COUNTS).filter((name) => !used.has(name as CountName))).toEqual([]);
  });
});

describe("the sizes", () => {
  it.each(Object.entries(MIN_NIGHTLY))("nightly plays at least %s: %d", (name, least) => {
    expect(COUNTS[name as CountName].nightly).toBeGreaterThanOrEqual(least);
  });

  it("do not shrink from change to nightly to release", () => {
    for (const [name, { change, nightly, release }] of Object.entries(COUNTS)) {
      expect(change, name).toBeLessThanOrEqual(nightly);
      expect(nightly, name).toBeLessThanOrEqual(release);
    }
  });

  afterEach(() => vi.unstubAllEnvs());

  it.each(SIZES)("are the counts of %s if PROOF_SIZE names that size", (size) => {
    vi.stubEnv("PROOF_SIZE", size);
    expect(countOf("kills")).toBe(COUNTS.kills[size]);
  });

  it("are listed in the error if PROOF_SIZE names none of them", () => {
    vi.stubEnv("PROOF_SIZE", "tiny");
    expect(() => sizeInForce()).toThrow(
      'PROOF_SIZE is "tiny". Set one of: change, nightly, release.',
    );
  });
});

describe("the slices of a list", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("have the wanted length, and successive rotations play every item", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 60 }),
        fc.nat(1_000),
        (length, count, from) => {
          const items = Array.from({ length }, (_, nth) => nth);
          const seen = new Set<number>();
          for (let nth = 0; nth < Math.ceil(length / Math.min(count, length)); nth += 1) {
            vi.stubEnv("PROOF_ROTATION", String(from + nth));
            const slice = rotated(items, count);
            expect(slice).toHaveLength(Math.min(count, length));
            for (const item of slice) seen.add(item);
          }
          expect(seen.size).toBe(length);
        },
      ),
    );
  });
});
