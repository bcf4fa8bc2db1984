import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LocalEntry, planSteps, type Side, type Step } from "../../../cli/contexts/three-way";

const sideOf = (hash: string, executable = false): Side => ({ hash, executable });
const A = sideOf("a");
const B = sideOf("b");
const C = sideOf("c");
const A_EXECUTABLE = sideOf("a", true);
const B_EXECUTABLE = sideOf("b", true);
const LINK = { blocked: "is a link here" };
type Row = { name: string; base: Side; theirs: Side; here: LocalEntry; expected: string };

const ROWS: Row[] = [
  { name: "changed there, untouched here", base: A, theirs: B, here: A, expected: "write" },
  { name: "new there, missing here", base: null, theirs: B, here: null, expected: "write" },
  { name: "deleted there, untouched here", base: A, theirs: null, here: A, expected: "delete" },
  { name: "untouched there, changed here", base: A, theirs: A, here: B, expected: "nothing" },
  { name: "untouched there, deleted here", base: A, theirs: A, here: null, expected: "nothing" },
  { name: "missing there, created here", base: null, theirs: null, here: B, expected: "nothing" },
  {
    name: "changed in the same way on both sides",
    base: A,
    theirs: B,
    here: B,
    expected: "nothing",
  },
  {
    name: "created in the same way on both sides",
    base: null,
    theirs: B,
    here: B,
    expected: "nothing",
  },
  { name: "deleted on both sides", base: A, theirs: null, here: null, expected: "nothing" },
  {
    name: "changed differently on both sides",
    base: A,
    theirs: B,
    here: C,
    expected: "conflict: changed on both sides",
  },
  {
    name: "created differently on both sides",
    base: null,
    theirs: B,
    here: C,
    expected: "conflict: made on both sides, with different contents",
  },
  {
    name: "changed there, deleted here",
    base: A,
    theirs: B,
    here: null,
    expected: "conflict: deleted here, changed there",
  },
  {
    name: "deleted there, changed here",
    base: A,
    theirs: null,
    here: C,
    expected: "conflict: changed here, deleted there",
  },
  {
    name: "changed there, a link here",
    base: A,
    theirs: B,
    here: LINK,
    expected: "conflict: is a link here",
  },
  { name: "untouched there, a link here", base: A, theirs: A, here: LINK, expected: "nothing" },
  {
    name: "made executable there",
    base: A,
    theirs: A_EXECUTABLE,
    here: A,
    expected: "write, executable",
  },
  {
    name: "made executable on both sides",
    base: A,
    theirs: A_EXECUTABLE,
    here: A_EXECUTABLE,
    expected: "nothing",
  },
  {
    name: "made executable there, changed here",
    base: A,
    theirs: A_EXECUTABLE,
    here: C,
    expected: "conflict: changed on both sides",
  },
  {
    name: "changed there, made executable here",
    base: A,
    theirs: B,
    here: A_EXECUTABLE,
    expected: "write, executable",
  },
  {
    name: "changed there, no longer executable here",
    base: A_EXECUTABLE,
    theirs: B_EXECUTABLE,
    here: A,
    expected: "write",
  },
  {
    name: "changed and made executable there",
    base: A,
    theirs: B_EXECUTABLE,
    here: A,
    expected: "write, executable",
  },
  {
    name: "changed there and no longer executable",
    base: A_EXECUTABLE,
    theirs: B,
    here: A_EXECUTABLE,
    expected: "write",
  },
  {
    name: "executable there, new",
    base: null,
    theirs: B_EXECUTABLE,
    here: null,
    expected: "write, executable",
  },
];

function describeStep(step: Step | undefined): string {
  if (step?.action === "conflict") return `conflict: ${step.why}`;
  if (step?.action === "write" && step.to.executable) return "write, executable";
  return step?.action ?? "nothing";
}

describe("a file that is", () => {
  it.each(ROWS)("$name: $expected", ({ base, theirs, here, expected }) => {
    const [step] = planSteps([{ path: "x", base, theirs, here }]);
    expect(describeStep(step)).toBe(expected);
  });

  it("in any state: is never overwritten or deleted if only this machine has its contents or its mode", () => {
    const side = fc.constantFrom(null, A, B, C, A_EXECUTABLE, B_EXECUTABLE);
    fc.assert(
      fc.property(side, side, side, (base, theirs, here) => {
        const [step] = planSteps([{ path: "x", base, theirs, here }]);
        const isOnlyHere = here !== null && here.hash !== base?.hash && here.hash !== theirs?.hash;
        if (isOnlyHere) expect(["conflict", undefined]).toContain(step?.action);
        const isModeUnchangedThere = base !== null && base.executable === theirs?.executable;
        if (step?.action === "write" && isModeUnchangedThere)
          expect(step.to.executable).toBe(here?.executable);
      }),
    );
  });
});
