import { sha256 } from "../../local/sha256";
import { cutTurnsIn } from "../../simulated/providers/tree-models";
import { beforeFirst, diffProblems } from "./check-diff";
import { checkTurn, expectSame, Mismatch, resultOf, sorted } from "./compare-turn";
import type { Ask, Burst, Compact, History, Operation, Repeat } from "./operations";
import { cutProblem, type Reading, readingProblem } from "./predict-history";
import {
  namedParent,
  predictCompact,
  predictTurn,
  type PredictedTurn,
  type Question,
  withTurn,
} from "./predict-turn";
import { questionText } from "./question-text";
import {
  contentsOf,
  EMPTY,
  type Point,
  pointsOf,
  referencesOf,
  type State,
  type Turn,
  turnBack,
  turnOf,
} from "./state";
import type { AskedTurn, AskRequest, TurnCourse, World } from "./world";

/** What a history did. `problem`: how the world differs from the model; `null` if it does not. */
export type PlayResult = {
  problem: { step: number; text: string } | null;
  turns: number;
  branches: number;
  moves: number;
  diffs: number;
  kills: number;
  /** Turns that waited in a queue, interrupted another turn, or repeated one. */
  queued: number;
  interrupts: number;
  repeats: number;
  /** Turns that only summarise; summaries before the agents of a turn; turns with cut texts. */
  compacts: number;
  summaries: number;
  cuts: number;
};

/** What a history did before its first step. */
export const NOTHING: Omit<PlayResult, "problem"> = {
  ...{ turns: 0, branches: 0, moves: 0, diffs: 0, kills: 0 },
  ...{ queued: 0, interrupts: 0, repeats: 0, compacts: 0, summaries: 0, cuts: 0 },
};

