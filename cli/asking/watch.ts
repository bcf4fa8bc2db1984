import { ClientError, type FollowOptions } from "../../client/index";
import { WireEventSchema } from "../../src/protocol/events";
import { apply, emptyView, type SessionView, type TurnView, turnOf } from "../../src/protocol/view";
import type { Connection } from "../credentials/connection";
import type { TurnDisplay } from "../display/turn-lines";
import { CliError, EXIT } from "../exit-codes";
import { attachCommand } from "../invocation";
import { streamFromService } from "../service/call-service";

export type WatchOptions = Connection &
  Pick<FollowOptions, "idleMs" | "giveUpAfterMs" | "onQueue"> & {
    sessionId: string;
    turn: number;
    display: TurnDisplay;
    /** Stops following the turn; the turn itself continues. */
    signal: AbortSignal;
  };

/**
 * `over`: the turn has ended. `detached`: `signal` was aborted, and the turn continues. `turn` is
 * `null` if no event of the turn was received.
 */
export type TurnOutcome = { end: "over" | "detached"; view: SessionView; turn: TurnView | null };

/**
 * Follows one turn to its end and shows it on `display`. Reconnects after lost connections and
 * restarts of the service. Aborting `signal` does not change the run. Throws CliError.
 */
export async function watchTurn(options: WatchOptions): Promise<TurnOutcome> {
  const { display, signal } = options;
  const view = emptyView();
  const outcome = (end: TurnOutcome["end"]): TurnOutcome => ({
    end,
    view,
    turn: turnOf(view, options.turn) ?? null,
  });
  try {
    for await (const { raw, event: received } of eventsOf(options)) {
      const event = WireEventSchema.safeParse(received).data ?? null;
      if (event) apply(view, event);
      display.update({ raw, event }, view);
    }
  } catch (error) {
    if (signal.aborted && !(error instanceof CliError)) return outcome("detached");
    throw error;
  } finally {
    display.close();
  }
  const finalOutcome = outcome("over");
  if (finalOutcome.turn && finalOutcome.turn.status !== "running") return finalOutcome;
  throw new CliError(
    EXIT.execution,
    `The service sent no end of turn ${options.turn}. It may be older than this program.`,
  );
}

function eventsOf({ sessionId, turn, display, signal, ...options }: WatchOptions) {
  const { server, idleMs, giveUpAfterMs, onQueue } = options;
  const onConnection = (state: "lost" | "back") =>
    display.notice(
      state === "lost" ? "connection lost, the run continues; reconnecting …" : "connected again",
    );
  return streamFromService(options, async function* ({ turns }) {
    try {
      const place = { session: sessionId, turn };
      yield* turns.follow(place, { signal, onConnection, onQueue, idleMs, giveUpAfterMs });
    } catch (error) {
      if (!(error instanceof ClientError) || error.kind !== "lost") throw error;
      throw new CliError(
        EXIT.unreachable,
        `The connection to ${server} was lost for good. The run may still continue. To attach again:\n  ${attachCommand(sessionId, options)}`,
      );
    }
  });
}
