import { Command } from "commander";
import { toSessionId, toTurn } from "./arguments";
import { ask } from "../asking/ask";
import { type ConnectionFlags, connect } from "../credentials/connection";
import { type OutputFlags, toOutput, withConnection, withOutput } from "./flags";
import type { Register } from "./register";

/** `attach`: watches what runs, or shows again what ran. */
export const registerAttach: Register = (program, { io, end }) => {
  const command = withOutput(withConnection(new Command("attach")))
    .description("watch a session's latest turn, or another")
    .argument("<session>", "the session's id", toSessionId)
    .argument("[turn]", "the turn's number", toTurn)
    .action(
      async (sessionId: string, turn: number | undefined, flags: ConnectionFlags & OutputFlags) => {
        const what = { attach: sessionId, ...(turn === undefined ? {} : { turn }) };
        const output = toOutput(flags);
        end((await ask({ what, context: await connect(flags, io), output }, io)).exitCode);
      },
    );
  program.addCommand(command);
};