/** Plays a history in a world, and compares each result with the model's prediction. */
export async function play(history: History, world: World): Promise<PlayResult> {
  const player = new Player(world);
  for (const [index, operation] of history.entries()) {
    try {
      await player.step(operation);
    } catch (error) {
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
  readonly played: PlayResult = { problem: null, ...NOTHING };
  #state: State = EMPTY;
  #questions = 0;
  /** The question of each turn. */
  readonly #asked = new Map<number, Question>();

  constructor(private readonly world: World) {}

  async step(operation: Operation): Promise<void> {
    switch (operation.type) {
      case "ask":
        return this.#ask(operation);
      case "burst":
        return this.#burst(operation);
      case "repeat":
        return this.#repeat(operation);
      case "compact":
        return this.#compact(operation);
      case "move":
        return this.#move(operation.back);
      case "push":
        return this.#push(operation.path, operation.contents);
      case "diff":
        return this.#diff(operation);
      case "diff parent":
        return this.#diffParent(operation.to);
      case "kill":
        this.played.kills += 1;
        return this.world.kill();
    }
  }

  async #ask(ask: Ask): Promise<void> {
    if (this.#state.uploaded.size === 0) return;
    const question = this.#newQuestion(this.#state, ask);
    const number = await this.world.start(this.#requestOf(this.#state, question));
    const { turn } = await this.#finish(number, question);
    await this.#checkTree();
    await this.#checkAnswers([turn]);
  }

  async #repeat({ back, killAfterMs }: Repeat): Promise<void> {
    const repeated = turnOf(this.#state, turnBack(this.#state, back));
    const asked = this.#asked.get(repeated?.number ?? 0);
    if (!repeated || !asked) return;
    const ask: Ask = { ...asked.ask, killAfterMs, team: repeated.team };
    const number = await this.world.repeat(repeated.number);
    const { turn } = await this.#finish(number, { ask, id: asked.id, named: repeated.parent });
    this.played.repeats += 1;
    await this.#checkTree();
    await this.#checkAnswers([turn]);
  }

  async #burst({ first, queued, removed, interrupt }: Burst): Promise<void> {
    if (this.#state.uploaded.size === 0) return;
    const stalls = first.ends === "cancelled";
    const running = this.#newQuestion(this.#state, first);
    const during = withTurn(this.#state, predictTurn(this.#state, running));
    const waiting = queued.map((ask) => this.#newQuestion(during, ask));
    const interrupting = stalls && interrupt ? this.#newQuestion(during, interrupt) : null;
    const removedQuestion = stalls && removed !== null ? waiting[removed] : undefined;
    const left = waiting.filter((question) => question !== removedQuestion);
    const requests = this.#requestsOf([running, ...(interrupting ? [interrupting] : []), ...left]);
    const requestFor = (question: Question): AskRequest =>
      requests.get(question) ?? this.#requestOf(during, question);

    const number = await this.world.start(requestFor(running));
    const ids = new Map<Question, string>();
    for (const question of waiting) ids.set(question, await this.world.send(requestFor(question)));
    if (removedQuestion)
      expectSame("a removal", await this.world.remove(ids.get(removedQuestion) ?? ""), true);
    if (stalls)
      expectSame(
        "the queue",
        await this.world.queue(),
        left.map((question) => ids.get(question)),
      );
    const { asked, turn } = await this.#finish(number, running, {
      ...first,
      ...(interrupting && { interrupt: requestFor(interrupting) }),
    });
    const turns = [turn];
    if (interrupting) {
      if (asked.interrupting === null) throw new Mismatch("the interrupt: nothing was interrupted");
      const nth = await this.world.turnOfSent(asked.interrupting);
      turns.push((await this.#finish(nth, interrupting)).turn);
      this.played.interrupts += 1;
    }
    for (const question of left) {
      const nth = await this.world.turnOfSent(ids.get(question) ?? "");
      turns.push((await this.#finish(nth, question)).turn);
      this.played.queued += 1;
    }
    expectSame("the queue", await this.world.queue(), []);
    await this.#checkTree();
    await this.#checkAnswers(turns);
  }

  /** A question that is sent in this state. */
  #newQuestion(state: State, ask: Ask): Question {
    this.#questions += 1;
    return { ask, id: this.#questions, named: namedParent(state, ask) };
  }

  /** The requests for questions whose turns will run in this order. */
  #requestsOf(questions: readonly Question[]): ReadonlyMap<Question, AskRequest> {
    const requests = new Map<Question, AskRequest>();
    let state = this.#state;
    for (const question of questions) {
      requests.set(question, this.#requestOf(state, question));
      state = withTurn(state, predictTurn(state, question));
    }
    return requests;
  }

  /** The request for a question whose turn starts in this state. */
  #requestOf(state: State, question: Question): AskRequest {
    const { named } = question;
    const { team } = question.ask;
    return {
      question: questionText(predictTurn(state, question).ordered, this.world.context),
      ...(typeof named === "number" && { parent: named }),
      ...(team !== null && { team }),
    };
  }

  /** Waits for the end of a turn, and compares it with its prediction. */
  async #finish(
    number: number,
    question: Question,
    course: TurnCourse = question.ask,
  ): Promise<{ turn: Turn; asked: AskedTurn }> {
    const asked = await this.world.finish(number, course);
    const reading = await this.#readingOf(predictTurn(this.#state, question), asked);
    const predicted = predictTurn(this.#state, question, reading);
    const turn = checkTurn(predicted, asked);
    const { written } = predicted;
    expectSame("the written summaries", asked.history.written, written ? [written] : []);
    if (written) this.played.summaries += 1;
    if (asked.history.isCut) this.played.cuts += 1;
    const latest = turnBack(this.#state, 0);
    if (turn.parent !== null && turn.parent !== latest) this.played.branches += 1;
    if (course.killAfterMs !== null) this.played.kills += 1;
    this.played.turns += 1;
    this.#asked.set(turn.number, question);
    this.#state = withTurn(this.#state, { turn, written });
    return { turn, asked };
  }

  /** What the agents of a turn have read of earlier turns, if the service has decided correctly. */
  async #readingOf({ past, turn }: PredictedTurn, { history }: AskedTurn): Promise<Reading> {
    const { through, isCut } = history;
    const [first] = turn.texts;
    const cut = isCut && first ? await this.#cutTurns(past.turns, first) : new Set<number>();
    const problem =
      readingProblem(past, history) ?? (isCut && first ? cutProblem(past, cut) : null);
    if (problem !== null) throw new Mismatch(`the history of turn ${turn.number}: ${problem}`);
    return { through, cut };
  }

  /** The turns that the author of an answer read with cut texts. */
  async #cutTurns(turns: readonly Turn[], { turn, attempt, label }: Point): Promise<Set<number>> {
    const place = { turn, attempt: attempt ?? 1, label: label ?? "" };
    const areCut = cutTurnsIn((await this.world.answer(place)).text);
    expectSame("the number of earlier turns in a prompt", areCut.length, turns.length);
    return new Set(turns.filter((_, index) => areCut[index]).map(({ number }) => number));
  }

  async #compact({ killAfterMs }: Compact): Promise<void> {
    const { head } = this.#state;
    if (head === null) return;
    const predicted = predictCompact(this.#state);
    const started = await this.world.compact();
    const number = predicted?.turn.number;
    expectSame("the request for a summary", started, number ?? "nothing_to_summarise");
    if (!predicted || number === undefined) return;
    const course = { ends: "completed", killAfterMs, kind: "compact" } as const;
    const { history, ...asked } = await this.world.finish(number, course);
    expectSame("the compact turn", resultOf(asked), resultOf(predicted.turn));
    expectSame("the history", history, predicted.history);
    expectSame("a move to a compact turn", await this.world.move(number), "turn_not_found");
    this.#state = withTurn(this.#state, predicted);
    this.played.turns += 1;
    this.played.compacts += 1;
    if (killAfterMs !== null) this.played.kills += 1;
    await this.#checkTree();
    await this.#checkUnchanged(head, number);
  }

  /** Compares what the head has with what it had before a compact turn. */
  async #checkUnchanged(head: number, compact: number): Promise<void> {
    const turn = turnOf(this.#state, head);
    if (turn) await this.#checkAnswers([turn]);
    const points = pointsOf(this.#state);
    const [old, latest] = [head, compact].map((number) =>
      points.find((point) => point.turn === number && point.attempt === null),
    );
    if (!old || !latest) return;
    const [from, to] = [`turn_${head}`, `turn_${compact}`];
    this.#checkDiff(`${from} to ${to}`, await this.world.diff(from, to), old, latest);
  }

  async #checkAnswers(turns: readonly Turn[]): Promise<void> {
    for (const { texts } of turns) for (const point of texts) await this.#checkAnswer(point);
  }

  /** Compares the text and the files of an answer, or of a final text. */
  async #checkAnswer({ turn, attempt, label, text, trees }: Point): Promise<void> {
    if (attempt === null || label === null) return;
    const shown = await this.world.answer({ turn, attempt, label });
    const place = `turn_${turn}/attempt_${attempt}/${label}`;
    expectSame(`the text of ${place}`, shown.text, text);
    const hashes = [...trees.workspace].map(([path, contents]) => [path, sha256(contents)]);
    expectSame(`the files of ${place}`, sorted(shown.hashes), hashes.sort());
  }

  async #move(back: number): Promise<void> {
    const turn = turnBack(this.#state, back);
    if (turn === null) return;
    expectSame("the moved head", await this.world.move(turn), turn);
    this.played.moves += 1;
    this.#state = { ...this.#state, head: turn };
    await this.#checkTree();
  }

  async #push(path: string, contents: number | null): Promise<void> {
    const files = new Map(this.#state.uploaded);
    if (contents === null) files.delete(path);
    else files.set(path, contentsOf(contents));
    if (files.size === 0) return; // a version has at least one file
    await this.world.push(files);
    this.#state = { ...this.#state, uploaded: files };
  }

  async #diff({ from, to }: { from: number; to: number }): Promise<void> {
    const points = pointsOf(this.#state);
    const [old, latest] = [points[from % points.length], points[to % points.length]];
    if (!old || !latest) return;
    const [older, later] = [this.#referenceOf(old, from), this.#referenceOf(latest, to)];
    this.#checkDiff(`${older} to ${later}`, await this.world.diff(older, later), old, latest);
  }

  async #diffParent(to: number): Promise<void> {
    const points = pointsOf(this.#state);
    const latest = points[to % points.length];
    if (!latest) return;
    const turn = turnOf(this.#state, latest.turn);
    const parent = turnOf(this.#state, turn?.parent ?? null);
    const old = parent ? { trees: parent.end, text: parent.answer } : beforeFirst(turn);
    const reference = this.#referenceOf(latest, to);
    const diff = await this.world.diff("parent", reference);
    this.#checkDiff(`parent to ${reference}`, diff, old, latest);
  }

  /** One of the references of a point, chosen by `nth`. */
  #referenceOf(point: Point, nth: number): string {
    const references = referencesOf(this.#state, point);
    return references[nth % references.length] ?? "";
  }

  #checkDiff(
    name: string,
    diff: Parameters<typeof diffProblems>[0],
    from: Pick<Point, "trees" | "text">,
    to: Pick<Point, "trees" | "text">,
  ): void {
    const [problem] = diffProblems(diff, from, to, this.world.context);
    if (problem !== undefined) throw new Mismatch(`the diff from ${name}: ${problem}`);
    this.played.diffs += 1;
  }

  async #checkTree(): Promise<void> {
    const turns = this.#state.turns.map(({ number, parent, status, kind }) => ({
      ...{ number, parent, status, kind },
    }));
    expectSame("the tree", await this.world.tree(), { head: this.#state.head, turns });
  }
}
