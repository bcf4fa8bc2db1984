import { describe, expect, it } from "vitest";
import { coverageTable, idleFaults, minMeetings } from "./command/coverage-table";
import type { NumberedEvent } from "../../checker";
import { whyImpossible, Coverage, transitions } from "./engine/coverage";
import { FAULTS } from "./engine/faults";
import { play } from "./world/scripted-world";
import { SCRIPTS } from "./world/scripts";

/** The coverage of a log if a disk fault strikes after `head` events. */
function coverageWithStrikeAfter(head: number, log: readonly NumberedEvent[]): Coverage {
  const coverage = new Coverage();
  coverage.add({
    log,
    faults: { struck: [{ nth: 1, fault: "disk_error", at: 0, until: 0, head }] },
  });
  return coverage;
}

const script = SCRIPTS["consensus-at-once"];
const log = script ? play(script).log : [];
const end = log.length;
const delta: NumberedEvent = {
  type: "stream.delta",
  at: 0,
  turn: 1,
  items: [],
  sequence_number: 0,
};

describe("a transition and a kind of fault", () => {
  it.each([
    {
      name: "meet if the transition is the next event after the strike",
      head: end - 1,
      events: log,
      met: 1,
    },
    {
      name: "meet if the transition is the twentieth event after the strike",
      head: end - 20,
      events: log,
      met: 1,
    },
    {
      name: "do not meet if the transition is the twenty-first event after the strike",
      head: end - 21,
      events: log,
      met: undefined,
    },
    {
      name: "do not meet if the transition was before the strike",
      head: end,
      events: log,
      met: undefined,
    },
    {
      name: "meet if there are many deltas between them, because deltas do not count",
      head: end - 20,
      events: [...log.slice(0, -1), ...Array.from({ length: 30 }, () => delta), ...log.slice(-1)],
      met: 1,
    },
  ])("$name", ({ head, events, met }) => {
    expect(coverageWithStrikeAfter(head, events).pairs.get("turn.completed disk_error")).toBe(met);
  });
});

describe("the coverage table", () => {
  const { text, thin, pairs } = coverageTable(coverageWithStrikeAfter(end - 1, log), 1);
  const linesOf = (type: string): string[] => {
    const lines = text.split("\n");
    const from = lines.findIndex((line) => line.startsWith(`${type} `));
    const to = lines.findIndex((line, nth) => nth > from && !line.startsWith("  "));
    return lines.slice(from, to);
  };

  it("names every thin pair, and no other pair", () => {
    const [line, rare] = linesOf("turn.completed");
    expect(line).toMatch(new RegExp(`1 +1/${FAULTS.length}$`));
    expect(rare).toMatch(/^ {2}thin: /);
    expect(rare).not.toContain("disk_error");
    expect(rare?.split(" · ")).toHaveLength(FAULTS.length - 1);
    expect(thin).toBe(pairs - 1);
  });

  it("names every impossible pair with its reason", () => {
    expect(linesOf("session.created").at(-1)).toMatch(
      /^ {2}cannot meet: crash_after_headers · .* · tenant_slow – occurs before anything that the fault could affect$/,
    );
    const impossible = transitions().flatMap((type) =>
      FAULTS.filter((fault) => whyImpossible(type, fault) !== null),
    );
    expect(
      text
        .match(/cannot meet: .* –/g)
        ?.join(" · ")
        .split(" · "),
    ).toHaveLength(impossible.length);
    expect(pairs + impossible.length).toBe(transitions().length * FAULTS.length);
  });

  it.each([
    { type: "session.created", fault: "tenant_deaf", wrong: 1 },
    { type: "session.created", fault: "crash_in_boot", wrong: 0 },
    { type: "turn.completed", fault: "tenant_deaf", wrong: 0 },
  ])("reports $wrong disproved pairs if $type and $fault have met", ({ type, fault, wrong }) => {
    const coverage = new Coverage();
    coverage.merge({ pairs: [[`${type} ${fault}`, 15]], events: [], strikes: [] });
    const { text, disproved } = coverageTable(coverage, 1);
    expect(disproved).toBe(wrong);
    expect(text.includes(`  met though declared impossible: ${fault} 15\n`)).toBe(wrong > 0);
  });
});

describe("a kind of fault that never struck", () => {
  const coverageOf = (faults: readonly string[]): Coverage => {
    const coverage = new Coverage();
    coverage.merge({ pairs: [], events: [], strikes: faults.map((fault) => [fault, 1]) });
    return coverage;
  };
  const others = FAULTS.filter((fault) => fault !== "web_page");

  it.each([
    {
      name: "is reported if enough seeds were played",
      faults: others,
      seeds: 1_000,
      idle: ["web_page"],
    },
    { name: "is not reported for fewer seeds", faults: others, seeds: 999, idle: [] },
    { name: "is not reported if each kind struck once", faults: FAULTS, seeds: 200_000, idle: [] },
  ])("$name", ({ faults, seeds, idle }) => {
    expect(idleFaults(coverageOf(faults), seeds)).toEqual(idle);
  });
});

it.each([
  { seeds: 60, least: 1 },
  { seeds: 2_000, least: 20 },
  { seeds: 10_000, least: 100 },
  { seeds: 200_000, least: 100 },
])("with $seeds seeds, a pair is thin if it met fewer than $least times", ({ seeds, least }) => {
  expect(minMeetings(seeds)).toBe(least);
});
