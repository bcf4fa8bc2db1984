import { sha256 } from "../../local/sha256";
import {
  type Orders,
  type OrderedEdit,
  OrdersSchema,
  shortAnswer,
} from "../../simulated/providers/tree-models";
import { FileDiffer } from "../../src/api/sessions/diff/file-differ";
import { fileChanges } from "../../src/diff/file-changes";
import type { Diff } from "../../src/protocol/api/diff";
import type { Tree } from "../../src/workspace/types";
import { beforeFirst } from "./check-diff";
import type { Ask, Edit, Root } from "./operations";
import { type Past, type Reading, usualReading } from "./predict-history";
import {
  predictCompact,
  type PredictedTurn,
  predictTurn,
  type Question,
  withPartialText,
  withTurn,
} from "./predict-turn";
import {
  EMPTY,
  type Files,
  type Point,
  pointsOf,
  referencesOf,
  type State,
  type Summary,
  type Trees,
  type Turn,
  turnOf,
} from "./state";
import type {
  AnswerPlace,
  AskedTurn,
  AskRequest,
  ShownAnswer,
  ShownHistory,
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
  /** Changes what the agents of a turn read of earlier turns. */
  reading?: (reading: Reading, past: Past) => Reading;
  /** Changes what the service remembers after a turn that only summarises. */
  compacted?: (state: State) => State;
  /** Changes what the service remembers after a move. */
  moved?: (state: State) => State;
  killed?: (state: State) => State;
  /** The queue after a kill, a removal or an interrupt. The interrupting request is the last. */
  queue?: Partial<Record<QueueEvent, (ids: string[]) => string[]>>;
  /** Changes the request by which a turn is repeated. */
  repeated?: (request: NamedRequest) => NamedRequest;
  diff?: (diff: Diff) => Diff;
};

type QueueEvent = "killed" | "removed" | "interrupted";

/** A request with its parent: `null` for none; `undefined` leaves it to the service. */
type NamedRequest = Pick<AskRequest, "question" | "team"> & { named: number | null | undefined };

const NO_REQUEST: NamedRequest = { question: "", named: undefined };

/** A service that behaves as the model predicts, except for its bug. */
export class ModelWorld implements World {
  readonly context = "site";
  readonly #bug: Bug;
  #state: State = EMPTY;
  /** The request whose turn runs, and the requests of all turns. */
  #request = NO_REQUEST;
  readonly #requests = new Map<number, NamedRequest>();
  /** All requests that were sent, and the ids of those that wait. */
  readonly #sent = new Map<string, NamedRequest>();
  #queue: string[] = [];

  constructor(bug: Bug = {}) {
    this.#bug = bug;
  }

  async start({ parent, ...request }: AskRequest): Promise<number> {
    this.#request = { ...request, named: parent };
    return this.#state.turns.length + 1;
  }

