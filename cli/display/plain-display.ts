import { turnOf } from "../../src/protocol/view";
import { describeEvent } from "./describe";
import type { TurnDisplay } from "./turn-lines";
import { paint } from "../terminal/paint";
import type { Output } from "../terminal/output";

/** A line for each change, for files and pipes. */
export function plainDisplay(output: Output): TurnDisplay {
  let closed = false;
  const print = (text: string) => {
    if (!closed) output.write(`${text}\n`);
  };
  return {
    update({ event }, view) {
      const turn = event && turnOf(view, event.turn);
      const line = event && turn && describeEvent(event, turn);
      if (line) print(paint(line, { width: Number.POSITIVE_INFINITY, color: false }));
    },
    notice: print,
    close() {
      closed = true;
    },
  };
}
