import { Command } from "commander";
import { connect, type ConnectionFlags } from "../credentials/connection";
import { turnLinesOf } from "../display/turn-page";
import { EXIT } from "../exit-codes";
import { answerText, latestTurn, turnFacts } from "../service/sessions";
import { type Line, type Output, paint, wantsColor } from "../terminal/output";
import { escapeJson } from "../terminal/sanitize";
import { block } from "../terminal/table";
import { toLabel, toSessionId, toTurn } from "./arguments";
import { type Register, withConnection } from "./flags";

type Flags = ConnectionFlags & { json?: true; answer?: string };

/** `show`: a turn as a page. */
export const registerShow: Register = (program, { io, end }) => {
  const command = withConnection(new Command("show"))
    .description("show a session's latest turn, or another: question, answer, votes, cost")
    .argument("<session>", "the session's id", toSessionId)
    .argument("[turn]", "the turn's number", toTurn)
    .option("--answer <label>", "print one answer, such as agent2.1 or agent2.final", toLabel)
    .option("--json", "print the service's answer")
    .action(async (sessionId: string, asked: number | undefined, flags: Flags) => {
      const context = await connect(flags, io);
      const turn = asked ?? (await latestTurn(sessionId, context));
      if (flags.answer !== undefined) {
        const { data, raw } = await answerText({ sessionId, turn, label: flags.answer }, context);
        io.stdout.write(`${flags.json ? escapeJson(raw.trim()) : block(data.content)}\n`);
      } else {
        const { data, raw } = await turnFacts(sessionId, turn, context);
        if (flags.json) io.stdout.write(`${escapeJson(raw.trim())}\n`);
        else printLines(turnLinesOf(data), io);
      }
      end(EXIT.ok);
    });
  program.addCommand(command);
};

/** Prints lines at full length; a terminal wraps them. */
export function printLines(
  lines: readonly Line[],
  { stdout, env }: { stdout: Output; env: Readonly<Record<string, string | undefined>> },
): void {
  const look = { width: Number.POSITIVE_INFINITY, color: wantsColor(stdout, env) };
  for (const line of lines) stdout.write(`${paint(line, look)}\n`);
}