  async repeat(number: number): Promise<number> {
    const repeated = turnOf(this.#state, number);
    const { question } = this.#requests.get(number) ?? NO_REQUEST;
    const request: NamedRequest = {
      ...{ question, named: repeated?.parent ?? null },
      ...(repeated && { team: repeated.team }),
    };
    this.#request = this.#bug.repeated?.(request) ?? request;
    return this.#state.turns.length + 1;
  }

  async compact(): Promise<number | string> {
    return predictCompact(this.#state)?.turn.number ?? "nothing_to_summarise";
  }

  async send({ parent, ...request }: AskRequest): Promise<string> {
    const id = `request ${this.#sent.size + 1}`;
    this.#sent.set(id, { ...request, named: parent });
    this.#queue.push(id);
    return id;
  }

  async remove(id: string): Promise<boolean> {
    const isWaiting = this.#queue.includes(id);
    const left = this.#queue.filter((one) => one !== id);
    this.#queue = this.#bug.queue?.removed?.(this.#queue) ?? left;
    return isWaiting;
  }

  async turnOfSent(id: string): Promise<number> {
    const place = this.#queue.indexOf(id);
    if (place < 0) throw new Error(`there is no ${id}`);
    this.#queue = this.#queue.toSpliced(place, 1);
    this.#request = this.#sent.get(id) ?? NO_REQUEST;
    return this.#state.turns.length + 1 + place;
  }

  async queue(): Promise<readonly string[]> {
    return this.#queue;
  }

  async finish(
    number: number,
    { ends, killAfterMs, interrupt, kind }: TurnCourse,
  ): Promise<AskedTurn> {
    if (killAfterMs !== null) await this.kill();
    if (kind === "compact") return this.#finishCompact();
    const interrupting = interrupt ? await this.#interrupt(interrupt) : null;
    const { question, named, team = null } = this.#request;
    this.#requests.set(number, this.#request);
    const orders = OrdersSchema.parse(JSON.parse(question.slice(question.indexOf("{"))));
    const known = this.#bug.before?.(this.#state) ?? this.#state;
    const ask: Ask = { ...this.#askOf(orders), ends, team };
    const { predicted, history } = this.#predict(known, { ask, id: orders.id, named });
    const { stalled, written } = predicted;
    const partial = stalled?.slice(0, 40) ?? null;
    const turn = partial === null ? predicted.turn : withPartialText(predicted.turn, partial);
    const presented = turn.texts.findLast(({ text }) => text !== shortAnswer(orders))?.trees;
    const ended = this.#bug.ended?.(turn, presented ?? turn.start) ?? turn;
    this.#state = withTurn(this.#state, { turn: ended, written });
    const asked = { ...askedTurn(ended, partial), number, interrupting, history };
    return this.#bug.asked?.(asked) ?? asked;
  }

  #predict(known: State, question: Question): { predicted: PredictedTurn; history: ShownHistory } {
    const { past } = predictTurn(known, question);
    const usual = usualReading(past);
    const reading = this.#bug.reading?.(usual, past) ?? usual;
    const predicted = predictTurn(known, question, reading);
    const { through, cut } = reading;
    return { predicted, history: shownHistory(through, cut.size > 0, predicted.written) };
  }

  #finishCompact(): AskedTurn {
    const predicted = predictCompact(this.#state);
    if (!predicted) throw new Error("there is nothing to summarise");
    const state = withTurn(this.#state, predicted);
    this.#state = this.#bug.compacted?.(state) ?? state;
    const { turn, history } = predicted;
    const asked = { ...askedTurn(turn, null), hashes: null, changes: null, history };
    return this.#bug.asked?.(asked) ?? asked;
  }

  async answer(place: AnswerPlace): Promise<ShownAnswer> {
    const { turn, attempt, label } = place;
    const { text, trees } = this.#point(`turn_${turn}/attempt_${attempt}/${label}`);
    return { text: text ?? "", hashes: hashesOf(trees.workspace) };
  }

  async move(turn: number): Promise<number | string> {
    if (turnOf(this.#state, turn)?.kind === "compact") return "turn_not_found";
    const state = { ...this.#state, head: turn };
    this.#state = this.#bug.moved?.(state) ?? state;
    return turn;
  }

  async push(files: Files): Promise<void> {
    this.#state = { ...this.#state, uploaded: new Map(files) };
  }

  async kill(): Promise<void> {
    this.#state = this.#bug.killed?.(this.#state) ?? this.#state;
    this.#queue = this.#bug.queue?.killed?.(this.#queue) ?? this.#queue;
  }

  async #interrupt(request: AskRequest): Promise<string> {
    const id = await this.send(request);
    const first = [id, ...this.#queue.slice(0, -1)];
    this.#queue = this.#bug.queue?.interrupted?.(this.#queue) ?? first;
    return id;
  }

  async tree(): Promise<ShownTree> {
    const { head, turns } = this.#state;
    return {
      head,
      turns: turns.map(({ number, parent, status, kind }) => ({ number, parent, status, kind })),
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

  #askOf(orders: Orders): Omit<Ask, "ends" | "team"> {
    const { reads, answer, final, rejected } = orders;
    const edits = (list: readonly OrderedEdit[]): Edit[] => list.map((edit) => this.#editOf(edit));
    return {
      ...{ type: "ask", back: null, killAfterMs: null, answer: edits(answer), final: edits(final) },
      reads: reads.map((absolute) => this.#placeOf(absolute)),
      rejected: rejected && edits(rejected),
      ...{ length: orders.text?.length ?? 0, refusesSummary: orders.summary === "refused" },
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
    interrupting: null,
    history: shownHistory(null, false, null),
  };
}

const shownHistory = (
  through: number | null,
  isCut: boolean,
  written: Summary | null,
): ShownHistory => ({ through, isCut, written: written ? [written] : [] });

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
