import { sha256 } from "../../local/sha256";
import { type Orders, type OrderedEdit, OrdersSchema } from "../../simulated/providers/tree-models";
import { FileDiffer } from "../../src/api/sessions/diff/file-differ";
import { fileChanges } from "../../src/diff/file-changes";
import type { Diff } from "../../src/protocol/api/diff";
import type { Tree } from "../../src/workspace/types";
import { beforeFirst } from "./check-diff";
import type { Ask, Edit, Root } from "./operations";
import { predictTurn, withPartialText, withTurn } from "./predict-turn";
import {
  EMPTY,
  type Files,
  type Point,
  pointsOf,
  referencesOf,
  type State,
  type Trees,
  type Turn,
  turnOf,
} from "./state";
import type {
  AnswerPlace,
  AskedTurn,
  AskRequest,
  ShownAnswer,
  ShownTree,
  TurnCourse,
  World,
} from "./world";

/** How a wrong service differs from the model. All fields are optional. */
export type Bug = {
  /** Changes what the service remembers before it starts a turn. */
  before?: (state: State) => State;
  /** Changes a turn when it ends. `presented`: the files of its last presentation. */
  ended?: (turn: Turn, presented: Trees) => Turn;
  asked?: (turn: AskedTurn) => AskedTurn;
  /** Changes what the service remembers after a move. */
  moved?: (state: State) => State;
  killed?: (state: State) => State;
  diff?: (diff: Diff) => Diff;
};

/** A service that behaves as the model predicts, except for its bug. */
export class ModelWorld implements World {
  readonly context = "site";
  readonly #bug: Bug;
  #state: State = EMPTY;
  #request: AskRequest = { question: "", parent: null };

  constructor(bug: Bug = {}) {
    this.#bug = bug;
  }

  async start(request: AskRequest): Promise<number> {
    this.#request = request;
    return this.#state.turns.length + 1;
  }

