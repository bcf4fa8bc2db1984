import type { TurnDisplay } from "./turn-lines";
import { escapeJson } from "../terminal/sanitize";
import type { Output } from "../terminal/output";

/** Every event as one line of JSON on `output`, also those this program does not know; notices go to `notices`. */
export const jsonDisplay = (output: Output, notices: Output): TurnDisplay => ({
  update({ raw }) {
    output.write(`${escapeJson(raw).replaceAll("\n", " ")}\n`); // a line feed outside of strings is white space
  },
  notice(text) {
    notices.write(`${text}\n`);
  },
  close() {},
});
