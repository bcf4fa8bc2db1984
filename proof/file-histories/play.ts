import { knows, type Mark } from "./marks";
import { collide, edited, EXCLUDE_FILE, type Files, sameFiles, sorted } from "./paths";
import type { History, Operation } from "./operations";
import { predictAsk, type TeamEdit } from "./predict-ask";
import { predictPull } from "./predict-pull";
import { isLost, ownMark, pathsOf, predictPush } from "./predict-push";
import { filesOf, markAt, type State, turnOf } from "./state";
import type { AskOutcome, World } from "./world";

/** What a history did. `problem`: how the world differs from the model; `null` if it does not. */
export type PlayResult = {
  problem: { step: number; text: string } | null;
  /** Whether the model could not decide, so that the rest was not played. */
  isOpen: boolean;
  turns: number;
  pulls: number;
  pushes: number;
  conflicts: number;
};

export const startState = ({
  folders,
  sessions,
}: Pick<History, "folders" | "sessions">): State => ({
  contexts: new Map(),
  sessions: sessions.map((contexts) => ({ contexts, turns: [] })),
  folders: folders.map((context) => ({
    context,
    files: {},
    excludeRules: null,
    unnoted: 0,
    known: new Map(),
    version: 0,
    skipped: new Map(),
    hasMoved: false,
    records: new Map(),
  })),
});

class Mismatch extends Error {}
class UndecidedStep extends Error {}

