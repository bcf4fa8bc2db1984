import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LocalEntry, planSteps, type Side, type Step } from "../../../cli/contexts/three-way";

const of = (hash: string, executable = false): Side => ({ hash, executable });
const A = of("a");
const B = of("b");
const C = of("c");
const A_RUNS = of("a", true);
const B_RUNS = of("b", true);
const LINK = { blocked: "is a link here" };
type Row = { name: string; base: Side; theirs: Side; here: LocalEntry; does: string };

const ROWS: Row[] = [
  { name: "changed there, untouched here", base: A, theirs: B, here: A, does: "write" },
  { name: "new there, missing here", base: null, theirs: B, here: null, does: "write" },
  { name: "deleted there, untouched here", base: A, theirs: null, here: A, does: "delete" },
  { name: "untouched there, changed here", base: A, theirs: A, here: B, does: "nothing" },
  { name: "untouched there, deleted here", base: A, theirs: A, here: null, does: "nothing" },
  { name: "missing there, created here", base: null, theirs: null, here: B, does: "nothing" },
  { name: "changed in the same way on both sides", base: A, theirs: B, here: B, does: "nothing" },
  {
    name: "created in the same way on both sides",
    base: null,
    theirs: B,
    here: B,
    does: "nothing",
  },
  { name: "deleted on both sides", base: A, theirs: null, here: null, does: "nothing" },
  {
    name: "changed differently on both sides",
    base: A,
    theirs: B,
    here: C,
    does: "conflict: changed on both sides",
  },
  {
    name: "created differently on both sides",
    base: null,
    theirs: B,
    here: C,
    does: "conflict: made on both sides, with different contents",
  },
  {
    name: "changed there, deleted here",
    base: A,
    theirs: B,
    here: null,
    does: "conflict: deleted here, changed there",
  },
  {
    name: "deleted there, changed here",
    base: A,
    theirs: null,
    here: C,
    does: "conflict: changed here, deleted there",
  },
  {
    name: "changed there, a link here",
    base: A,
    theirs: B,
    here: LINK,
    does: "conflict: is a link here",
  },
  { name: "untouched there, a link here", base: A, theirs: A, here: LINK, does: "nothing" },
  { name: "made executable there", base: A, theirs: A_RUNS, here: A, does: "write, executable" },
  { name: "made executable on both sides", base: A, theirs: A_RUNS, here: A_RUNS, does: "nothing" },
  {
    name: "made executable there, changed here",
    base: A,
    theirs: A_RUNS,
    here: C,
    does: "conflict: changed on both sides",
  },
  {
    name: "changed there, made executable here",
    base: A,
    theirs: B,
    here: A_RUNS,
    does: "write, executable",
  },
  {
    name: "changed there, no longer executable here",
    base: A_RUNS,
    theirs: B_RUNS,
    here: A,
    does: "write",
  },
  {
    name: "changed and made executable there",
    base: A,
    theirs: B_RUNS,
    here: A,
    does: "write, executable",
  },
  {
    name: "changed there and no longer executable",
    base: A_RUNS,
    theirs: B,
    here: A_RUNS,
    does: "write",
  },
  {
    name: "executable there, new",
    base: null,
    theirs: B_RUNS,
    here: null,
    does: "write, executable",
  },
];

function said(step: Step | undefined): string {
  if (step?.action === "conflict") return `conflict: ${step.why}`;
  if (step?.action === "write" && step.to.executable) return "write, executable";
  return step?.action ?? "nothing";
}

describe("a file that is", () => {
  it.each(ROWS)("$name: $does", ({ base, theirs, here, does }) => {
    const [step] = planSteps([{ path: "x", base, theirs, here }]);
    expect(said(step)).toBe(does);
  });

  it("in any state is never overwritten or deleted if only this machine has its contents or its mode", () => {
    const side = fc.constantFrom(null, A, B, C, A_RUNS, B_RUNS);
    fc.assert(
      fc.property(side, side, side, (base, theirs, here) => {
        const [step] = planSteps([{ path: "x", base, theirs, here }]);
        const isOnlyHere = here !== null && here.hash !== base?.hash && here.hash !== theirs?.hash;
        if (isOnlyHere) expect(["conflict", undefined]).toContain(step?.action);
        const isAsBefore = base !== null && base.executable === theirs?.executable;
        if (step?.action === "write" && isAsBefore)
          expect(step.to.executable).toBe(here?.executable);
      }),
    );
  });
});
