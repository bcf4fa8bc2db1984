import { MAX_QUESTION_CHARS, QuestionSchema } from "../../src/protocol/api";
import { CliError, EXIT } from "../exit-codes";
import { commandLineOf } from "../invocation";
import type { Input, Io } from "../io";

/**
 * UTF-8 needs at most three bytes for what is one UTF-16 code unit; a byte more shows that there is
 * more.
 */
const MAX_BYTES = 3 * MAX_QUESTION_CHARS + 1;

/**
 * The question: the words of the command line; `-` means stdin, alone or after the words. Without
 * words, what is piped in. Throws CliError for what is no question.
 */
export async function readQuestion(
  words: readonly string[],
  { stdin }: Pick<Io, "stdin">,
): Promise<string> {
  const fromPipe = words.length === 0 ? stdin.isTTY !== true : words.at(-1) === "-";
  const spoken = (fromPipe ? words.slice(0, -1) : words).join(" ");
  if (!fromPipe) return toQuestion(spoken);
  const piped = await readAll(stdin);
  return toQuestion(spoken === "" ? piped : `${spoken}\n\n${piped}`);
}

/** `text` if it is a question. Throws CliError. */
export function toQuestion(text: string): string {
  const parsed = QuestionSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  const problem = parsed.error.issues[0]?.message ?? "is not a question";
  throw new CliError(
    EXIT.config,
    `The question ${problem}. Write it in quotes: ${commandLineOf('"your question"')}`,
  );
}

/** All that comes in, as far as a question may be long, without the line feed at its end. */
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
