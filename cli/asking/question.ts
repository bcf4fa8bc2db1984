import { MAX_QUESTION_CHARS, QuestionSchema } from "../../src/protocol/api";
import { CliError, EXIT } from "../exit-codes";
import { commandLineOf } from "../invocation";
import type { Input, Io } from "../io";

/**
 * Most bytes that are read from stdin. UTF-8 uses at most three bytes per UTF-16 code unit. The one
 * byte more shows that the text is too long.
 */
const MAX_BYTES = 3 * MAX_QUESTION_CHARS + 1;

/**
 * Returns the question: the words of the command line. If the last word is `-`, the text of stdin
 * is added. Without words, the question is read from a pipe. Throws CliError for an invalid
 * question.
 */
export async function readQuestion(
  words: readonly string[],
  { stdin }: Pick<Io, "stdin">,
): Promise<string> {
  const readsStdin = words.length === 0 ? stdin.isTTY !== true : words.at(-1) === "-";
  const typed = (readsStdin ? words.slice(0, -1) : words).join(" ");
  if (!readsStdin) return toQuestion(typed);
  const piped = await readAll(stdin);
  return toQuestion(typed === "" ? piped : `${typed}\n\n${piped}`);
}

/** Returns `text` if it is a valid question. Otherwise throws CliError. */
export function toQuestion(text: string): string {
  const parsed = QuestionSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  const problem = parsed.error.issues[0]?.message ?? "is not a question";
  throw new CliError(
    EXIT.config,
    `The question ${problem}. Write it in quotes: ${commandLineOf('"your question"')}`,
  );
}

/**
 * Reads stdin and removes the final line feed. Stops reading once the text is longer than any valid
 * question. Throws CliError if the input is not UTF-8.
 */
export async function readAll(stdin: Input): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    if (size > MAX_BYTES) break;
  }
  try {
    return new TextDecoder("utf-8", { fatal: size <= MAX_BYTES, ignoreBOM: false })
      .decode(Buffer.concat(chunks))
      .replace(/\r?\n$/, "");
  } catch {
    throw new CliError(EXIT.config, "The piped input is not UTF-8 text.");
  }
}
