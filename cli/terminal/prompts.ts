import { Writable } from "node:stream";
import { CliError, EXIT } from "../exit-codes";
import type { Io } from "../io";

/**
 * Questions to the user at the terminal. The prompt library is loaded at the first question,
 * because most commands ask no question.
 */

const cancellation = new CliError(EXIT.interrupted, "Nothing was changed.");
type PromptIo = Pick<Io, "env" | "stdin" | "screen">;

/** Asks for a secret and does not show it. Throws CliError if the user cancels. */
export async function askSecret(message: string, io: PromptIo): Promise<string> {
  const { isCancel, password } = await import("@clack/prompts");
  const validate = (text: string | undefined) => (text?.trim() ? undefined : "Nothing was typed.");
  const reply = await password({
    message,
    mask: "*",
    validate,
    input: io.stdin,
    output: outputOf(io),
  });
  if (isCancel(reply)) throw cancellation;
  return reply.trim();
}

/** Asks a yes-or-no question; the default is no. Throws CliError if the user cancels. */
export async function askYes(message: string, io: PromptIo): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const reply = await confirm({
    message,
    initialValue: false,
    input: io.stdin,
    output: outputOf(io),
  });
  if (isCancel(reply)) throw cancellation;
  return reply;
}

/** Asks for a text; an empty input means `placeholder`. Throws CliError if the user cancels. */
export async function askText(message: string, placeholder: string, io: PromptIo): Promise<string> {
  const { isCancel, text } = await import("@clack/prompts");
  const reply = await text({
    message,
    placeholder,
    defaultValue: placeholder,
    input: io.stdin,
    output: outputOf(io),
  });
  if (isCancel(reply)) throw cancellation;
  return reply.trim();
}

export type Choice = { value: string; label: string; hint: string };

/** Asks for one of these options; returns its value. Throws CliError if the user cancels. */
export async function askChoice(message: string, options: Choice[], io: PromptIo): Promise<string> {
  const { isCancel, select } = await import("@clack/prompts");
  const reply = await select({ message, options, input: io.stdin, output: outputOf(io) });
  if (isCancel(reply)) throw cancellation;
  return reply;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences
const COLORS = /\x1b\[[\d;]*m/g;

/**
 * The output of prompts: the terminal, because stdout is for answers. Removes colours if NO_COLOR
 * is set, because the library ignores NO_COLOR on some versions of Node.
 */
function outputOf({ env, screen }: PromptIo): Writable {
  const color = !env["NO_COLOR"];
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      screen.write(color ? chunk : chunk.toString().replace(COLORS, ""));
      done();
    },
  });
}
