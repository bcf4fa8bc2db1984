import type { Ask, Edit, History, Operation, Root } from "./operations";
import type { PlayResult } from "./play";

/** A conversation of 41 turns, written by hand. Numbers of turns are in comments. */

const ask = (parts: Partial<Ask> = {}): Ask => ({
  ...{ type: "ask", back: null, team: null, reads: [], answer: [], final: [], rejected: null },
  ...{ ends: "completed", killAfterMs: null, length: 0, refusesSummary: false },
  ...parts,
});
const write = (path: string, contents: number, root: Root = "workspace"): Edit => ({
  ...{ kind: "write", root, path, contents },
});
const move = (path: string, to: string, root: Root = "workspace"): Edit => ({
  ...{ kind: "move", root, path, to },
});
const remove = (path: string, root: Root = "workspace"): Edit => ({ kind: "remove", root, path });
/** Four questions of this length are too long for a prompt. */
const LONG = 45_000;
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
  // 9: another team, which the turns that continue it have too
  ask({
    team: "swapped",
    final: [write("team/x.txt", 11, "context"), remove("a.txt")],
    killAfterMs: 150,
  }),
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
  // 17 is interrupted by 18; then 19 follows from the queue. The service is killed with all three.
  {
    type: "burst",
    first: ask({ ends: "cancelled", reads: reads("user/q.txt", "b.txt"), killAfterMs: 150 }),
    queued: [
      ask({ reads: reads("between.txt"), final: [write("end.txt", 18)] }),
      ask({ final: [write("removed.txt", 19)] }),
    ],
    removed: 1,
    interrupt: ask({ final: [write("between.txt", 17)] }),
  },
  // 20 is cancelled, so that the queue is held until the user resumes it; 21 fails and holds it too
  {
    type: "burst",
    first: ask({ ends: "cancelled", rejected: [write("x.txt", 20)], final: [remove("end.txt")] }),
    queued: [ask({ ends: "failed" }), ask({ back: 9, reads: reads("a.txt", "x.txt", "end.txt") })],
    removed: null,
    interrupt: null,
  },
  { type: "repeat", back: 3, killAfterMs: 100 }, // 23 asks the question of 19 again
  { type: "repeat", back: 22, killAfterMs: null }, // 24 asks that of turn 1, without a parent
  { type: "move", back: 9 }, // to turn 15
  { type: "compact", killAfterMs: 20 }, // 25 summarises the branch of turn 15, which stays the head
  { type: "compact", killAfterMs: null }, // refused, because nothing is left to summarise
  ask({ reads: reads("a.txt", "team/x.txt"), final: [write("summed.txt", 21)] }), // 26
  ask({ back: 11, reads: reads("a.txt") }), // 27 follows turn 14, and so reads all turns in full
  ask({ back: 11, length: LONG }), // 28 follows turn 15, and so uses the summary
  ask({ length: LONG }), // 29
  ask({ length: LONG, final: [write("a.txt", 22)] }), // 30
  ask({ length: LONG, reads: reads("a.txt") }), // 31
  ask({ ends: "cancelled", killAfterMs: 20 }), // 32 writes a summary first, which stays
  ask({ back: 1, length: LONG }), // 33 follows turn 31, and uses the summary of the other branch
  ask({ length: LONG, refusesSummary: true }), // 34
  ask({ length: LONG, reads: reads("a.txt", "summed.txt") }), // 35
  // 36 and 37 read cut texts, because models refuse to write the summary
  ask({ rejected: [write("a.txt", 23)], final: [write("cut.txt", 24)], killAfterMs: 200 }),
  ask({ ends: "failed" }),
  { type: "compact", killAfterMs: 50 }, // 38 summarises up to turn 36; turn 37 stays the head
  ask({ reads: reads("cut.txt", "summed.txt") }), // 39
  { type: "move", back: 4 }, // to turn 34
  { type: "compact", killAfterMs: null }, // 40 fails, because models refuse it; the head stays
  ask({ reads: reads("cut.txt", "a.txt") }), // 41
  { type: "kill" },
  // Points of all turns and attempts, with those of other branches and with their parents.
  ...Array.from(
    { length: 40 },
    (_, nth): Operation => ({
      ...{ type: "diff", from: nth * 17, to: nth * 29 + 3 },
    }),
  ),
  ...Array.from({ length: 25 }, (_, nth) => diffParent(nth * 7)),
];

/** Number of turns of the conversation. */
export const TURNS = 41;

/** What the conversation does. */
export const PLAYED: PlayResult = {
  ...{ problem: null, turns: TURNS, branches: 11, moves: 5, diffs: 69, kills: 13 },
  ...{ queued: 3, interrupts: 1, repeats: 2, compacts: 3, summaries: 1, cuts: 2 },
};
