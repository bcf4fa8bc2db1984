import { CliError, EXIT } from "../exit-codes";
import { commandLineOf } from "../invocation";

export const COMMANDS = [
  "ask",
  "attach",
  "sessions",
  "show",
  "cancel",
  "delete",
  "config",
  "keys",
  "push",
  "pull",
  "eval",
  "login",
  "logout",
  "doctor",
] as const;

/**
 * Words that are, or nearly are, a command were hardly meant as a question, and asking them would cost money. Throws CliError that
 * says how to do either. Not for those who wrote `ask` themselves.
 */
export function refuseSlips(words: readonly string[]): void {
  const [word = "", ...rest] = words;
  const command = COMMANDS.find((name) => name === word);
  if (command) throw new CliError(EXIT.config, `Options come after the command: ${commandLineOf(command, "… [options]")}`);
  if (rest.length > 0 || word.length < 3) return;
  const meant = COMMANDS.find((name) => distance(word.toLowerCase(), name) <= (name.length > 4 ? 2 : 1));
  if (meant === undefined) return;
  const ask = commandLineOf("ask", `"${word}"`);
  throw new CliError(
    EXIT.config,
    `There is no command ${word}. Did you mean ${commandLineOf(meant)}? To ask it as a question: ${ask}`,
  );
}

/** How many letters must be added, taken away or changed. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...a].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= b.length; column++) {
      const same = letter === b[column - 1] ? 0 : 1;
      next.push(Math.min((row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1, (row[column - 1] ?? 0) + same));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
