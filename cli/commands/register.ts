import type { Command } from "commander";
import type { ExitCode } from "../exit-codes";
import type { Io } from "../io";

/** What a command gets: the world, and whom to tell how it ended. */
export type Stage = { io: Io; end: (code: ExitCode) => void };
/** Adds a command to the program. */
export type Register = (program: Command, stage: Stage) => void;
