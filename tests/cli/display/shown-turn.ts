import { turnOf } from "../../../src/protocol/view";
import * as b from "../../protocol/builders";

/** The first events of a team of anna and ben. */
export const base = [b.created("anna", "ben"), b.turnStarted("anna", "ben"), b.attemptStarted()];

/** The turn that the display has after these events. */
export function turnAfter(bodies: b.Body[]) {
  const turn = turnOf(b.view(b.log(bodies)));
  if (!turn) throw new Error("no turn");
  return turn;
}
