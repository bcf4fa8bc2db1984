import { Chance } from "../../simulated/chance";
import type { History, Operation } from "./operations";
import type { TeamEdit } from "./predict-ask";

const SETUPS: readonly Pick<History, "folders" | "sessions">[] = [
  { folders: ["site"], sessions: [["site"]] },
  { folders: ["site"], sessions: [["site"]] },
  { folders: ["site"], sessions: [["site"], ["site"]] },
  { folders: ["site", "site"], sessions: [["site"]] },
  { folders: ["site", "site"], sessions: [["site"], ["site"]] },
  { folders: ["site", "docs"], sessions: [["site", "docs"]] },
];
const PLAIN = ["a.txt", "b.txt", "src/c.txt", "src/d.txt"];
/** Files that `push` or `pull` leaves out, always or under some rules of `.gitignore`. */
const OFTEN_LEFT_OUT = ["dist/app.js", "dist/map.js", "run.log", ".npmrc", ".env"];
/** A file that may become a folder. */
const COLLIDING = ["lib", "lib/x.txt"];
const IGNORE_RULES = ["dist/\n", "dist/\n*.log\n", "*.log\n", "", null];
/** Rules that only one folder has. */
const EXCLUDE_RULES = ["b.txt\n", "b.txt\nrun.log\n", "dist/\n", null, null];

/** Draws a history. The same seed draws the same history. */
export function randomHistory(
  seed: number,
  { isNormal, length }: { isNormal: boolean; length: number },
): History {
  const chance = new Chance(seed);
  const setup = chance.pick(SETUPS);
  const draw = new Draw(chance, setup, isNormal);
  const beginning: Operation[] = setup.folders.flatMap((_, folder) => draw.beginningOf(folder));
  return {
    ...setup,
    isNormal,
    operations: [...beginning, ...Array.from({ length }, () => draw.operation())],
  };
}

class Draw {
  #contents = 0;
  readonly #asked = new Set<number>();

  constructor(
    private readonly chance: Chance,
    private readonly setup: Pick<History, "folders" | "sessions">,
    private readonly isNormal: boolean,
  ) {}

  /**
   * Some files and a push, so that every history has a version early. A second folder of a context
   * begins with a pull of the version, or later with a pull of a turn.
   */
  beginningOf(folder: number): Operation[] {
    const isSecond = this.setup.folders.indexOf(this.setup.folders[folder] ?? "") < folder;
    if (isSecond && this.chance.is(0.2)) return [];
    if (isSecond && (this.isNormal || this.chance.is(0.8)))
      return [{ type: "pull version", folder }];
    const files = PLAIN.slice(0, this.chance.int(1, PLAIN.length));
    return [
      ...files.map(
        (path) => ({ type: "edit", folder, path, contents: this.#newContents() }) as const,
      ),
      ...(this.chance.is(0.6)
        ? [{ type: "edit", folder, path: ".gitignore", contents: "dist/\n" } as const]
        : []),
      { type: "push", folder },
    ];
  }

  operation(): Operation {
    const { chance } = this;
    const folder = chance.int(0, this.setup.folders.length - 1);
    const session = chance.int(0, this.setup.sessions.length - 1);
    switch (
      chance.weighted({
        edit: 7,
        exclude: 0.8,
        push: 4,
        pull: 4,
        version: 1.5,
        ask: 5,
        kill: 0.4,
      })
    ) {
      case "edit":
        return { type: "edit", folder, ...this.#edit() };
      case "exclude":
        return { type: "exclude", folder, rules: chance.pick(EXCLUDE_RULES) };
      case "push":
        return {
          type: "push",
          folder,
          ...(this.#rarely(0.08) ? { included: chance.pick(OFTEN_LEFT_OUT) } : {}),
          ...(chance.is(0.1) ? { isKilled: true as const } : {}),
        };
      case "pull":
        return { type: "pull", folder, session, back: this.#back(), ...this.#pullOptions() };
      case "version":
        return { type: "pull version", folder, ...this.#pullOptions() };
      case "ask":
        return this.#ask(session);
      case "kill":
        return { type: "kill" };
    }
  }

  #ask(session: number): Operation {
    const { chance } = this;
    const contexts = this.setup.sessions[session] ?? [];
    const uses = this.#uses(session);
    const used = uses ?? contexts;
    const edits: TeamEdit[] = Array.from({ length: used.length && chance.int(0, 3) }, () => ({
      context: chance.pick(used),
      ...this.#edit(),
    }));
    const ends = chance.weighted({ completed: 10, failed: 1, killed: 1 });
    const wins = this.#rarely(0.35) ? { wins: chance.pick(["turn", "upload"] as const) } : {};
    return {
      type: "ask",
      session,
      back: this.#back(),
      edits,
      ends,
      ...wins,
      ...(uses && { uses }),
    };
  }

  /** Often the first turns of a session do not use a context yet. Later turns seldom omit one. */
  #uses(session: number): readonly string[] | undefined {
    const { chance } = this;
    const isFirst = !this.#asked.has(session);
    if (!chance.is(isFirst ? 0.25 : 0.06)) {
      this.#asked.add(session);
      return undefined;
    }
    const contexts = this.setup.sessions[session] ?? [];
    const omitted = chance.pick(contexts);
    return contexts.filter((name) => name !== omitted);
  }

  #pullOptions() {
    return {
      ...(this.#rarely(0.4) ? { skipsConflicts: true as const } : {}),
      ...(this.chance.is(0.1) ? { included: this.chance.pick(OFTEN_LEFT_OUT) } : {}),
      ...(this.chance.is(0.1) ? { isKilled: true as const } : {}),
    };
  }

  #edit(): { path: string; contents: string | null } {
    const { chance } = this;
    const kind = chance.weighted({
      plain: 8,
      leftOut: 4,
      rules: 1.2,
      colliding: this.isNormal ? 0 : 1,
    });
    if (kind === "rules") return { path: ".gitignore", contents: chance.pick(IGNORE_RULES) };
    const paths = { plain: PLAIN, leftOut: OFTEN_LEFT_OUT, colliding: COLLIDING }[kind];
    return { path: chance.pick(paths), contents: chance.is(0.2) ? null : this.#newContents() };
  }

  /**
   * Contents repeat only in histories with conflicts, so that both sides sometimes write
   * the same.
   */
  #newContents(): string {
    this.#contents += 1;
    return this.isNormal || this.chance.is(0.6)
      ? `text ${this.#contents}`
      : `text ${this.chance.int(1, 4)}`;
  }

  #back(): number {
    return this.#rarely(0.15) ? this.chance.int(1, 3) : 0;
  }

  #rarely(probability: number): boolean {
    return !this.isNormal && this.chance.is(probability);
  }
}
