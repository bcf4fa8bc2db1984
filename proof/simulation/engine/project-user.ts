import type { ConflictSide, IncludedTurn } from "../../../src/protocol/api/contexts";
import { startOfContexts } from "../../../durable-objects/session/admission/start-states";
import type { TurnStart } from "../../../durable-objects/session/files/context-states";
import type { PinnedContext } from "../../../src/protocol/events";
import { Chance } from "../../../simulated/chance";
import { entryOf, type Files, SITE, type SimulatedContexts } from "./contexts";
import { type EngineSituation, idOf, SESSION } from "./engine-situation";
import { hash } from "./faults";
import type { LiveSession } from "./platform";

/** Number of turns of a project. */
export const PROJECT_TURNS = 4;
/** Files of this folder are never sent by the user. */
export const LEFT_OUT = "dist/";
/** A file that some users push at first, exclude later, and then send again. */
const EXCLUDED_LATER = "b.txt";

const FIRST_FILES: Files = new Map([
  ["a.txt", "a of the user"],
  ["b.txt", "b of the user"],
  ["own.txt", "own of the user"],
]);

/**
 * How the user starts a turn. `winner`: the side that wins conflicts, if there are any.
 * `conflicts`: the paths with which the service refused the turn; empty if it did not refuse it.
 */
export type ProjectStart = {
  turn: number;
  version: string;
  winner: ConflictSide;
  conflicts: readonly string[];
};

/**
 * When the user excludes a file and sends it again: before these turns, `null` for never. `edits`:
 * whether it is edited before it is sent again.
 */
type Exclusion = { from: number | null; until: number | null; edits: boolean };

/**
 * The turn that was pulled last. `paths`: the files of its state. `bases`: the excluded files whose
 * state the folder did not take, and what it has instead.
 */
type PulledTurn = {
  turn: number;
  paths: readonly string[];
  bases: { path: string; sha256: string | null }[];
};

/**
 * The user of a project: pulls results into a folder, edits files, pushes versions, and starts
 * turns on them. The folder never sends built files.
 */
export class ProjectUser {
  readonly starts: ProjectStart[] = [];
  readonly #seed: number;
  readonly #agents: number;
  readonly #contexts: SimulatedContexts;
  /** With branches, the user pushes and never pulls, so that no version contains a turn. */
  readonly #hasBranches: boolean;
  /** The files that the folder sends. */
  #folder: Map<string, string> = new Map(FIRST_FILES);
  readonly #exclusion: Exclusion;
  #isExcluding = false;
  /**
   * The text of the excluded file on the user's disk, and in the last push or pull before it was
   * excluded; `null` if there is no such file.
   */
  #excluded: { here: string | null; base: string | null } = { here: null, base: null };
  /** The files that the folder sends, as of the last push or pull. */
  #synced: Files = FIRST_FILES;
  /** Files that the pull before this turn has changed. The user often edits them. */
  #taken: string[] = [];
  /** `null` before the first pull. */
  #pulled: PulledTurn | null = null;

  constructor({ seed, agents, habits }: EngineSituation, contexts: SimulatedContexts) {
    this.#hasBranches = habits.includes("branches");
    this.#seed = seed;
    this.#agents = agents;
    this.#contexts = contexts;
    const chance = new Chance(seed ^ hash("excluded file"));
    const from = chance.is(0.4) ? chance.int(2, PROJECT_TURNS) : null;
    const until = from !== null && chance.is(0.7) ? from + chance.int(1, 2) : null;
    this.#exclusion = { from, until, edits: chance.is(0.5) };
    contexts.push({ files: FIRST_FILES, entry: null, leftOut: new Map() });
  }

