import type { CommandRunner } from "../command-runner";
import type { Parse } from "./commands-in";
import type { CommandFilter } from "./filter";
import type { CustomCommand, defineCommand } from "just-bash/browser";
import { WorkBudget } from "../../../patterns";

type Shell = Pick<typeof import("just-bash/browser"), "Bash" | "InMemoryFs">;

/** The service's own shell as a parser of command lines. */
export function parserOf({ Bash, InMemoryFs }: Shell): Parse {
  const shell = new Bash({ fs: new InMemoryFs({}), defenseInDepth: false });
  return (script) => shell.transform(script).ast;
}

/**
 * A runner that receives only allowed commands. For runners that do not check commands at run time.
 */
export function filtered(runner: CommandRunner, filter: CommandFilter): CommandRunner {
  return {
    ...runner,
    description: `${runner.description}${filter.description}`,
    async run(request) {
      request.signal.throwIfAborted();
      await filter.check(request.command, {
        parse: parserOf(await import("just-bash/browser")),
        checkedAgain: null,
      });
      return runner.run(request);
    },
  };
}

type Commands = {
  define: typeof defineCommand;
  own: readonly CustomCommand[];
  names: readonly string[];
};

/**
 * The shell's commands, each checked by the filter before it runs, with its expanded words: this
 * covers `xargs`, `find`, script files and variables. Shell built-ins (`cd`, `export`) are not
 * included.
 */
export function guardedCommands(
  filter: CommandFilter,
  { define, own, names }: Commands,
): CustomCommand[] {
  const budget = new WorkBudget();
  const replaced = new Set(own.map(({ name }) => name));
  const refused = async (name: string, args: readonly string[]) => {
    const refusal = await filter.refusalOf([name, ...args], budget);
    return refusal === null
      ? null
      : { stdout: "", stderr: `bash: ${name}: not run: ${refusal}\n`, exitCode: 126 };
  };
  const guarded = names
    .filter((name) => !replaced.has(name))
    .map((name) =>
      define(name, async (args, { origCommand }) => {
        if (!origCommand) throw new Error(`The shell has no ${name} of its own.`);
        return (await refused(name, args)) ?? origCommand(args);
      }),
    );
  return [...own.map((command) => guardedOwn(command, refused)), ...guarded];
}

type CommandCheck = (
  name: string,
  args: readonly string[],
) => Promise<{ stdout: string; stderr: string; exitCode: number } | null>;

function guardedOwn(command: CustomCommand, refused: CommandCheck): CustomCommand {
  if (!("execute" in command)) return command;
  return {
    ...command,
    execute: async (args, context) =>
      (await refused(command.name, args)) ?? command.execute(args, context),
  };
}
