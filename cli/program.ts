import { Command } from "commander";
import { registerAsk, registerAttach, registerBranch } from "./commands/ask";
import {
  registerCancel,
  registerSessions,
  registerShow,
  registerDelete,
} from "./commands/sessions";
import { registerCompact } from "./commands/compact";
import { registerConfig } from "./commands/config";
import { registerDiff } from "./commands/diff";
import { registerDoctor } from "./commands/doctor";
import { registerEval } from "./commands/eval";
import type { Stage } from "./commands/flags";
import { registerFiles } from "./commands/files";
import { registerKeys } from "./commands/keys";
import { registerLogin } from "./commands/login";
import { registerContexts } from "./commands/context-list";
import { registerPull, registerPush } from "./commands/contexts";
import { registerQueue } from "./commands/queue";
import { registerSecrets } from "./commands/secrets";
import { registerContinueFrom, registerTurns } from "./commands/turns";
import { exitCodeLines } from "./exit-codes";
import { commandLineOf, VERSION } from "./invocation";

const COMMANDS = [
  registerAsk,
  registerAttach,
  registerSessions,
  registerShow,
  registerTurns,
  registerContinueFrom,
  registerBranch,
  registerCompact,
  registerFiles,
  registerDiff,
  registerCancel,
  registerQueue,
  registerDelete,
  registerConfig,
  registerPush,
  registerPull,
  registerContexts,
  registerEval,
  registerKeys,
  registerSecrets,
  registerLogin,
  registerDoctor,
];

/** Descriptions are wrapped if they have this width beside the longest command, else not at all. */
const MIN_HELP_COLUMNS = 32;

const HELP_FOOTER = `
Exit codes:
${exitCodeLines().join("\n")}

The answer is written to stdout, everything else to stderr.
Ctrl+C detaches from the run; a second Ctrl+C cancels it.
`;

/**
 * The commands and options of the program. After `--help`, commander ends the program with exit
 * code 0; after an invalid command line, with exit code 1.
 */
export function commandLine(stage: Stage): Command {
  const program = new Command("massgen-edge")
    .description('Ask a team of models. `massgen-edge "question"` is short for `massgen-edge ask`.')
    .version(VERSION)
    .showHelpAfterError("(see --help)")
    .configureHelp({ showGlobalOptions: false, minWidthToWrap: MIN_HELP_COLUMNS });
  for (const register of COMMANDS) register(program, stage);
  program.addHelpText("after", `\nOptions for asking: ${commandLineOf("ask", "--help")}`);
  for (const command of [program, ...program.commands]) {
    command.showHelpAfterError("(see --help)");
    command.addHelpText("after", HELP_FOOTER);
  }
  return program;
}
