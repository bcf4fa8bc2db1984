import type { CommandRunner } from "../command-runner";
import type { Parse } from "./commands-in";
import type { CommandFilter } from "./filter";

type Shell = Pick<typeof import("just-bash/browser"), "Bash" | "InMemoryFs">;

/** A parser of command lines: that of the service's own shell. */
export function parserOf({ Bash, InMemoryFs }: Shell): Parse {
  const shell = new Bash({ fs: new InMemoryFs({}), defenseInDepth: false });
  return (script) => shell.transform(script).ast;
}

/** A runner that is sent only what the filter lets through: for one whose commands nothing looks at as they run. */
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
