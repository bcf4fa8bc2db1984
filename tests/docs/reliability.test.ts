import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/coordination";
import { LOG_VERSION } from "../../src/protocol/log-version";
import { FAULT_ROWS } from "../contracts/faults/wire-rows";
import { FORMATS } from "../process/support/formats";
import { apart, transitions } from "../simulation/engine/coverage";
import { FAULTS } from "../simulation/engine/faults";

const page = readFileSync("docs/reliability.md", "utf8");
const numbersIn = (sentence: RegExp): number[] => (sentence.exec(page) ?? []).slice(1).map(Number);

/** Logs of version 1 lie in the folder itself. */
const logsOf = (version: number): number =>
  readdirSync(version === 1 ? "tests/golden" : `tests/golden/v${version}`).filter((file) => file.endsWith(".jsonl")).length;

describe("docs/reliability.md counts what there is", () => {
  it("recorded logs", () => {
    const told = numbersIn(/(\d+) recorded logs of the version before, (\d+) of this one/);
    expect(told).toEqual([logsOf(LOG_VERSION - 1), logsOf(LOG_VERSION)]);
  });

  it("faults on the wire, and of them those that a call must fail for", () => {
    const all = FAULT_ROWS.length * FORMATS.length;
    const noticed = FAULT_ROWS.filter(({ codes }) => codes.length > 0);
    const failing = noticed.reduce((sum, { unnoticed = [] }) => sum + FORMATS.length - unnoticed.length, 0);
    expect(numbersIn(/(\d+) faults in each of four formats/)).toEqual([FAULT_ROWS.length]);
    expect(numbersIn(/(\d+) of these (\d+) must fail a call, and did. The other (\d+)/)).toEqual([failing, all, all - failing]);
  });

  it("the pairs of a transition and a kind of fault that can meet", () => {
    const pairs = transitions().flatMap((type) => FAULTS.filter((fault) => apart(type, fault) === null));
    expect(page).toContain(`the ${pairs.length.toLocaleString("en")} pairs of this version`);
  });

  it("agents of the largest session", () => {
    expect(numbersIn(/\*\*The largest session\.\*\* (\d+) agents/)).toEqual([LIMITS.agents]);
  });
});
