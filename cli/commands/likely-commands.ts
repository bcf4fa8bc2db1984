import { CliError, EXIT } from "../exit-codes";
import { commandLineOf } from "../invocation";
import { isConversationCommand } from "../conversation/slash-commands";
import { OTHER_TOOLS } from "./other-tools";

export const COMMANDS = [
  "ask",
  "attach",
  "sessions",
  "show",
  "turns",
  "continue-from",
  "branch",
  "compact",
  "files",
  "diff",
  "cancel",
  "queue",
  "delete",
  "config",
  "keys",
  "secrets",
  "push",
  "contexts",
  "pull",
  "eval",
  "login",
  "logout",
  "doctor",
] as const;

/** Arguments that appear only after a command: a session id, or a shell (for `completion`). */
const COMMAND_ARGUMENT = /^(session_[a-z0-9]+|last|bash|zsh|fish|powershell|pwsh)$/;
/** Arguments that appear only after the session of a command: a path or the number of a turn. */
const FILE_OR_TURN = /^(\d+|\S*[./]\S+)$/;

/**
 * Throws CliError if the words are probably a mistyped command, because a question costs money.
 *
 * Refuses a single word that is, or resembles, a command of this program or of another tool.
 * Refuses such a word also if a `COMMAND_ARGUMENT`, or this and a `FILE_OR_TURN`, follows. All
 * other texts are questions. If the user wrote the command `ask`, the caller omits this check.
 */
export function refuseLikelyCommand(words: readonly string[], howToAsk = askHint(words)): void {
  const [word = "", argument = "", last = "", ...others] = words;
  const hasArgument = COMMAND_ARGUMENT.test(argument) && (last === "" || FILE_OR_TURN.test(last));
  if (others.length > 0 || (words.length > 1 && !hasArgument)) return;
  if (word.length < 2 || /[\s?]/.test(word)) return;
  if (isConversationCommand(word)) {
    const detail = `${word} works only in a conversation. Start a conversation: ${commandLineOf()}`;
    throw new CliError(EXIT.config, `${detail}. ${howToAsk}`);
  }
  const lower = word.toLowerCase();
  const command = COMMANDS.find((name) => name === lower);
  if (command)
    throw new CliError(
      EXIT.config,
      `Options come after the command: ${commandLineOf(command, "… [options]")}`,
    );
  const suggestion = suggestForOtherTool(lower) ?? suggestForTypo(lower);
  if (suggestion !== null) throw refusal(word, suggestion, howToAsk);
}

/**
 * The same check for the first entry of a conversation, which starts a session. Later entries are
 * not checked, because a single word may be a reply to the answer.
 */
export function refuseLikelyCommandEntry(entry: string): void {
  const word = entry.trim();
  if (/^["'“‘„«`]/.test(word)) return;
  const howToAsk = "To ask it as a question, put it in quotes.";
  const isCommand = COMMANDS.some((name) => name === word.toLowerCase());
  if (isCommand)
    throw new CliError(
      EXIT.config,
      `Did you mean ${commandLineOf(word.toLowerCase())}? ${howToAsk}`,
    );
  refuseLikelyCommand(word.split(/\s+/), howToAsk);
}

/** A hint that says how to send the words as a question. */
const askHint = (words: readonly string[]): string =>
  `To ask it as a question: ${commandLineOf("ask", `"${words.join(" ")}"`)}`;

/**
 * `command` is the command that the user probably wants. `sentence` replaces "Did you mean …?";
 * `null` keeps it.
 */
type Suggestion = { command: string; sentence: string | null };

/** The suggestion for a command of another tool. */
const suggestForOtherTool = (word: string): Suggestion | null => OTHER_TOOLS.get(word) ?? null;

/** The suggestion for a typo. Commands of this program are tried before those of other tools. */
function suggestForTypo(word: string): Suggestion | null {
  if (word.length < 3) return null;
  const command = COMMANDS.find((name) => distance(word, name) <= (name.length > 4 ? 2 : 1));
  if (command !== undefined) return { command, sentence: null };
  const otherCommand = [...OTHER_TOOLS.keys()].find(
    (name) => name.length > 3 && distance(word, name) <= 1,
  );
  return otherCommand === undefined ? null : suggestForOtherTool(otherCommand);
}

function refusal(word: string, { command, sentence }: Suggestion, howToAsk: string): CliError {
  const meant = sentence ?? `Did you mean ${commandLineOf(command)}?`;
  const also = sentence === null ? "" : ` To check the service: ${commandLineOf(command)}.`;
  return new CliError(EXIT.config, `There is no command ${word}. ${meant}${also} ${howToAsk}`);
}

/** Levenshtein distance: the number of letters that must be inserted, deleted or replaced. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...a].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= b.length; column++) {
      const replaced = letter === b[column - 1] ? 0 : 1;
      next.push(
        Math.min(
          (row[column] ?? 0) + 1,
          (next[column - 1] ?? 0) + 1,
          (row[column - 1] ?? 0) + replaced,
        ),
      );
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
