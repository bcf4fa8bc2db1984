import { CliError, EXIT } from "../exit-codes";
import { commandLineOf } from "../invocation";
import { isConversationCommand } from "../conversation/slash-commands";
import { OTHER_TOOLS } from "./other-tools";

export const COMMANDS = [
  "ask",
  "attach",
  "sessions",
  "show",
  "cancel",
  "delete",
  "config",
  "keys",
  "secrets",
  "push",
  "pull",
  "eval",
  "login",
  "logout",
  "doctor",
] as const;

/** Arguments that only a command has: a session's id, or the shell for `completion`. */
const ARGUMENT = /^(session_[a-z0-9]+|bash|zsh|fish|powershell|pwsh)$/;

/**
 * Refuses a single word that looks like a command of this program or of another tool: as a question
 * it would cost money. Several words, or a text with spaces, are a question, unless the second word
 * is an argument of a command. Not called if the user wrote `ask`. Throws CliError.
 */
export function refuseSlips(words: readonly string[], howToAsk = askCommandFor(words)): void {
  const [word = "", argument = ""] = words;
  const isCalled = words.length === 2 && ARGUMENT.test(argument);
  if (words.length !== 1 && !isCalled) return;
  if (word.length < 2 || /[\s?]/.test(word)) return;
  if (isConversationCommand(word)) {
    const detail = `${word} is a command of the conversation, which starts with ${commandLineOf()}`;
    throw new CliError(EXIT.config, `${detail}. ${howToAsk}`);
  }
  const written = word.toLowerCase();
  const command = COMMANDS.find((name) => name === written);
  if (command)
    throw new CliError(
      EXIT.config,
      `Options come after the command: ${commandLineOf(command, "… [options]")}`,
    );
  const suggestion = otherToolCommand(written) ?? slip(written);
  if (suggestion !== null) throw refusal(word, suggestion, howToAsk);
}

/**
 * The same check for the first entry of a conversation, which starts a session. Later entries may
 * be one word, because they can be replies to the answer.
 */
export function refuseFirstSlip(entry: string): void {
  const word = entry.trim();
  if (/^["'“‘„«`]/.test(word)) return;
  const howToAsk = "To ask it as a question, put it in quotes.";
  const isCommand = COMMANDS.some((name) => name === word.toLowerCase());
  if (isCommand)
    throw new CliError(
      EXIT.config,
      `Did you mean ${commandLineOf(word.toLowerCase())}? ${howToAsk}`,
    );
  refuseSlips(word.split(/\s+/), howToAsk);
}

const askCommandFor = (words: readonly string[]): string =>
  `To ask it as a question: ${commandLineOf("ask", `"${words.join(" ")}"`)}`;

type Suggestion = { command: string; sentence: string | null };

/** The suggestion for a command of another tool. */
const otherToolCommand = (word: string): Suggestion | null => OTHER_TOOLS.get(word) ?? null;

/** The suggestion for a mistyped command. Commands of this program come first. */
function slip(word: string): Suggestion | null {
  if (word.length < 3) return null;
  const own = COMMANDS.find((name) => distance(word, name) <= (name.length > 4 ? 2 : 1));
  if (own !== undefined) return { command: own, sentence: null };
  const other = [...OTHER_TOOLS.keys()].find(
    (name) => name.length > 3 && distance(word, name) <= 1,
  );
  return other === undefined ? null : otherToolCommand(other);
}

function refusal(word: string, { command, sentence }: Suggestion, howToAsk: string): CliError {
  const meant = sentence ?? `Did you mean ${commandLineOf(command)}?`;
  const also = sentence === null ? "" : ` To check the service: ${commandLineOf(command)}.`;
  return new CliError(EXIT.config, `There is no command ${word}. ${meant}${also} ${howToAsk}`);
}

/** Levenshtein distance: the number of letters to add, remove or change. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...a].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= b.length; column++) {
      const same = letter === b[column - 1] ? 0 : 1;
      next.push(
        Math.min(
          (row[column] ?? 0) + 1,
          (next[column - 1] ?? 0) + 1,
          (row[column - 1] ?? 0) + same,
        ),
      );
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
