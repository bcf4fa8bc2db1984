import { type TurnView, turnOf } from "../../src/protocol/view";
import * as b from "./builders";

const base = [b.created("anna", "ben"), b.turnStarted("anna", "ben"), b.attemptStarted()];

/**
 * The view of a turn after its first attempt has started and the events of `bodies` have followed.
 * The agents are anna and ben.
 */
export function turnAfter(...bodies: b.Body[]): TurnView {
  const turn = turnOf(b.view(b.log([...base, ...bodies])));
  if (!turn) throw new Error("no turn");
  return turn;
}
