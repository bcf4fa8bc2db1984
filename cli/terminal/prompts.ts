import { Writable } from "node:stream";
import { CliError, EXIT } from "../exit-codes";
import type { Io } from "../io";

/**
 * Questions to the user at the terminal. The library is loaded with the first question, because
 * most commands ask no question.
 */

const cancelled = new CliError(EXIT.interrupted, "Nothing was changed.");
type Env = Pick<Io, "env" | "stdin" | "screen">;

/** Asks for a secret and does not show it. Throws CliError if the user cancels. */
export async function askSecret(message: string, io: Env): Promise<string> {
  const { isCancel, password } = await import("@clack/prompts");
  const validate = (text: string | undefined) => (text?.trim() ? undefined : "Nothing was typed.");
  const given = await password({ message, mask: "*", validate, input: io.stdin, output: sink(io) });
  if (isCancel(given)) throw cancelled;
  return given.trim();
}

export async function askYes(message: string, io: Env): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const given = await confirm({ message, initialValue: false, input: io.stdin, output: sink(io) });
  if (isCancel(given)) throw cancelled;
  return given;
}

export async function askText(message: string, placeholder: string, io: Env): Promise<string> {
  const { isCancel, text } = await import("@clack/prompts");
  const given = await text({
    message,
    placeholder,
    defaultValue: placeholder,
    input: io.stdin,
    output: sink(io),
  });
  if (isCancel(given)) throw cancelled;
  return given.trim();
}

export type Choice = { value: string; label: string; hint: string };

/** Asks for one of these options; returns its value. Throws CliError if the user cancels. */
export async function askChoice(message: string, options: Choice[], io: Env): Promise<string> {
  const { isCancel, select } = await import("@clack/prompts");
  const given = await select({ message, options, input: io.stdin, output: sink(io) });
  if (isCancel(given)) throw cancelled;
  return given;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences
const COLORS = /\x1b\[[\d;]*m/g;

/**
 * Writes prompts to the terminal, because stdout is for answers. Removes colours for NO_COLOR,
 * which the library ignores on some versions of Node.
 */
function sink({ env, screen }: Env): Writable {
  const color = !env["NO_COLOR"];
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      screen.write(color ? chunk : chunk.toString().replace(COLORS, ""));
      done();
    },
  });
}