/** Plays a history in a world and compares each result with the model's prediction. */
export async function play(history: History, world: World): Promise<PlayResult> {
  const player = new Player(history, world);
  for (const [index, operation] of history.operations.entries()) {
    try {
      await player.step(operation);
    } catch (error) {
      if (error instanceof UndecidedStep) return { ...player.played, isOpen: true };
      const text =
        error instanceof Mismatch
          ? error.message
          : `it threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
      return { ...player.played, problem: { step: index + 1, text } };
    }
  }
  return player.played;
}

class Player {
  readonly played: PlayResult = {
    problem: null,
    isOpen: false,
    turns: 0,
    pulls: 0,
    pushes: 0,
    conflicts: 0,
  };
  #state: State;
  /**
   * Files that a killed pull wrote, by folder, until the next command notes them. Whether a later
   * edit of such a file was made before or after the pull cannot be known, so it is left out.
   */
  readonly #unsettled = new Map<number, ReadonlySet<string>>();

  constructor(
    private readonly history: History,
    private readonly world: World,
  ) {
    this.#state = startState(history);
  }

  async step(operation: Operation): Promise<void> {
    switch (operation.type) {
      case "edit":
        return this.#edit(operation);
      case "exclude":
        return this.#exclude(operation);
      case "push":
        return this.#push(operation);
      case "pull": {
        const turns = this.#state.sessions[operation.session]?.turns.length ?? 0;
        const turn = { session: operation.session, number: Math.max(1, turns - operation.back) };
        return turns === 0 ? undefined : this.#pull(operation, turn);
      }
      case "pull version":
        return this.#pull(operation, null);
      case "ask":
        return this.#ask(operation);
      case "kill":
        return this.world.kill();
    }
  }

  async #edit({
    folder: index,
    path,
    contents,
  }: Extract<Operation, { type: "edit" }>): Promise<void> {
    const folder = this.#state.folders[index];
    const unsettled = [...(this.#unsettled.get(index) ?? [])];
    if (!folder || unsettled.some((one) => one === path || collide(one, path))) return;
    const files = edited(folder.files, path, contents);
    if (
      this.history.isNormal &&
      !mayWrite(this.#state, path, folder.context, ownMark(folder, path))
    )
      return;
    for (const other of Object.keys(folder.files))
      if (!(other in files) && other !== path) await this.world.write(index, other, null);
    await this.world.write(index, path, contents);
    this.#state = {
      ...this.#state,
      folders: this.#state.folders.with(index, { ...folder, files }),
    };
  }

  async #exclude({ folder: index, rules }: Extract<Operation, { type: "exclude" }>): Promise<void> {
    const folder = this.#state.folders[index];
    if (!folder) return;
    await this.world.write(index, EXCLUDE_FILE, rules);
    const folders = this.#state.folders.with(index, { ...folder, excludeRules: rules });
    this.#state = { ...this.#state, folders };
  }

  async #push({ folder, ...options }: Extract<Operation, { type: "push" }>): Promise<void> {
    const pushing = this.#state.folders[folder];
    if (pushing && isLost(this.#state, pushing)) throw new UndecidedStep();
    const expected = predictPush(this.#state, folder, options);
    const { status } = await this.world.push(folder, options);
    this.#unsettled.delete(folder);
    expectSame("the push", status, expected.status);
    this.played.pushes += 1;
    this.#state = expected.after;
    const context = this.#state.folders[folder]?.context ?? "";
    const newest = this.#state.contexts.get(context)?.at(-1);
    const files = await this.world.newest(context);
    expectFiles(
      `the newest version of ${context}`,
      files ?? {},
      newest ? filesOf(newest.marks, newest.leftOut) : {},
    );
    await this.#checkFolders();
  }

  async #pull(
    {
      folder,
      skipsConflicts = false,
      included,
      isKilled = false,
    }: { folder: number; skipsConflicts?: boolean; included?: string; isKilled?: boolean },
    turn: { session: number; number: number } | null,
  ): Promise<void> {
    const options = { turn, skipsConflicts, ...(included === undefined ? {} : { included }) };
    const expected = predictPull(this.#state, folder, options);
    if (expected.outcome === "open") throw new UndecidedStep();
    const before = this.#state.folders[folder]?.files ?? {};
    const pulled = await this.world.pull(folder, { ...options, isKilled });
    this.#unsettled.delete(folder);
    expectSame("the pull", pulled.outcome, expected.outcome);
    this.played.pulls += 1;
    if (expected.outcome === "refused") return;
    expectSame(
      "the conflicts of the pull",
      pulled.conflicts.toSorted().join(" "),
      expected.conflicts.toSorted().join(" "),
    );
    this.played.conflicts += expected.conflicts.length;
    if (expected.outcome === "pulled") {
      this.#state = expected.after;
      const { files } = expected;
      const written = pathsOf(before, files).filter((path) => before[path] !== files[path]);
      if (isKilled) this.#unsettled.set(folder, new Set(written));
    }
    await this.#checkFolders();
  }

  async #ask({
    session,
    back,
    edits,
    ends,
    wins,
    uses,
  }: Extract<Operation, { type: "ask" }>): Promise<void> {
    const turns = this.#state.sessions[session]?.turns.length ?? 0;
    const parent = turns === 0 ? 0 : Math.max(1, turns - back);
    const options = { parent, wins, uses, isCompleted: ends !== "failed" };
    const allowed = this.history.isNormal
      ? this.#allowedEdits(session, { ...options, edits })
      : edits;
    const expected = predictAsk(this.#state, session, { ...options, edits: allowed });
    if (expected.outcome === "open") throw new UndecidedStep();
    const asked = await this.world.ask({ session, parent, edits: allowed, ends, wins, uses });
    expectSame("the turn", asked.outcome, expected.outcome);
    if (expected.outcome === "refused") return this.#checkConflicts(asked, expected.conflicts);
    if (expected.outcome !== "started" || asked.outcome !== "started") return;
    this.played.turns += 1;
    this.#state = expected.after;
    for (const [context, files] of asked.ends ?? [])
      expectFiles(
        `the state of ${context} after the turn`,
        files,
        expected.ends.get(context) ?? {},
      );
  }

  #checkConflicts(
    asked: AskOutcome,
    expected: ReadonlyMap<string, { paths: readonly string[]; colliding: readonly string[] }>,
  ): void {
    if (asked.outcome !== "refused") return;
    expectSame(
      "contexts with conflicts",
      [...asked.conflicts.keys()].sort().join(" "),
      [...expected.keys()].sort().join(" "),
    );
    for (const [context, { paths, colliding }] of expected) {
      const reported = asked.conflicts.get(context) ?? [];
      const certain = reported.filter((path) => paths.includes(path) || !colliding.includes(path));
      expectSame(
        `the conflicts in ${context}`,
        certain.toSorted().join(" "),
        paths.toSorted().join(" "),
      );
      const missed = colliding.filter(
        (path) => !reported.some((other) => other === path || collide(other, path)),
      );
      expectSame(`the colliding paths in ${context} that are not reported`, missed.join(" "), "");
      this.played.conflicts += reported.length;
    }
  }

  /** The edits of a team that receives every change before it writes the same file. */
  #allowedEdits(session: number, options: Parameters<typeof predictAsk>[2]): TeamEdit[] {
    const start = predictAsk(this.#state, session, { ...options, edits: [] });
    if (start.outcome !== "started") return [];
    const turn = start.after.sessions[session]?.turns.at(-1);
    return options.edits.filter(({ context, path }) => {
      const own = turn?.ends.get(context);
      return own !== undefined && mayWrite(start.after, path, context, markAt(own, path));
    });
  }

  async #checkFolders(): Promise<void> {
    for (const [index, { files }] of this.#state.folders.entries())
      expectFiles(`folder ${index}`, await this.world.files(index), files);
  }
}

/** Whether a copy of a file contains every change that somebody has made to it. */
function mayWrite(state: State, path: string, context: string, own: Mark): boolean {
  const folders = state.folders.filter((folder) => folder.context === context);
  const version = state.contexts.get(context)?.at(-1);
  const turns = state.sessions.map((session) =>
    turnOf(session, session.turns.length)?.ends.get(context),
  );
  const copies = [
    ...folders.map((folder) => ownMark(folder, path)),
    ...[version?.marks, ...turns].map((marks) => markAt(marks ?? new Map(), path)),
  ];
  return copies.every((copy) => knows(own, copy) || isSameEdit(copy, own));
}

/** Whether both are the unsaved state of the same folder, which has a new mark at each reading. */
const isSameEdit = (one: Mark, other: Mark): boolean =>
  one.contents === other.contents && one.seen.length === 1 && one.seen[0] === other.seen[0];

function expectSame(what: string, actual: string, expected: string): void {
  if (actual !== expected) throw new Mismatch(`${what}: "${actual}" instead of "${expected}"`);
}

function expectFiles(what: string, actual: Files, expected: Files): void {
  if (sameFiles(actual, expected)) return;
  throw new Mismatch(
    `${what}: ${JSON.stringify(sorted(actual))} instead of ${JSON.stringify(sorted(expected))}`,
  );
}
