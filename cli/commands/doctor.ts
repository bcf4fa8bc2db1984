import { Command } from "commander";
import { type ConnectionFlags, connect } from "../credentials/connection";
import { type Finding, examine } from "../doctor";
import { EXIT } from "../exit-codes";
import { withConnection } from "./flags";
import { segment, type Tone } from "../terminal/paint";
import { toLine } from "../terminal/sanitize";
import type { Register } from "./register";
import { printLines } from "./show";

const MARKS: Record<Finding["state"], { mark: string; tone: Tone }> = {
  good: { mark: "ok", tone: "good" },
  note: { mark: "note", tone: "busy" },
  bad: { mark: "bad", tone: "bad" },
};

/** `doctor`: everything that must be right before a question is answered, one line each. */
export const registerDoctor: Register = (program, { io, end }) => {
  const command = withConnection(new Command("doctor"))
    .description("check Node, the config found here, the service, the clock and the key")
    .option("--json", "print the findings as one JSON")
    .action(async (flags: ConnectionFlags & { json?: true }) => {
      const findings = await examine(await connect(flags, io), io);
      if (flags.json) io.stdout.write(`${JSON.stringify({ findings })}\n`);
      else printLines(findings.map(lineOf), io);
      end(findings.find(({ state }) => state === "bad")?.exitCode ?? EXIT.ok);
    });
  program.addCommand(command);
};

const lineOf = ({ state, subject, text }: Finding) => [
  segment(MARKS[state].mark.padEnd(6), MARKS[state].tone),
  segment(subject.padEnd(10), "bold"),
  segment(toLine(text)),
];
