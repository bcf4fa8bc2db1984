import { Command } from "commander";
import { type ConnectionFlags, connect } from "../credentials/connection";
import { isSuccess, printRun, printSuites, runSuite } from "../eval";
import { listSuites } from "../service/eval-client";
import { EXIT } from "../exit-codes";
import { withConnection } from "./flags";
import type { Io } from "../io";
import { escapeJson } from "../terminal/sanitize";
import type { Register } from "./register";

type Flags = ConnectionFlags & { json?: true };

/** `eval list` and `eval run`. */
export const registerEval: Register = (program, { io, end }) => {
  const command = new Command("eval").description(
    "evaluation suites: what there is, and running one now",
  );
  command.addCommand(
    withConnection(new Command("list"))
      .description("list the suites on offer")
      .option("--json", "print the service's answer")
      .action(async (flags: Flags) => {
        const { data, raw } = await listSuites(await connect(flags, io));
        if (flags.json) printJson(raw, io);
        else printSuites(data, io);
        end(EXIT.ok);
      }),
  );
  command.addCommand(
    withConnection(new Command("run"))
      .description("run a suite and wait for its results; ends with 2 if a case has no answer")
      .argument("<suite>", "its name")
      .option("--strict", "end with 2 unless every case passed")
      .option("--json", "print the service's answer")
      .action(async (suite: string, flags: Flags & { strict?: true }) => {
        const { data, raw } = await runSuite(suite, await connect(flags, io), io);
        if (flags.json) printJson(raw, io);
        else printRun(suite, data, io);
        end(isSuccess(data, flags.strict === true) ? EXIT.ok : EXIT.execution);
      }),
  );
  program.addCommand(command);
};

const printJson = (raw: string, { stdout }: Pick<Io, "stdout">): void =>
  void stdout.write(`${escapeJson(raw.trim())}\n`);
