import type { Ask, Edit, History, Operation, Root } from "./operations";

/** A conversation of 20 turns, written by hand. Numbers of turns are in comments. */

const ask = (parts: Partial<Ask> = {}): Ask => ({
  ...{ type: "ask", back: null, reads: [], answer: [], final: [], rejected: null },
  ...{ ends: "completed", killAfterMs: null },
  ...parts,
});
const write = (path: string, contents: number, root: Root = "workspace"): Edit => ({
  ...{ kind: "write", root, path, contents },
});
const move = (path: string, to: string, root: Root = "workspace"): Edit => ({
  ...{ kind: "move", root, path, to },
});
const remove = (path: string, root: Root = "workspace"): Edit => ({ kind: "remove", root, path });
const reads = (...paths: string[]): Ask["reads"] =>
  paths.map((path) => ({ root: /^(team|user)\//.test(path) ? "context" : "workspace", path }));
/** Compares a point with the parent of its turn. */
const diffParent = (to: number): Operation => ({ type: "diff parent", to });

export const CONVERSATION: History = [
  { type: "push", path: "user/p.txt", contents: 1 },
  ask({ final: [write("a.txt", 2), write("team/x.txt", 3, "context")] }), // 1
  diffParent(0),
  ask({ answer: [write("b.txt", 4)], reads: reads("a.txt", "team/x.txt", "user/p.txt") }), // 2
  { type: "kill" },
  // 3: the first attempt is rejected
  ask({
    rejected: [write("rejected.txt", 5), remove("a.txt"), write("team/y.txt", 6, "context")],
    final: [move("a.txt", "notes/c.txt"), move("team/x.txt", "team/deep/z.txt", "context")],
  }),
  ask({ ends: "failed", final: [write("lost.txt", 7)] }), // 4
  ask({ reads: reads("notes/c.txt", "rejected.txt", "lost.txt", "team/deep/z.txt") }), // 5
  { type: "push", path: "user/q.txt", contents: 8 },
  ask({ ends: "cancelled", final: [write("a.txt", 9), remove("b.txt")] }), // 6
  ask({ reads: reads("a.txt", "b.txt", "user/q.txt"), final: [write("b.txt", 10)] }), // 7
  // 8: the first branch, from turn 2
  ask({ back: 5, reads: reads("a.txt", "notes/c.txt", "team/x.txt", "user/q.txt") }),
  ask({ final: [write("team/x.txt", 11, "context"), remove("a.txt")], killAfterMs: 150 }), // 9
  { type: "push", path: "user/p.txt", contents: 12 },
  ask({ reads: reads("a.txt", "user/p.txt"), final: [write("notes/d.txt", 13)] }), // 10
  // 11: the second branch, from turn 5
  ask({ back: 5, reads: reads("a.txt", "b.txt", "notes/c.txt", "notes/d.txt") }),
  ask({ ends: "failed", killAfterMs: 50 }), // 12
  ask({ ends: "cancelled", final: [write("half.txt", 14)], killAfterMs: 200 }), // 13
  // the rollback, to turn 9, and then from turn 9
  { type: "move", back: 4 },
  { type: "kill" },
  ask({ reads: reads("a.txt", "half.txt", "notes/d.txt", "team/x.txt") }), // 14
  // 15: a rejected attempt, with a kill
  ask({
    rejected: [write("a.txt", 15)],
    answer: [write("b.txt", 16)],
    final: [move("b.txt", "a.txt")],
    killAfterMs: 250,
  }),
  { type: "move", back: 8 }, // to turn 7
  { type: "move", back: 10 }, // to turn 5
  ask({ final: [remove("team/deep/z.txt", "context"), remove("b.txt")] }), // 16
  { type: "push", path: "user/q.txt", contents: null },
  ask({ reads: reads("user/q.txt", "b.txt", "team/deep/z.txt") }), // 17
  ask({ ends: "cancelled", rejected: [write("x.txt", 17)], final: [remove("notes/c.txt")] }), // 18
  ask({ ends: "failed" }), // 19
  ask({ reads: reads("notes/c.txt", "x.txt"), final: [write("end.txt", 18)] }), // 20
  { type: "kill" },
  // Points of all turns and attempts, with those of other branches and with their parents.
  ...Array.from(
    { length: 40 },
    (_, nth): Operation => ({
      ...{ type: "diff", from: nth * 7, to: nth * 11 + 3 },
    }),
  ),
  ...Array.from({ length: 25 }, (_, nth) => diffParent(nth * 3)),
];

/** Number of turns of the conversation. */
export const TURNS = CONVERSATION.filter(({ type }) => type === "ask").length;
