import { Chance } from "../../simulated/chance";
import type { Ask, Burst, Edit, History, Operation, Root } from "./operations";

const WORKSPACE = ["a.txt", "b.txt", "notes/c.txt", "notes/d.txt"];
const TEAM = ["team/x.txt", "team/y.txt", "team/deep/z.txt"];
const USER = ["user/p.txt", "user/q.txt"];
/** Points of a diff are numbered modulo their number, so that each point is equally likely. */
const POINTS = 10_000;
const KILLED_WITHIN_MS = 400;
/** Four or five questions of this length need a summary. */
const LONG_CHARACTERS = [30_000, 40_000] as const;

/** Draws a history. The same seed draws the same history. */
export function randomHistory(seed: number, length: number): History {
  const draw = new Draw(new Chance(seed));
  // The session needs a version of its context, and the other steps need a turn.
  const beginning = [draw.push(USER[0] ?? ""), draw.ask()];
  return [...beginning, ...Array.from({ length }, () => draw.operation())];
}

class Draw {
  #contents = 0;
  /** Whether most questions are long. Then branches are longer too, so that they need summaries. */
  readonly #isLong: boolean;

  constructor(private readonly chance: Chance) {
    this.#isLong = chance.is(0.5);
  }

  operation(): Operation {
    const { chance } = this;
    const type = chance.weighted({
      ...{ ask: 7, burst: 1.2, repeat: 1, move: 2.5, push: 2, diff: 4, parent: 1, kill: 0.6 },
      compact: 0.8,
    });
    switch (type) {
      case "ask":
        return this.ask();
      case "burst":
        return this.#burst();
      case "repeat":
        return { type, back: chance.int(0, 5), killAfterMs: this.#killAfterMs() };
      case "compact":
        return { type, killAfterMs: this.#killAfterMs() };
      case "move":
        return { type, back: chance.int(0, 5) };
      case "push":
        return this.push(chance.pick(USER));
      case "diff":
        return { type, from: chance.int(0, POINTS), to: chance.int(0, POINTS) };
      case "parent":
        return { type: "diff parent", to: chance.int(0, POINTS) };
      case "kill":
        return { type };
    }
  }

  push(path: string): Operation {
    return { type: "push", path, contents: this.chance.is(0.2) ? null : this.#newContents() };
  }

  ask(): Ask {
    const { chance } = this;
    const edits = (most: number, draw: () => Edit): Edit[] =>
      Array.from({ length: chance.int(0, most) }, draw);
    return {
      type: "ask",
      back: chance.is(this.#isLong ? 0.2 : 0.3) ? chance.int(0, 5) : null,
      reads: Array.from({ length: chance.int(0, 2) }, () => {
        const root = this.#root();
        return { root, path: chance.pick(root === "workspace" ? WORKSPACE : [...TEAM, ...USER]) };
      }),
      answer: edits(1, () => this.#edit("workspace")),
      final: edits(3, () => this.#edit(this.#root())),
      rejected: chance.is(0.2) ? edits(2, () => this.#edit(this.#root())) : null,
      ends: chance.weighted({ completed: 10, failed: 2, cancelled: 3 }),
      killAfterMs: this.#killAfterMs(),
      team: chance.is(0.15) ? chance.pick(["usual", "swapped"]) : null,
      length: chance.is(this.#isLong ? 0.9 : 0.1) ? chance.int(...LONG_CHARACTERS) : 0,
      refusesSummary: chance.is(0.4),
    };
  }

  /**
   * Only a turn that stalls still runs when several questions have been sent. With another first
   * turn, the queue could be held before the second one is sent, which would then start first.
   */
  #burst(): Burst {
    const { chance } = this;
    const ends = chance.weighted({ cancelled: 4, completed: 2, failed: 1 });
    const first: Ask = { ...this.ask(), ends };
    const count = first.ends === "cancelled" ? chance.int(1, 3) : 1;
    return {
      type: "burst",
      first,
      queued: Array.from({ length: count }, () => this.ask()),
      removed: chance.is(0.3) ? chance.int(0, count - 1) : null,
      interrupt: chance.is(0.4) ? this.ask() : null,
    };
  }

  #killAfterMs(): number | null {
    return this.chance.is(0.15) ? this.chance.int(0, KILLED_WITHIN_MS) : null;
  }

  #root(): Root {
    return this.chance.is(0.6) ? "workspace" : "context";
  }

  #edit(root: Root): Edit {
    const { chance } = this;
    const paths = root === "workspace" ? WORKSPACE : TEAM;
    const path = chance.pick(paths);
    switch (chance.weighted({ write: 6, remove: 1.5, move: 2 })) {
      case "write":
        return { kind: "write", root, path, contents: this.#newContents() };
      case "remove":
        return { kind: "remove", root, path };
      case "move":
        return { kind: "move", root, path, to: chance.pick(paths) };
    }
  }

  #newContents(): number {
    this.#contents += 1;
    return this.#contents;
  }
}