  /**
   * Starts a turn in the session, after edits and a push by the user. A repeated call only repeats
   * the start. `handle` starts the turn with these contexts.
   */
  async start(
    session: LiveSession,
    { turn, parent }: { turn: number; parent: number | null },
    handle: (contexts: PinnedContext[], start: TurnStart) => void,
  ): Promise<void> {
    if (!this.starts.some((start) => start.turn === turn)) await this.#prepare(session, turn);
    const start = this.starts.find((one) => one.turn === turn);
    if (!start) return;
    const contexts = [{ name: SITE, version: start.version }];
    const { workspaces } = session;
    const ask = (winner?: ConflictSide) =>
      startOfContexts(
        {
          reader: this.#contexts.services.reader,
          records: this.#contexts.records,
          states: workspaces.contextStates,
          isKept: (contents) => workspaces.isKept(contents),
        },
        { tenant: "simulated", sessionId: SESSION, parent, contexts, ...(winner && { winner }) },
      );
    const first = await ask();
    start.conflicts = first.ok ? [] : first.conflicts.map(({ path }) => path);
    const started = first.ok ? first : await ask(start.winner);
    if (!started.ok || session.coordinator.state.turns >= turn) return;
    const permissions = Object.fromEntries(
      Array.from({ length: this.#agents }, (_, index) => [idOf(index), "write" as const]),
    );
    handle(
      contexts.map((context) => ({ ...context, permissions })),
      started.start,
    );
  }

  /** Decides what the user does before a turn, and does it. */
  async #prepare(session: LiveSession, turn: number): Promise<void> {
    const chance = new Chance(this.#seed ^ hash(`project ${turn}`));
    const [pulls, edits, pushes] = [chance.is(0.7), chance.int(0, 2), chance.is(0.9)];
    const winner = chance.pick(["turn", "upload"] as const);
    if (turn > 1 && pulls && !this.#hasBranches && !(await this.#pull(session, turn - 1))) return;
    if (turn === this.#exclusion.from && !this.#isExcluding) this.#exclude();
    if (turn === this.#exclusion.until && this.#isExcluding) this.#sendAgain(turn);
    const paths = [...this.#taken, "a.txt", "own.txt", "new.txt"].filter(this.#isSent);
    for (let nth = 0; nth < edits; nth += 1)
      this.#folder.set(chance.pick(paths), `edit ${turn}.${nth}`);
    this.#taken = [];
    if (turn > 1 && pushes) this.#push();
    if (this.starts.some((start) => start.turn === turn)) return;
    this.starts.push({ turn, version: this.#contexts.newest.id, winner, conflicts: [] });
  }

  #isSent = (path: string): boolean =>
    !path.startsWith(LEFT_OUT) && !(this.#isExcluding && path === EXCLUDED_LATER);

  #exclude(): void {
    this.#isExcluding = true;
    const [here = null, base = null] = [this.#folder, this.#synced].map((files) =>
      files.get(EXCLUDED_LATER),
    );
    this.#excluded = { here, base };
    this.#folder.delete(EXCLUDED_LATER);
  }

  #sendAgain(turn: number): void {
    this.#isExcluding = false;
    const text = this.#exclusion.edits ? `sent again ${turn}` : this.#excluded.here;
    if (text !== null) this.#folder.set(EXCLUDED_LATER, text);
  }

  /**
   * Takes the files of a turn into the folder, three-way: a file that the user has edited stays.
   * Returns whether all contents could be read.
   */
  async #pull({ workspaces }: LiveSession, turn: number): Promise<boolean> {
    const [state] = workspaces.contextStates.end(turn);
    if (!state) return true;
    const base = this.#contexts.version(state.version)?.files ?? new Map();
    const files = new Map(base);
    for (const [path, entry] of state.changes) {
      const contents = entry && (await workspaces.stateContents(turn, entry.hash));
      if (contents && !contents.ok) return false;
      if (contents) files.set(path, new TextDecoder().decode(contents.bytes));
      else files.delete(path);
    }
    const isClean = [...this.#folder].every(([path, text]) => this.#pushed.get(path) === text);
    if (!isClean) return true;
    const isSent = ([path]: [string, string]) => this.#isSent(path);
    const isTaken = ([path, text]: [string, string]) => this.#folder.get(path) !== text;
    this.#taken = [...files]
      .filter(isSent)
      .filter(isTaken)
      .map(([path]) => path);
    this.#folder = new Map([...files].filter(isSent));
    this.#synced = new Map(this.#folder);
    this.#pulled = { turn, paths: [...files.keys()], bases: this.#basesOf(files) };
    return true;
  }

  /** The excluded file keeps its older base if the turn has another state of it. */
  #basesOf(files: Files): PulledTurn["bases"] {
    const { base } = this.#excluded;
    if (!this.#isExcluding || (files.get(EXCLUDED_LATER) ?? null) === base) return [];
    return [{ path: EXCLUDED_LATER, sha256: base === null ? null : entryOf(base).hash }];
  }

  /** The files of the newest version. */
  get #pushed(): Files {
    return this.#contexts.newest.files;
  }

  #push(): void {
    const { newest } = this.#contexts;
    const files = new Map(this.#folder);
    // A version without a file passes on that an older version left it out.
    const inherited = [...newest.leftOut].filter(([path]) => !files.has(path));
    const own = [...newest.files].filter(([path]) => !this.#isSent(path));
    const leftOut = new Map([...inherited, ...own]);
    this.#synced = files;
    this.#contexts.push({ files, entry: this.#entry ?? newest.entry, leftOut });
  }

  /** The entry of the session in the record of a push; `null` before the first pull. */
  get #entry(): IncludedTurn | null {
    if (this.#pulled === null) return null;
    const { turn, paths, bases } = this.#pulled;
    const known = new Set([...paths, ...bases.map(({ path }) => path)]);
    const leftOut = [...known].filter((path) => !this.#isSent(path));
    const others = bases.filter(({ path }) => this.#isSent(path));
    return {
      ...{ session: SESSION, turn },
      ...(leftOut.length > 0 && { left_out: leftOut }),
      ...(others.length > 0 && { bases: others }),
    };
  }
}