  async finish(_turn: number, { ends }: TurnCourse): Promise<AskedTurn> {
    const { question, parent } = this.#request;
    const orders = OrdersSchema.parse(JSON.parse(question.slice(question.indexOf("{"))));
    const known = this.#bug.before?.(this.#state) ?? this.#state;
    const back = parent === null ? null : known.turns.length - parent;
    const ask: Ask = { ...this.#askOf(orders), ends, back };
    const { turn: predicted, stalled } = predictTurn(known, ask, orders.id);
    const partial = stalled?.slice(0, 40) ?? null;
    const turn = partial === null ? predicted : withPartialText(predicted, partial);
    const presented = turn.texts.findLast(({ label }) => label !== "agent2.1")?.trees;
    const ended = this.#bug.ended?.(turn, presented ?? turn.start) ?? turn;
    this.#state = withTurn(this.#state, ended);
    const asked = askedTurn(ended, partial);
    return this.#bug.asked?.(asked) ?? asked;
  }

  async answer(place: AnswerPlace): Promise<ShownAnswer> {
    const { turn, attempt, label } = place;
    const { text, trees } = this.#point(`turn_${turn}/attempt_${attempt}/${label}`);
    return { text: text ?? "", hashes: hashesOf(trees.workspace) };
  }

  async move(turn: number): Promise<number> {
    const state = { ...this.#state, head: turn };
    this.#state = this.#bug.moved?.(state) ?? state;
    return turn;
  }

  async push(files: Files): Promise<void> {
    this.#state = { ...this.#state, uploaded: new Map(files) };
  }

  async kill(): Promise<void> {
    this.#state = this.#bug.killed?.(this.#state) ?? this.#state;
  }

  async tree(): Promise<ShownTree> {
    const { head, turns } = this.#state;
    return {
      head,
      turns: turns.map(({ number, parent, status }) => ({ number, parent, status })),
    };
  }

  async diff(from: string, to: string): Promise<Diff> {
    const latest = this.#point(to);
    const parent = turnOf(this.#state, turnOf(this.#state, latest.turn)?.parent ?? null);
    const first = beforeFirst(turnOf(this.#state, latest.turn));
    const parentPoint = parent ? { trees: parent.end, text: parent.answer } : first;
    const diff = await diffOf(
      from === "parent" ? parentPoint : this.#point(from),
      latest,
      this.context,
    );
    return this.#bug.diff?.(diff) ?? diff;
  }

  async close(): Promise<void> {}

  #point(reference: string): Point {
    const point = pointsOf(this.#state).find((one) =>
      referencesOf(this.#state, one).includes(reference),
    );
    if (!point) throw new Error(`there is no ${reference}`);
    return point;
  }

  #askOf(orders: Orders): Omit<Ask, "ends" | "back"> {
    const { reads, answer, final, rejected } = orders;
    const edits = (list: readonly OrderedEdit[]): Edit[] => list.map((edit) => this.#editOf(edit));
    return {
      ...{ type: "ask", killAfterMs: null, answer: edits(answer), final: edits(final) },
      reads: reads.map((absolute) => this.#placeOf(absolute)),
      rejected: rejected && edits(rejected),
    };
  }

  #editOf({ path: absolute, contents, from }: OrderedEdit): Edit {
    const { root, path } = this.#placeOf(absolute);
    if (from !== undefined) return { kind: "move", root, path: this.#placeOf(from).path, to: path };
    const nth = /^c(\d+)c/.exec(contents ?? "")?.[1];
    return nth === undefined
      ? { kind: "remove", root, path }
      : { kind: "write", root, path, contents: Number(nth) };
  }

  #placeOf(absolute: string): { root: Root; path: string } {
    const prefix = `/contexts/${this.context}/`;
    return absolute.startsWith(prefix)
      ? { root: "context", path: absolute.slice(prefix.length) }
      : { root: "workspace", path: absolute.slice("/workspace/".length) };
  }
}

function askedTurn(turn: Turn, partial: string | null): AskedTurn {
  const { number, parent, status, answer, end, uploaded } = turn;
  const isCompleted = status === "completed";
  const changed = [...end.context].filter(([path, text]) => uploaded.get(path) !== text);
  return {
    ...{ number, parent, status, answer, partial },
    hashes: isCompleted ? hashesOf(end.workspace) : null,
    changes: isCompleted ? hashesOf(new Map(changed)) : null,
    moveDuringTurn: status === "cancelled" ? "turn_running" : null,
  };
}

const hashesOf = (files: Files): Map<string, string> =>
  new Map([...files].map(([path, text]) => [path, sha256(text)]));

/** The diff of two points, made by the code of the service. */
async function diffOf(
  from: Pick<Point, "trees" | "text">,
  to: Pick<Point, "trees" | "text">,
  context: string,
): Promise<Diff> {
  const differ = new FileDiffer();
  const roots = [
    ["workspace", ""],
    ["context", `contexts/${context}/`],
  ] as const;
  for (const [root, prefix] of roots) {
    const [before, after] = [from.trees[root], to.trees[root]];
    const contents = new Map([...before.values(), ...after.values()].map((t) => [sha256(t), t]));
    await differ.add({
      prefix,
      changes: fileChanges(treeOf(before), treeOf(after)),
      read: async (entries) =>
        entries.map(({ hash }) => new Uint8Array(Buffer.from(contents.get(hash) ?? ""))),
    });
  }
  const answer = await differ.answer(from.text, to.text);
  const point = { reference: "turn_1", turn: 1, attempt: null, label: null, status: null };
  const { counts, files: data, more } = differ;
  return {
    object: "diff",
    session_id: "session",
    from: point,
    to: point,
    counts,
    data,
    more,
    answer,
  };
}

const treeOf = (files: Files): Tree =>
  new Map(
    [...files]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, text]) => [path, { hash: sha256(text), size: text.length }]),
  );
