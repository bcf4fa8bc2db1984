import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Here, planSteps, type Side } from "../../../cli/contexts/three-way";

const of = (hash: string, executable = false): Side => ({ hash, executable });
const A = of("a");
const B = of("b");
const C = of("c");
const LINK = { blocked: "is a link here" };
type Row = { name: string; base: Side; theirs: Side; here: Here; does: string };

const ROWS: Row[] = [
  { name: "changed there, untouched here", base: A, theirs: B, here: A, does: "write" },
  { name: "new there, nothing here", base: null, theirs: B, here: null, does: "write" },
  { name: "deleted there, untouched here", base: A, theirs: null, here: A, does: "delete" },
  { name: "untouched there, changed here", base: A, theirs: A, here: B, does: "nothing" },
  { name: "untouched there, deleted here", base: A, theirs: A, here: null, does: "nothing" },
  { name: "nowhere there, made here", base: null, theirs: null, here: B, does: "nothing" },
  { name: "changed on both sides alike", base: A, theirs: B, here: B, does: "nothing" },
  { name: "made on both sides alike", base: null, theirs: B, here: B, does: "nothing" },
  { name: "deleted on both sides", base: A, theirs: null, here: null, does: "nothing" },
  { name: "changed on both sides otherwise", base: A, theirs: B, here: C, does: "conflict: changed on both sides" },
  {
    name: "made on both sides otherwise",
    base: null,
    theirs: B,
    here: C,
    does: "conflict: made on both sides, with different contents",
  },
  { name: "changed there, deleted here", base: A, theirs: B, here: null, does: "conflict: deleted here, changed there" },
  { name: "deleted there, changed here", base: A, theirs: null, here: C, does: "conflict: changed here, deleted there" },
  { name: "changed there, a link here", base: A, theirs: B, here: LINK, does: "conflict: is a link here" },
  { name: "untouched there, a link here", base: A, theirs: A, here: LINK, does: "nothing" },
  { name: "made executable there", base: A, theirs: of("a", true), here: A, does: "write" },
  { name: "made executable on both sides", base: A, theirs: of("a", true), here: of("a", true), does: "nothing" },
  {
    name: "made executable there, changed here",
    base: A,
    theirs: of("a", true),
    here: C,
    does: "conflict: changed on both sides",
  },
  { name: "changed there, made executable here", base: A, theirs: B, here: of("a", true), does: "write" },
];

describe("a file that is", () => {
  it.each(ROWS)("$name: $does", ({ base, theirs, here, does }) => {
    const [step] = planSteps([{ path: "x", base, theirs, here }]);
    expect(step === undefined ? "nothing" : step.action === "conflict" ? `conflict: ${step.why}` : step.action).toBe(does);
  });

  it("whatever it is: contents that only this machine has are never written over or deleted", () => {
    const side = fc.constantFrom(null, A, B, C, of("a", true), of("b", true));
    fc.assert(
      fc.property(side, side, side, (base, theirs, here) => {
        const [step] = planSteps([{ path: "x", base, theirs, here }]);
        const isOnlyHere = here !== null && here.hash !== base?.hash && here.hash !== theirs?.hash;
        if (isOnlyHere) expect(["conflict", undefined]).toContain(step?.action);
      }),
    );
  });
});
