import { describe, expect, it } from "vitest";
import { callTree, type CpuProfile } from "./cpu-profile";
import { flameGraph } from "./flame-graph";

const node = (id: number, functionName: string, children: number[] = []) => ({
  ...{ id, children },
  callFrame: { functionName, url: "worker.js", lineNumber: 10 * id },
});

/** The samples end at 1,010, 1,020 … µs. */
const PROFILE: CpuProfile = {
  nodes: [
    node(1, "(root)", [2, 3, 5]),
    node(2, "(idle)"),
    node(3, "handle", [4, 6]),
    node(4, "decide"),
    node(5, "", []),
    node(6, "commit<1>"),
  ],
  startTime: 1_000,
  samples: [3, 4, 4, 2, 6, 5],
  timeDeltas: [10, 10, 10, 10, 10, 10],
};

describe("the call tree of a profile", () => {
  it("sums the time of each function and of what it calls, without idle time", () => {
    const tree = callTree(PROFILE, [{ from: 0, to: 9_999 }]);
    expect(tree.micros).toBe(50);
    const handle = tree.children.get("handle");
    expect([handle?.micros, [...(handle?.children.keys() ?? [])]]).toEqual([
      40,
      ["decide", "commit<1>"],
    ]);
    expect(tree.children.get("(anonymous, line 50)")?.micros).toBe(10);
  });

  it("counts only samples within the spans", () => {
    const spans = [
      { from: 1_000, to: 1_010 },
      { from: 1_050, to: 1_050 },
    ];
    const tree = callTree(PROFILE, spans);
    expect([tree.micros, tree.children.get("handle")?.children.get("commit<1>")?.micros]).toEqual([
      20, 10,
    ]);
  });
});

describe("a flame graph", () => {
  it("draws each function as wide as its share, with its time per call", () => {
    const svg = flameGraph(callTree(PROFILE, [{ from: 0, to: 9_999 }]), {
      title: "A & B",
      per: 10,
    });
    expect(svg).toContain(">A &amp; B</text>");
    expect(svg).toMatch(/<title>handle: 0.004 ms<\/title><rect x="0" y="45" width="960"/);
    expect(svg).toMatch(
      /<title>commit&lt;1&gt;: 0.001 ms<\/title><rect x="480" y="62" width="240"/,
    );
  });

  it("leaves out what is too narrow to see", () => {
    const narrow = callTree({ ...PROFILE, timeDeltas: [100_000, 0, 0, 0, 10, 0] }, [
      { from: 0, to: 999_999 },
    ]);
    expect(flameGraph(narrow, { title: "t", per: 1 })).not.toContain("commit");
  });
});
