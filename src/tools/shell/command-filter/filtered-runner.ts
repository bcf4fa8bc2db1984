import type { CommandRunner } from "../command-runner";
import type { Parse } from "./commands-in";
import type { CommandFilter } from "./filter";
import type { CustomCommand, defineCommand } from "just-bash/browser";
import { lazy } from "../../../async/lazy";
import { WorkBudget } from "../../../patterns";

const bash = lazy(() => import("just-bash/browser"));

type Shell = Pick<typeof import("just-bash/browser"), "Bash" | "InMemoryFs">;

/** Returns a parser of command lines: the parser of the service's own shell. */
export function parserOf({ Bash, InMemoryFs }: Shell): Parse {
  const shell = new Bash({ fs: new InMemoryFs({}), defenseInDepth: false });
  return (script) => shell.transform(script).ast;
}

/**
 * Wraps a runner so that it receives only allowed commands. For runners that cannot check commands
 * at run time.
 */
export function filtered(runner: CommandRunner, filter: CommandFilter): CommandRunner {
  return {
    ...runner,
    description: `${runner.description}${filter.description}`,
    async run(request) {
      request.signal.throwIfAborted();
      await filter.check(request.command, {
        parse: parserOf(await bash()),
        checkedAtRunTime: null,
      });
      return runner.run(request);
    },
  };
}

type Commands = {
  define: typeof defineCommand;
  /** Commands of this service; a custom command replaces a built-in command of the same name. */
  customCommands: readonly CustomCommand[];
  /** Names of the shell's built-in commands. */
  names: readonly string[];
};

/**
 * The shell's commands with a check. The filter checks each command before it runs, when its words
 * are expanded. So commands from `xargs`, `find`, script files and variables are checked too. Shell
 * built-ins (`cd`, `export`) are not included.
 */
export function guardedCommands(
  filter: CommandFilter,
  { define, customCommands, names }: Commands,
): CustomCommand[] {
  const budget = new WorkBudget();
  const customNames = new Set(customCommands.map(({ name }) => name));
  const refusalOutput = async (name: string, args: readonly string[]) => {
    const refusal = await filter.refusalOf([name, ...args], budget);
    return refusal === null
      ? null
      : { stdout: "", stderr: `bash: ${name}: not run: ${refusal}\n`, exitCode: 126 };
  };
  const guardedBuiltIns = names
    .filter((name) => !customNames.has(name))
    .map((name) =>
      define(name, async (args, { origCommand }) => {
        if (!origCommand) throw new Error(`The shell has no ${name} of its own.`);
        return (await refusalOutput(name, args)) ?? origCommand(args);
      }),
    );
  return [
    ...customCommands.map((command) => guardedCustom(command, refusalOutput)),
    ...guardedBuiltIns,
  ];
}

/** Returns the output of a refused command; `null` if the command may run. */
type CommandCheck = (
  name: string,
  args: readonly string[],
) => Promise<{ stdout: string; stderr: string; exitCode: number } | null>;

function guardedCustom(command: CustomCommand, refusalOutput: CommandCheck): CustomCommand {
  if (!("execute" in command)) return command;
  return {
    ...command,
    execute: async (args, context) =>
      (await refusalOutput(command.name, args)) ?? command.execute(args, context),
  };
}
