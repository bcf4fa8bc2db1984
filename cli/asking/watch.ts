import { apply, emptyView, type SessionView, type TurnView, turnOf } from "../../src/protocol/view";
import type { TurnDisplay } from "../display/turn-lines";
import { CliError, EXIT } from "../exit-codes";
import { type TailOptions, tailTurn } from "../service/tail";

export type WatchOptions = Omit<TailOptions, "onConnection"> & { display: TurnDisplay };

/** `detached`: the signal ended the watching; the turn goes on. `turn` is null if nothing of it was seen. */
export type TurnOutcome = { end: "over" | "detached"; view: SessionView; turn: TurnView | null };

/**
 * Watches one turn to its end and shows it on `display`, over lost connections and restarts of the service. Reading only:
 * aborting `signal` detaches and changes nothing about the run. Throws CliError.
 */
export async function watchTurn({ display, ...options }: WatchOptions): Promise<TurnOutcome> {
  const view = emptyView();
  const outcome = (end: TurnOutcome["end"]): TurnOutcome => ({
    end,
    view,
    turn: turnOf(view, options.turn) ?? null,
  });
  const onConnection = (state: "lost" | "back") =>
    display.notice(
      state === "lost" ? "connection lost, the run goes on; reconnecting …" : "connected again",
    );
  try {
    for await (const message of tailTurn({ ...options, onConnection })) {
      if (message.event) apply(view, message.event);
      display.update(message, view);
    }
  } catch (error) {
    if (options.signal.aborted && !(error instanceof CliError)) return outcome("detached");
    throw error;
  } finally {
    display.close();
  }
  const over = outcome("over");
  if (over.turn && over.turn.status !== "running") return over;
  throw new CliError(
    EXIT.execution,
    `The service sent no end of turn ${options.turn}. Is it older than this program?`,
  );
}
