import { type RenderInput, type RoundRecord, renderRecords } from "../../../src/agents/records";
import { NOTHING_PLANNED } from "../../../src/agents/planned-calls";
import { eventsOf, runningTurn, type SessionState, type Step } from "../../../src/coordination";
import type { EventOf, SessionEvent } from "../../../src/protocol/events";
import type { PayloadTexts } from "../../../src/engine/ports";
import type { CallStore } from "./call-store";
import { plannedCalls } from "./planned-call-reader";
import type { CommandPlace } from "../../../src/tools/shell";
import type { SessionFacts } from "../session-facts";
import type { SessionLog } from "../log/session-log";
import type { SessionQueries } from "../session-queries";

type Options = {
  teams: Pick<SessionFacts["teams"], "current">;
  nonce: SessionFacts["nonce"];
  log: SessionLog;
  calls: CallStore;
  queries: SessionQueries;
  /** Where the deployment runs agents' commands. Omitted: in the service. */
  commandPlace?: CommandPlace;
};

/** Renders the records that a decision adds to the agents' conversations. Writes nothing. */
export class RoundRecords {
  readonly #options: Options;
  /** The history of the latest turn that was rendered, with the summary that was stored then. */
  #cachedHistory: {
    turn: number;
    summary: number | null;
    history: RenderInput["history"];
  } | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  /** The records that these steps add. `texts`: the texts that were passed with the input. */
  render(steps: readonly Step[], texts: PayloadTexts): RoundRecord[] {
    const [first] = steps;
    if (!first) return [];
    const { teams, nonce, commandPlace = "service" } = this.#options;
    const events = eventsOf(steps);
    return renderRecords({
      ...{ steps, commandPlace },
      team: teams.current(),
      nonce,
      history: events.some(({ type }) => type.endsWith("started"))
        ? this.#history(first.before, events)
        : [],
      reply: texts.reply ?? null,
      toolResult: texts.toolResult ?? null,
      cut: texts.cut ?? null,
      summary: texts.summary ?? null,
      planned: events.flatMap((event) =>
        event.type === "presentation.started" ? [this.#planned(first.before, event)] : [],
      ),
    });
  }

  #planned(
    before: SessionState,
    { turn, attempt, agent: id }: EventOf<"presentation.started">,
  ): RenderInput["planned"][number] {
    const { teams, log, calls } = this.#options;
    const agent = teams.current().agents.findIndex((member) => member.id === id);
    // without planning mode no call was planned, and a search would read the whole turn
    if (runningTurn(before)?.rules.planning_mode === false) return { agent, ...NOTHING_PLANNED };
    return { agent, ...plannedCalls(log, calls, { turn, attempt, agent, id }) };
  }

  /**
   * The earlier turns of the conversation. They change only with a new summary, so they are read
   * again only then.
   */
  #history(before: SessionState, events: readonly SessionEvent[]): RenderInput["history"] {
    const { log, queries } = this.#options;
    const started = events.find((event) => event.type === "turn.started");
    const number = started?.turn ?? runningTurn(before)?.number ?? 0;
    const summary = runningTurn(before)?.history?.summary ?? null;
    const cached = this.#cachedHistory;
    if (cached?.turn === number && cached.summary === summary) return cached.history;
    const parent = started ? started.parent_turn : (log.turn(number)?.parent ?? null);
    const history = queries.history(parent);
    this.#cachedHistory = { turn: number, summary, history };
    return history;
  }
}
